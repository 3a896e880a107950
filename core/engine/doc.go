// Package engine is the only place that decides. A [Machine] is fed what
// happened ([Input]), says what has to be done about it ([Ready]) and is told how
// that went ([Outcome]). It does no I/O, has no clock and no goroutine: the same
// inputs give the same outputs, in a library, a proxy, an agent and a replay.
//
// # The loop of a host
//
//	m.Feed(input)
//	for m.HasReady() {
//		r := m.Ready()
//		failed := store the blobs of r
//		if none failed: append the records of r
//		if both went well: answer r.Ask, send r.Send
//		m.Advance(Outcome{FailedBlobs: failed, RecordsErr: err})
//	}
//
// What a [Ready] holds must be done in this order: Blobs before Records, and both
// durable before Ask or Send leaves. If a blob could not be stored, the
// records are not written; Advance then takes back the edits that needed it and
// the next Ready holds what can be done without. If the records could
// not be written, the machine stops until it is restored.
//
// # The order of inputs
//
//	Append or Stored…, Prepare → Send → Usage (or Rejected) → Append of the reply → …
//
// Usage comes before the reply it belongs to. A rule that needs an answer first
// gives an Ask instead of a Send; after Answer the Send follows.
//
// # One cycle
//
// Prepare measures the view, evaluates the guard for every target, goes through
// the policy's rules in their order, and, if the view is still over, the
// backstop, which reduces it as far as the floor. Everything is counted by the
// one count: exact where the tokenizer is, else the calibrated upper bound.
package engine
