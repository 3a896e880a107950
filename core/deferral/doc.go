// Package deferral says which of many tools a request leaves out, so that their definitions
// do not fill the window, and finds those again that somebody needs. It sends nothing and
// remembers nothing: [Select] and [Index] are functions of what they are given, in whole
// numbers, and give the same everywhere.
//
//	shown := deferral.Select(tools, room)      // places in tools, in their order
//	...
//	index := deferral.NewIndex(definitions)
//	found := index.Search("who last changed this line", 5)
//
// # What is left out
//
// Tools that a program has itself never are. Of the others those of MCP servers go first,
// then those of skills; among these the ones whose last call is longest ago, among those the
// ones called less often, then the later ones of the list.
//
// # How tools are found
//
// By BM25 over words (score.go): those of the name count most, then those of the first sentence of
// the description, which says what a tool is for, then the rest of it, then what the schema says
// of parameters. Words are taken back to their stems (M. F. Porter, An algorithm for suffix
// stripping, 1980), and a word, or some that belong together, counts as the ones that others use
// for it (synonyms.go): the less, the more tools those are in. The more words of the query a
// definition has, and the more words of its name are meant, the more all of it counts: up to
// three times, and twice. So does a tool whose name says that it does what is asked for, which a
// question never wants changed. A tool that the query names, or begins to name, stands before all
// others.
package deferral
