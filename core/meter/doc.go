// Package meter counts a View for one target: what a request made of it takes, in
// tokens, bytes and images. A [Meter] is told of every message, edit, tool list and
// section, of every request that leaves and of the usage that is reported about it; each
// costs what changed and not what is there. Its [Report] is the one count that a window
// is held against.
//
// # What is counted
//
// Each message is measured once in each form that it is shown in. A form is the message
// and every edit that shapes it, so that a count is a function of what is shown. Where a
// provider reported the size of a reply, that stands in place of the measure.
//
// # From where
//
// A reported prompt is an anchor: the count is that figure, what its reply had, and what
// the view differs by from the one that the prompt was made of. Nothing of that is a
// running sum of events. What was removed and inserted is kept as forms, what came since
// follows from them, and so an edit that is undone leaves nothing behind. A usage that
// is the count itself, to the token, tells nothing: what the count had for its own
// caution is not taken for known.
//
// Where the chat template and the model's own tokenizer are known, a prompt of nothing but
// texts is counted whole, each time, as the server does; what the last report had beyond that is
// added. A report that is far off says that it is another template.
//
// # Across restarts
//
// [Meter.State] is all that messages and edits do not tell, in a few hundred bytes:
// where the anchor and the unanswered request ended, what they had, and what the
// calibration has learnt. [Meter.Restore] works out the sizes anew.
//
// # Files
//
// A file uses what it or an earlier one in this list declares, and no later one.
//
//	form.go    the forms that messages are shown in
//	frame.go   what a chat template that is known puts around them
//	scale.go   their sizes by one counter
//	front.go   what stands before all messages
//	shown.go   what is shown, by component
//	growth.go  how that differs from a prompt that was reported
//	meter.go   the Meter: messages, edits, sections, tools
//	count.go   its Report
//	usage.go   what leaves, and what is reported about it
//	state.go   what a restart needs
package meter
