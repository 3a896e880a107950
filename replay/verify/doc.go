// Package verify judges exported requests from their bytes alone. It is given the
// body that a client sent (the raw View), the body that went out after edits, and
// a way to load what was stored, and it says what does not hold: results without
// calls, Refs that resolve to nothing, content that left and can be recovered from
// nowhere, content that nobody sent.
//
// It shares no code with what it judges: it imports no package of this module,
// has its own JSON scanner, its own reading of the dialects, its own Refs, its own
// reader of archives and its own counters. Its only sources are the wire formats,
// DESIGN.md (sections 2 and 3) and the archive format as package edit states it.
// It decides nothing, writes nothing and repairs nothing.
//
// # Use
//
//	c, err := verify.NewChecker("anthropic")
//	f, err := c.Compare(raw, edited, verify.Options{Load: load, Notes: notes})
//	if !f.Clean() { ... }
//
// One Checker is meant for all Steps of a session under one policy. It keeps what
// it has read of earlier bodies, so that a body which only grew costs little more
// than looking at it. It is not safe for concurrent use. Bodies given to it must
// not be changed afterwards.
//
// # What is compared
//
// The unit is the part: a text, a thought, a call, a result, an image, a tool
// definition, or anything else ([Kind]). A part is the same in both bodies if its
// bytes are, leaving out where the client or the engine put cache_control; a text
// that is the whole content of one message may be a block in the other, as long as
// the JSON string is the same byte for byte. Which wire message a part stands in
// does not matter, its order does. A person's words that a client put at the end of a
// result (Claude Code does so while a tool runs) are a text behind it. Text of white space only, empty lists and what a
// reply carries beside its content (id, status, usage) are not parts.
//
// A part that is gone must be recoverable: from an archive or a stored content
// whose Ref the edited body names, in a text or result that the client did not
// send, directly or through other archives; or, where no text names it, from a Ref
// that [Options.Covering] gives. One entry of an archive covers one part. A result
// whose text was replaced must name its own Ref, or show each run of lines that it
// leaves out by a line that names a source with these lines. Thinking and tools that
// are left out on purpose are findings like any other; their [Kind] tells the caller.
//
// [Source] does the same between a raw View and the session file it was built from;
// [Checker.Floor] recomputes the irreducible floor (DESIGN.md section 2).
package verify
