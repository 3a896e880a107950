// Package sessionfile reads the session files of other programs: the
// conversations that agents write to disk, and single recorded request bodies. It
// turns them into the neutral messages of core/llm, split where the recorded
// client compacted its context, and says with a line number what it could not
// read. It is not a writer, it knows no policy, and it takes nothing to be true
// about a model but what the file says.
//
//	s, err := sessionfile.Open("session.jsonl")
//	for _, segment := range s.Segments {
//		for i, e := range segment.Entries {
//			if e.Step != nil {
//				// One model call: it was sent segment.Sections,
//				// segment.Tools and segment.Entries[:i], and answered e.
//			}
//		}
//	}
//
// # Requests
//
// The request of a Step is the sections, the tools and all entries that stand
// before it. What a file does not have cannot be in there: Claude Code writes
// neither its system prompt nor its tools, Codex no tools.
//
// # Pairing
//
// Within a segment every tool result answers one earlier call. A result without
// a call and a second result for one call are left out, a result that stands
// behind a later reply is moved up to its call, and a call that never got a
// result gets a stated one (turn.Interrupted) as soon as the conversation goes
// on without it; each is a [Problem]. A call that is still waiting when the
// segment ends stays open.
//
// # Who wrote it
//
// Only what a person typed is Human. Lines that the client marks as its own,
// attachments, hook texts, developer items, and texts that consist of nothing
// but a client's tags are Notes (DESIGN.md section 2); see clienttext.go for the
// tags. A Note that carries standing instructions has llm.FlagRules.
//
// # Claude Code
//
// The file is a tree of lines. The active path leads from the last user or
// assistant line to its root; what is not on it is listed in Session.Abandoned.
// Lines with one message.id are one message and one Step. Tool results of parallel
// calls hang off the path as side branches and are taken in behind their message.
// Where the chain breaks (a parent that is missing, a circle), reading goes on
// with the line before it in the file.
//
// # Codex
//
// A rollout has no ids for replies. A model call is the run of assistant-side
// items that no output, user or developer item interrupts; events, a repeated
// token_count among them, do not end a run. A token_count whose running
// total differs from the one before reports one call. Since 0.40 it stands behind
// the items of its reply, before or after their outputs, and belongs to the newest
// reply that has none yet. In 0.39 it stands before the items; a file is taken to
// be of this kind if its first token_count comes before any reply and its total
// equals its last usage, and then it belongs to the reply that follows.
//
// # Request bodies
//
// A single JSON body becomes one segment without Steps that has Final set: it
// ends with a request to which nobody replied.
//
// # Bounds
//
// Files are read line by line. Lines above 64 MiB are skipped, and so is what is
// not valid JSON or nests deeper than 10,000 levels. Memory grows with the
// messages that are kept, not with the size of the file.
package sessionfile
