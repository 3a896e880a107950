// Package inspectlog reads the evaluation logs of Inspect, as JSON and as the zip
// archive .eval: one conversation for each sample. It is for sessionfile/formats
// only.
//
// The conversation is that of the sample's messages. The events of the sample that
// were model calls say which reply used what, when it was complete, and which tools
// were offered; they are told apart by the id of the message, and in logs without ids
// by their order, where there are as many calls as replies. A reply that was part of
// the input, and one that came from Inspect's cache, is no Step. Texts and pictures
// that the log holds aside (attachment://, and tc:// in early logs) are put back in
// their place. All samples are read in the Chat format, whoever the provider was.
//
// The input of a sample comes from a data set: it is a Note, which opens Turn 1
// (DESIGN.md section 2), and so is what a solver says in the user's role. Only what
// an operator typed is Human.
//
// # Archives
//
// Entries of an .eval are read one at a time; names of entries are looked at and used
// for nothing else. An entry may have 512 MiB, all that is read of one archive 8 GiB,
// and there may be a million samples. Samples that version 3 stores in pieces
// (samples/NAME/…) are listed as a segment that is not run.
package inspectlog
