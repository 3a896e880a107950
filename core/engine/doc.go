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
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one. The types
// that a Machine is made of stand in the same order, each embedding the one before.
//
//	reason.go        why a final Step is forced
//	event.go         what a host may want to know
//	placement.go     what became of an output
//	trace.go         looks into the guard
//	threshold.go     a rule's condition with its figure
//	ready.go         what a host does: Ready, Ask, Send, Outcome
//	input.go         what a machine is fed
//	judgement.go     answers, and whether they can stand for what they are about
//	config.go        what it starts with
//	rulebook.go      what it was told to go by
//	toolbox.go       the tools, and which of them a model gets
//	past.go          what happened, and what of it is shown
//	compacted.go     what a provider's own summary stands for
//	thinking.go      thinking that edits have broken
//	offer.go         the policy's own tools, and texts that name them
//	own.go           copies of what a host handed in
//	outbox.go        what the next Ready holds
//	targets.go       where requests may go, each with its meter
//	request.go       the request being made, and the one that was sent
//	accounts.go      floor 1: all that is counted
//	verdict.go       floor 2: whether a request fits, and where it goes
//	measures.go      figures against thresholds
//	economy.go       floor 3: what edits cost and save
//	edits.go         edits are made, booked and recorded
//	reducer.go       floor 4: what is below every policy
//	reduce_text.go   outputs and messages, notes, summaries
//	media.go         images and the like
//	backstop.go      all of that in its order
//	floor.go         what cannot be taken out
//	order.go         the check of calls and results
//	ask.go           floor 5: questions for summaries
//	summary.go       and where their answers go
//	rules.go         floor 6: which rules act
//	status.go        notes on how full it is
//	final.go         the final Step
//	references.go    what a batch has taken out that can be named
//	naming.go        the note that names it, with the outputs' Refs
//	early.go         previews of old outputs, where that pays
//	clearing.go      what a provider is asked to take out itself, and has
//	act.go           what the rules do
//	many_tools.go    floor 7: which tools are left out
//	promote.go       Input Promote
//	arrival.go       floor 8: outputs as they come
//	append.go        Input Append
//	stored.go        Input Stored
//	reserve.go       Inputs Reserve and Release: room for outputs on their way
//	state.go         what a restart needs
//	marks.go         what of a request its provider is asked to keep
//	prepare.go       floor 9 and Input Prepare: from the first rule to the Send
//	front.go         floor 10: what stands before the messages
//	machine.go       the Machine on top
//	set_tools.go     Input SetTools
//	set_sections.go  Input SetSections
//	set_prompt.go    Input SetPrompt
//	usage.go         Input Usage
//	rejected.go      Input Rejected
//	answer.go        Input Answer
//	turn_end.go      Input TurnEnd
//	force.go         Input Force
//	compact.go       Input Compact
//	undo.go          Input Undo
//	set_policy.go    Input SetPolicy
//	relive.go        what a record says, done again
//	restore.go       Input Restore
//	fork.go          Input Fork
//	withdraw.go      content that could not be stored
//	feed.go          New, Feed, Ready, Advance
package engine
