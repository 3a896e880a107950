// Package builtin has the tools by which a model reads what left its view: by
// lines, by bytes, by pattern, by what a model makes of it, or by a search over all
// of it. It knows neither sessions nor stores nor providers: contents come from a
// [Source], answers of models from a [Model], and a host decides which calls are for
// it and what becomes of the answers.
//
//	kit, err := builtin.New(p.Tools)              // the names that a policy offers
//	kit = kit.Beside(names)                       // the client's tools: ours take other names
//	request.Tools = append(request.Tools, kit.Tools()...)
//	...
//	if kit.Serves(call.Name) {
//		answer := kit.Call(ctx, source, model, call)
//	}
//
// # Answers
//
// Every call has an answer, also one that makes no sense: it says what was wanted and
// what was got, so that the model can mend it. Only what is not the model's doing
// (a content that is damaged, a store that fails) is an [Answer.Fault] as well, for the
// host to tell. Texts that source documents print are printed as they are there; what
// is said besides stands in square brackets. What is no text is described, and a host may show
// it beside ([Answer].NoText).
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
// Only tool_output asks one. It goes these ways, the next where one does not get there, and
// says which it was and why the others were not:
//
//	full-chunked  a question for each part of the output, 32 at most; a tenth of a part stands in the
//	              next one, too; then one question that makes an answer of the answers
//	read-grep     a conversation of 15 replies at most, with tools that read and grep this output;
//	              without a Model: grep, the lines that have most of the words of what is needed
//	truncate      the beginning and the end
//
// Where none is demanded it begins with full-chunked if [Limits].Chunks questions are enough,
// else with read-grep. An answer that was cut off or has no frame is none. Everything in
// an output is data to a model.
//
// # What they cost
//
// With every request, name, description and schema of each in tokens, by the estimator
// "pieces":
//
//	tool_output_cache        78
//	tool_output_cache_grep  127
//	tool_output_cache_line  107
//	read_result              75
//	tool_output              91
//	search_context           48
//	tool_search              66
package builtin
