// Package journal is the form in which a session is written down: its
// transcript, its edits and what else a restart needs, as one append-only list
// of records. It decides nothing and stores nothing; package engine makes
// records, a store keeps them, and [Collect] turns them into the [Snapshot] that
// a restart begins with.
//
// # Format
//
// A record is one line of JSON without a newline, its keys in a fixed order:
//
//	{"v":1,"kind":KIND,KIND:{...}}
//
// [Encode] writes the same bytes for the same record on any machine, and
// [Decode] gives back a record that is equal in every field, byte for byte:
//
//   - A field with its zero value is left out. An empty list differs from a
//     missing one.
//   - JSON holds no text that is not UTF-8. Such a value stands, base64, under
//     its key in the object "b64" beside the place where it would have been.
//   - A part's own bytes are "data", those it replaced "base". Bytes that lie in
//     what encloses the part, which is the message's envelope or, for the
//     contents of a tool result, that result's data, are not written twice:
//     "in":[start,end] is their place there.
//   - Roles, origins, flags and kinds are written by name; a value without a name
//     is an error, so that nothing is lost silently.
//
// # Versions
//
// [Version] rises whenever a program that knows only the older version would
// misread a line; such a program gets a [VersionError]. Within a version fields
// may be added that can be ignored without harm, and Decode ignores fields it
// does not know. Kinds and names it does not know are errors.
//
// # Speed
//
// A session has a message, a usage and a state for each Step, and its edits. Lines of
// these kinds are read by a reader that knows the one form in which Encode writes them;
// whatever has another form is left to encoding/json. A restart needs one of the states,
// so that [Read] looks through the others only.
//
// A [Page] is such records in one piece. It has neither the states that nobody needs nor the
// Refs of an archive that a later one takes in, with which a session would be read in a time
// that grows with the square of its length.
//
// The policy of a record is written in package policy's own JSON form.
package journal
