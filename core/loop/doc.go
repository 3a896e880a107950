// Package loop is the pure part of the autonomous loop: an agent is run on one goal
// again and again, and what its next prompt says of all former iterations stays within
// a budget. A [Machine] is fed what happened ([Input]) and says what to do next
// ([Ready]). It runs no agent, reads no clock and no file, and calls no model: the same
// inputs give the same prompts. Not here: processes, folders, settings, stores.
//
// # The loop of a host
//
//	for {
//		write m.Save() where a restart finds it
//		switch r := m.Ready(); r.Do {
//		case DoBegin: Feed(Began), run the agent on r.Prompt, Feed(Output)
//		case DoAsk:   ask a model r.Ask.Prompt, Feed(Answer) or Feed(NoAnswer)
//		case DoRecall: look for passages that fit r.Query, Feed(Recalled)
//		case DoAwait: an iteration is running
//		case DoWait:  paused, until Feed(Continue)
//		case DoEnd:   r.End says why
//		}
//	}
//
// After a restart: [Restore], Feed(Resumed). An iteration that was running then is kept,
// marked as interrupted.
//
// # Window, pending, folded
//
// The newest iterations, five by default, are the window: the prompt shows all of them. An
// older one is folded into the summary, once, and leaves. Where a model writes the
// summary and fails, older iterations stay raw ("pending") and are shown as well, until
// it is asked again at the next interval. So each iteration is in the summary or shown,
// and in one of them alone:
//
//	1 … folded | pending … | … window … total
//
// Of more than a hundred pending the oldest are folded by code.
//
// # What is remembered
//
// From each iteration code takes facts, a sentence each: decisions, approaches that worked
// and that failed, the state, next steps, else findings; and names of files. The summary in
// code is written from all facts at each fold, within its tokens and words: shorter before
// fewer; so making it anew loses nothing. A model that writes the summary anew gets them,
// too. Of very many facts those are kept that a summary would take first, several times as
// many as it has room for.
//
// # Beyond the document
//
// Four things are off unless Config asks for them: BySense cuts a long output between what
// belongs together, Recall shows passages of folded iterations that the host finds, Memory
// what is known of the workspace from other loops, Adaptive has the window follow how long
// iterations are. All stay within the same 50,000 tokens.
//
// # Files
//
//	text.go       pieces of texts, and what they measure
//	context.go    IterationContext, LoopContext
//	config.go     Config
//	echo.go       what of an output is the agent's own
//	answer.go     marks of progress, the promise, lists
//	score.go      how far an iteration got
//	facts.go      what is remembered of it
//	write.go      the summary in code
//	pieces.go     a long output cut by its structure
//	ready.go      what a host does: Ready, Prompt, Ask, Reason, Event
//	input.go      what a machine is fed
//	recovery.go   what an agent that is stuck is told
//	state.go      what a restart needs
//	prompt.go     the prompt, section by section
//	fold.go       what leaves the window
//	recall.go     what older iterations and the workspace add to a prompt
//	ask.go        the question for a summary
//	finish.go     what an output changes, and whether the loop ends
//	machine.go    New, Restore, Feed, Ready
package loop
