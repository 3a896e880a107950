// Package ground finds out what a model's tool calls refer to: which texts in their
// arguments it must have known, and which parts of the conversation said them.
//
// # Spans
//
// A [Span] is a text in a call's arguments that can hardly be right unless it was read:
//
//	path    of a file or folder, without the line behind a colon
//	ident   a word with an upper-case letter behind a lower-case one, an underscore or
//	        a figure in it, not at its beginning; not what is common to everyone's
//	        programs, a fixed list, so that no figure depends on a collection of sessions
//	line    of 12 characters and two words, that an edit replaces or that a patch has
//	        around its change: an edit fails without them, and no list of names has them
//	quoted  a string in quotes of 6 to 200 bytes that is more than a word
//	number  of four digits and more that does not end in three zeros
//	hash    of 7 hexadecimal digits, letters and figures; a UUID
//	url     with its scheme
//
// What a call is for (description, explanation) and how long it may take are not looked
// at. A span counts once in a call.
//
// What is short is left out because it is found by chance: numbers of three digits (the
// ends of a range of lines), and those with a unit (12px, 220p), which somebody writes
// himself, would be a twentieth of all spans, but a seventh of those that dropping the
// oldest messages seems to lose. Plain words are no identifiers for the same reason.
//
// # Sources
//
// A part is a source of a span if it says it: as it is, but for letters, figures and
// underscores that would go on with it. The calls of a Step refer to what was said before
// it; to the newest source of each span. An [Index] is fed message by message.
//
// This measures the letter. Decisions, reasons and constraints leave no span, and a name
// in a list is not the code that bears it: lines are to be looked at apart.
package ground
