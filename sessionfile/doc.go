// Package sessionfile says what is read of the session files of other programs: the
// conversations that agents write to disk, and single recorded request bodies. They
// become the neutral messages of core/llm, split where the recorded client
// compacted its context, with a line number for what could not be read. The package
// holds the types; sessionfile/formats reads the files, sessionfile/places knows
// where they are. It is not a writer, it knows no policy, and it takes nothing to be
// true about a model but what the file says.
//
//	s, err := formats.Open("session.jsonl")
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
// on without it. Different calls of one reply that have the same id are kept, the second
// and its result with a number behind it. Each of these is a [Problem]. A call that is
// still waiting when the segment ends stays open.
//
// # Whose calls, and their sum
//
// A session that began from another one names it (Session.Parent, Kin), and what it
// copied of it are Steps with Copied, which are none of its own. What a file says about
// sums of its own is in Session.Stated, with the Steps that it is of; [Session.Check] holds
// these against it.
// A reply that was paid for and of which the file has no content is a Step like any other; a
// line stands for what it said ([NotInFile]). A result that a file states of a run that it
// does not have sums up no segments.
// A call that was refused, failed or was stopped by a person is a [Failure] of its segment, and so
// is one that a limit of the client's own came before; the client's words for it are no message. Where it was refused for its length and no reply came
// after it, the segment ends with that request (Segment.Final).
// A file that holds several conversations has a segment with StartRoot for each, and its
// Name says which. What sub-agents said inside the file of their session, and other lines that lead
// nowhere, are in Session.Abandoned with the calls that no segment has. Where a key stands twice on a line only one of them is read, and a
// Problem says so.
//
// # Who wrote it
//
// Only what a person typed is Human. Lines that the client marks as its own,
// attachments, hook texts, developer items, and texts that consist of nothing
// but a client's tags are Notes (DESIGN.md section 2); see clienttext.go in
// package wire for the tags. A Note that carries standing instructions has llm.FlagRules.
//
// # Claude Code
//
// The file is a tree of lines. The active path leads from the last user or
// assistant line to its root; what is not on it is listed in Session.Abandoned.
// Lines with one message.id are one message and one Step. Tool results of parallel
// calls hang off the path as side branches and are taken in behind their message.
// Where the chain breaks (a parent that is missing, a circle), reading goes on
// with the line before it in the file. A session of another id that does not go on from
// a line of the others is another conversation. Lines with forkedFrom are copies; a copy whose
// lines do not say so is told only beside what it is of, by [Copies]: the file, or an earlier
// conversation of the same one.
//
// Its stream (--output-format stream-json, or json --verbose, which is one array) names
// no parents: each line follows the one before, and another session id begins another
// conversation, or goes on with one before it. What the run was asked is not in it. The
// sizes of outputs are written before they are final; they count only if they add up to
// those of the result line.
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
// equals its last usage, and then it belongs to the reply that follows. The last running
// total is Stated, less what was copied.
//
// A fork, and a sub-agent that knows what its parent knows, begin with a copy of it. A
// line is a copy (of which the time is unknown if it is that of the copying) if the turn's id, a UUID of version 7, says a time before the session
// began; if its own time is before that; or, in a file that says that it is a fork or
// holds the head of another session, if all lines up to it were written at once.
//
// The events of codex exec --json have calls with their results, no prompt and no
// model's name. The usage at the end of a turn is that of the thread so far: what it has
// beyond the turn before is Stated of the turn's own calls. See internal/codex.
//
// # Gemini CLI
//
// A chat is a list of messages, in one object or as lines that patch it: a known id
// replaces a message, $set.messages the list, $rewindTo takes back its end. A list
// that does not begin with what was there is a compaction, one in which only results
// differ a microcompaction. What the client only shows is no context. Thoughts are
// summaries without a signature: no request takes them back. What was sent for a
// typed command is a Note. Its stream of events has replies only as runs of texts and
// calls, and no usage for one of them: that of each run is Stated. Another session id begins
// another conversation. See internal/geminicli.
//
// # Qwen Code, pi
//
// The lines are a tree, read as it grows: where a line names an earlier one than the
// last as its parent, a segment begins there, and what it leaves is in
// Session.Abandoned although the segment before it has it. Qwen Code writes Gemini's
// shape; its dialect is that of the way to sign in which it reports, else Chat. The
// dialect of a pi session is that of the API of its last reply. Replies of pi that
// failed or were stopped are listed and left out, as the client does. A pi session that
// names a parent is a fork of it: what is older than its own file was copied, and its
// calls say so (Step.Copied).
// See internal/qwen and internal/pi.
//
// # Copilot CLI
//
// Events. The last system.message of a segment is its system prompt. What the client
// made of a person's words is the message; where nothing was typed it is a Note. Only
// the output of a call is reported; what session.shutdown says of the run is Stated, by
// model. The call that wrote a summary is the last one of the segment that it read: with
// the usage reported of it, else with the context that the client counted before it
// (Step.ClientCount). See internal/copilot.
//
// # Cline
//
// The file holds the conversation as it is now: after a compaction it begins with what
// that left, and replies that are marked or older than the summary have no Step. Blocks
// of the Messages API keep their bytes, without the white space between them. A task of
// the editor extension is three files: the history has the messages, and what is shown,
// read from the same folder, what each call took and which messages were left out of it,
// where a segment begins; the third says which model was asked from when on. What is shown
// alone has the usage and cannot be run. See
// internal/cline.
//
// # Continue
//
// The history of a session. What the editor put in front of a person's words is a Note;
// an item with a summary ends a segment. The file has no times, and titles of models. See
// internal/continuedev.
//
// # opencode
//
// The export of a session. A tool part is a call and its result. A message without a
// step and without tokens is no model call: the person began a task, or ran a command.
// Replies that failed are listed and left out. A user message with a compaction part that
// a finished summary answers begins a segment: the summary, what it says that it kept,
// what follows. The call for the summary is a segment of its own, which cannot be run. A
// result that was cleared is whole in the calls before that time. What the session says
// of its sums is stated. Of the database one session is read at a time, put together as
// its export: the line of a message is its number, from 2. See internal/opencode.
//
// # aider
//
// A chat history holds many chats, one segment each; /clear begins another. What the
// user said is Human, commands are not sent, and everything unmarked is the model's.
// The editor of the architect mode has segments of its own. The file has neither the
// system prompt nor the files in the chat, nor a word of it where aider shortened its
// history. The counts of tokens in it are aider's own (Step.ClientCount), and so is the
// cost of the session (Session.Stated). See internal/aider.
//
// # SWE-agent, mini-swe-agent, tau-bench
//
// No person takes part in a run of the first two: the instruction is a Note that opens
// Turn 1, and so is an observation that was sent as a text; with function calling it
// is a tool result. The program's own count of calls and tokens is Stated. tau-bench has one
// segment for each task and trial, and its user, played by a model in a person's place, is
// Human. See internal/sweagent.
//
// # OpenHands
//
// Events become messages: actions of one reply are one Step, an observation is the
// result of the call that it names. A condensation begins a segment with what it did
// not forget and its summary. An output.jsonl has one segment for each run; what
// nobody recorded as a call is a text there, and what the run's metrics say is Stated. See
// internal/openhands.
//
// # Inspect
//
// One segment for each sample, from the JSON log and from the archive .eval. The
// sample's events say what its calls used and which tools there were; its sum of them is
// Stated. The input is a Note; only an operator is Human. See internal/inspectlog.
//
// # Exchanges that the proxy recorded
//
// A file is one request and its answer; the conversation that it belongs to (Session.ID) is
// put together of the files in its folder, up to it. A request that does not go on from the one
// before begins a segment; where the provider holds the history the requests before are taken
// for it. The reply has the bytes with which the client sent it back. What a request used that left
// shorter than the client had made it is left out: it is not the size of the client's. See internal/recorded.
//
// # Request bodies
//
// A single JSON body becomes one segment without Steps that has Final set: it
// ends with a request to which nobody replied.
//
// # Bounds
//
// JSON lines are read line by line. Lines above 64 MiB are skipped, and so is what is
// not valid JSON or nests deeper than 10,000 levels. A file that is one JSON
// document is held whole while it is read, up to 1 GiB. Read as a stream of
// segments, a file of JSON lines takes the memory of one segment (what a client wrote to
// standard output, that of all conversations), and of Claude Code
// about 100 bytes for each line beside it, twice that in the first pass, since any
// line may name any other as its parent.
package sessionfile
