package loop

// advice is what an agent that is stuck is told, one after the other: five ways to look
// at the task anew, which the program that the document describes tries as well.
var advice = [...]string{
	"State the goal in your own words, say what you take for its hardest part, and begin there.",
	"Split what is left into steps that can each be finished and checked within one iteration. Do the smallest one now.",
	"Limit yourself: change one file only, and end with a command that shows whether the change works.",
	"Look for something in this workspace that does a similar thing already, and follow its example.",
	"List what was tried above and failed. Do none of it again: take a way that is not on the list.",
}

// recovery returns the text for an agent that had some iterations without progress, after
// so many attempts to help it.
func recovery(attempts int) string {
	return "The last iterations have made no progress. Do not repeat them.\n" + advice[attempts%len(advice)]
}
