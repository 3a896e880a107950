// Package replay runs recorded sessions through the engine: what each policy
// would have sent at every Step, kept within which window, and what it did for
// that. It calls no model and spends no money.
//
// # How a segment is run
//
// First the raw segment goes through the policy off, as the client really sent
// it. That gives the hidden overhead (the client's system prompt and tools that
// the file does not hold), the peak, what the calibration learns from each pair
// of reported prompts, and the estimate rows. Then each policy runs on each
// window, with the calibration as it was before each Step. A view that no edit
// has touched is counted from the reported prompt before it; after an edit it is
// counted from scratch (DESIGN.md section 8).
//
// # How a run is judged
//
// From the bytes that would be exported, by package verify, which shares no
// code with what made them.
package replay
