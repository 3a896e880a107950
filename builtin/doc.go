// Package builtin has the tools by which a model reads what left its view: by
// lines, by bytes, by pattern, by what a model makes of it, or by a search over all
// of it. It knows neither sessions nor stores nor providers: contents come from a
// [Source], answers of models from a [Model], and a host decides which calls are for
// it and what becomes of the answers.
//
//	kit, err := builtin.New(p.Tools)              // the names that a policy offers
//	kit = kit.Beside(names of the client's tools)  // ours are offered under names that are free
//	request.Tools = append(request.Tools, kit.Tools()...)
//	...
//	answer := kit.Call(ctx, source, model, call)
//
// # Answers
//
// Every call has an answer, also one that makes no sense: it says what was wanted and
// what was got, so that the model can mend it. Only what is not the model's doing
// (a content that is damaged, a store that fails) is an [Answer.Fault] as well, for the
// host to tell. Texts that source documents print are printed as they are there; what
// is said besides stands in square brackets.
//
// An answer has a bound ([Limits]), a line in it is clipped, and both are cut between
// characters. What was left out is said, with the argument that reads on, and by
// the name of a tool that is offered. Bytes that are no UTF-8 are shown as U+FFFD.
//
// Lines are printed as "%5d  %s", counted from 1, without the line break; offsets
// count from 0. A character is a code point.
//
// # Contents
//
// They are read in passing: no tool holds more of one than a window of 1 MiB,
// however large it is and however long its lines are. In a line that is longer than
// that window a pattern is looked for piece by piece; the pieces overlap by 64 KiB, and
// a longer match is not found.
//
// # Models
//
// Only [policy.ToolOutput] asks one. Everything in an output is data to it, and
// its questions are bounded: in number, and each in tokens.
package builtin
