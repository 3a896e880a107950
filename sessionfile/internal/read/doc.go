// Package read is what the readers of session files share: the seam between the
// list of formats and one format's reader, and the tools to write one. It knows no
// format and no policy. It is not for hosts, which use sessionfile/formats.
//
// A format is one [Reader]: hooks that recognise a file by its content, and a
// function that reads it from an [Input] into a [Reading]:
//
//	func Reader() read.Reader {
//		return read.Reader{
//			Formats: []sessionfile.Format{sessionfile.FormatX},
//			Line:    func(f read.Fields) sessionfile.Format { … }, // JSON lines: one line is enough
//			Read:    readX,
//		}
//	}
//
//	func readX(r *read.Reading, in *read.Input) error {
//		x := &x{Reading: r}
//		r.Session.Client, r.Session.Dialect = "x", anthropic.Dialect
//		in.Each(r, x.line) // for each line: r.Object, EachField, entries
//		x.finish()         // r.Emit(segment)
//		return nil
//	}
//
// A reader fills the header (Session.ID, Client, Abandoned …), reports what it could
// not read with [Reading.Problem] and goes on, and hands over each segment with
// [Reading.Emit] as soon as nothing can change it. A large file is read twice if its
// segments are streamed, so a reader must do the same both times: no clock, no
// order of a map. It keeps no line and no value that it does not copy
// ([Reading.Keep]): both lie in buffers.
package read
