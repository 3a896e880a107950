// Package summary says what happened in a span of messages: [Facts] kept by code
// while the conversation runs, a deterministic summary made of them, and the
// request and answer of a summary that a model writes. It calls no model, removes
// nothing and never executes what it reads: every text is data.
//
// # Facts
//
// A [Collector] is fed one message at a time. It recognises tools by tables of
// names and by the shape of their arguments, takes a file or command into account
// only when its result has arrived, and reads exit codes and error lines out of
// outputs. What it does not recognise, it leaves out: a fact is never guessed.
//
// # The deterministic summary
//
// [Write] answers any request for a summary without a model, byte for byte the
// same on any machine and never longer than its budget. Its form is:
//
//	signature          one line that names the form
//	## Request         human words, each as "[message ID, N bytes]" and N bytes
//	## Earlier summary what a former summary said in a form that is not ours
//	## State           the model's newest words
//	## Open            todos, next steps and calls without a result
//	## Decisions       lines that state one
//	## Errors          not resolved since: "- [what was tried] first line"
//	## Files changed   "- path (written 2)"
//	## Commands        "- line => exit 0, 3 times: result"
//	## Done            finished steps of a plan
//	## Files read      "- path (read 3)"
//
// Sections without content are left out. A former summary in this form is read
// back and merged, so that summaries of summaries do not stack up.
//
// # Summaries by a model
//
// [Prompt] is the text of the request, [Prepare] repairs the messages that go with
// it, and [Parse] takes the answer apart.
package summary
