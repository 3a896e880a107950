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
// counted from scratch.
//
// # What a segment is
//
// A compaction that the client made ends a segment; the next one starts from what the
// client really sent. Overhead is the first reported prompt less the count of what the
// file has, where the file shows its own start: a root line, and no summary before it.
// Else it is the client's figure in the catalogue, of the kind assumed, and never more
// than the segment's first prompt leaves room for. What the first prompt of a later
// segment has beyond overhead and file, such as files that were attached again, is
// unrecorded: it is counted with every view of that segment. A segment that does not
// show its own start, and of whose first prompt more than a quarter is neither known
// content nor overhead, lacks a part of the conversation: it is listed and not run. A
// summary at its beginning is such a start.
//
// # Windows
//
// A share of P % sets the limit: fixed + P % of (peak - fixed), fixed being overhead and
// the system prompt and tools that the file has, which no policy can change (some
// formats record a system prompt that is larger than a quarter of their peak). The
// capacity is that limit with buffer and reserve. In a small window these two are scaled
// ([budget.Window.Scaled]). The peak is the largest prompt of the raw segment, as
// reported where it is.
//
// # How views are counted
//
// After an edit: overhead + r times the estimate of all parts + the constants of the
// model's family, r being learnt only from pairs before that Step. The bound adds 15 %
// of what lies after the last unedited anchor, and 600. A reply whose output was
// reported counts with that figure in place of its text, since hidden thinking is in it.
// A segment of which nothing was reported starts from its overhead as from an anchor.
// Removed text counts for 85 % of its estimate in live sessions only, until the next
// usage (see token.Calibration).
//
// What a run sent and its peak are of one size for each request: the reported one where
// the client sent the same, else the count. A policy is held against its limit by the
// bound, by which it keeps within it; off, which keeps within nothing, by those sizes.
//
// # What stands in for a model
//
// Summaries are written by code, one Step later where the policy has them made in the
// background. A policy that goes by the usage that a provider reports gets the
// calibrated count of its own view. A window that nobody knows is 131,072, with a
// warning. A policy that forces a final Step has ended there, and totals are compared up
// to that Step.
//
// # How a run is judged
//
// From the bytes that would be exported, by package verify, which shares no code with
// what made them: it parses every Ref, loads it and compares its hash with the source
// file's content, finds what covers each part that was removed, and recomputes each
// irreducible floor. Of requests that each extend the one before, it is given the last,
// which holds them all; with an export, every one. It is told what the journal says: the
// texts of notes and sections that edits put in, and which Refs cover which messages.
// Every judged request is held against wire/check too: a rule that it breaks and that
// the client's own request at that Step keeps is a rule break. A run that sent no tokens,
// or made no Step, has failed.
//
// # Money
//
// What the client paid for a call is package inspect's figure: what the file states,
// else the list prices of what was reported. An output that was cut off counts with the
// size of the recorded reply, and a call of which nothing was reported with a simulated
// one; both are marked as estimates.
//
// A run pays the same for each request that the client sent too, so that doing nothing
// costs what was paid. Another request is followed through package cache, with marks
// behind tools and system prompt, at the end, and where the request before ended; with
// the long lifetime where the client was seen to use it. What that says is set right by
// what it says of the client's own request at the same Step, beside what was reported of
// that one. Let the provider have read R tokens of it where the simulation has r, and the
// simulation read q of the run's request:
//
//   - R < r, the provider had let go of something: q·R/r are read;
//   - R ≥ r, it had more, such as what another session left warm: the larger of q and R
//     are read, of R only what the two requests begin with alike.
//
// What is not read is divided between full price and writes as it was reported. Where the
// file states a cost, the list price is scaled by what was paid for the client's call.
// Simulated money of the client's own calls stands beside what was paid in [Billing].
//
// Calls that were copied from another session are run, as the context has them, and are
// in no sum.
package replay
