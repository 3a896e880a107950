// Package formats reads session files of every known format: it holds the one list
// of the readers, finds out by its content which of them a file is for, and finds
// the files themselves. What is read is described in sessionfile; how one format is
// read is in a package below sessionfile/internal. It decides nothing about a
// conversation.
//
//	s, err := formats.Open("session.jsonl") // *sessionfile.Session, all segments
//
//	f, err := formats.OpenFile("session.jsonl")
//	defer f.Close()
//	for segment, err := range f.Segments() { … } // one in memory at a time
//
// # Memory
//
// OpenFile reads the file once and keeps no message: the header is complete then.
// Segments reads it again. Of JSON lines the current segment is held, of a tree
// (Claude Code) an index of each line beside it. A JSON document is held whole
// while it is read, up to 1 GiB. A source that cannot be read twice, such as
// standard input, is held in memory whole, up to 1 GiB.
package formats
