package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// isEvent reports whether a line is an event of the stream that the client writes to
// standard output.
func isEvent(f read.Fields) bool {
	switch f.Str("type") {
	case "thread.started":
		return f.Has("thread_id")
	case "item.started", "item.completed":
		item := f.Of("item")
		return item.Has("id", "type")
	case "turn.completed":
		return len(f) == 2 && f.Of("usage").Has("input_tokens", "output_tokens")
	}
	return false
}

// An exec reads that stream. It has neither what was asked nor the model's name, and what
// a tool said stands with its call. A reply is a run of texts, thoughts and calls that no
// result interrupts. Another thread begins another conversation, or goes on with one before it.
type exec struct {
	*read.Reading
	*thread
	all   []*thread
	byID  map[string]*thread // but for one without an id
	reply bool               // the last entry is a reply that goes on
}

// A thread is a conversation.
type thread struct {
	id      string
	entries []sessionfile.Entry
	begun   map[string]bool // calls without a result yet
	runs    read.Runs
	total   llm.Usage // so far
	line    int       // that states it; 0 if none does
	failed  []read.Outcome
}

// newExec returns a stream that begins without a thread's id.
func newExec(r *read.Reading) *exec {
	first := &thread{}
	return &exec{Reading: r, thread: first, all: []*thread{first}, byID: map[string]*thread{}}
}

// event takes in an event. It reports false if the line is none.
func (x *exec) event(no int, f read.Fields) bool {
	switch f.Str("type") {
	case "thread.started":
		x.begin(f.Str("thread_id"))
	case "item.started":
		x.item(no, f.Of("item"), false)
	case "item.completed":
		x.item(no, f.Of("item"), true)
	case "turn.completed":
		x.turn(no, f.Of("usage"))
	case "turn.failed":
		x.failed(no, f.Of("error").Str("message"))
	case "error":
		x.failed(no, f.Str("message"))
	case "turn.started", "item.updated": // nothing that was sent or said
	default:
		return false
	}
	return true
}

// failed notes a call that came to nothing. The end of the turn says once more why.
func (x *exec) failed(no int, words string) {
	if all := x.thread.failed; len(all) > 0 && all[len(all)-1].Words == words {
		return
	}
	x.thread.failed = append(x.thread.failed, read.Outcome{Line: no, Words: words, Code: codeOf(words)})
}

// begin begins another conversation, unless the thread goes on.
func (x *exec) begin(id string) {
	x.reply = false
	x.Session.ID = cmp.Or(x.Session.ID, id)
	if x.id == "" {
		x.id, x.byID[id] = id, x.thread
	}
	if before, ok := x.byID[id]; ok {
		x.thread = before
		return
	}
	x.thread = &thread{id: id}
	x.all = append(x.all, x.thread)
	x.byID[id] = x.thread
}

// finish hands over the conversations. They get names if the file holds several.
func (x *exec) finish() {
	for _, t := range x.all {
		segment := sessionfile.Segment{Start: sessionfile.StartRoot, Entries: t.entries}
		if len(x.all) > 1 {
			segment.Name = t.id
		}
		for _, o := range t.failed {
			x.Fail(o)
		}
		from := x.Emitted()
		x.Emit(segment)
		x.Session.Stated = append(x.Session.Stated, t.runs.Of(from, x.Emitted())...)
	}
}

// turn takes in the usage at the end of a turn. It is that of the thread so far, so that the
// turn has what it is more than before; one that is less was counted anew.
func (x *exec) turn(no int, f read.Fields) {
	input := x.Count(no, "input_tokens", f["input_tokens"])
	cached := min(input, x.Count(no, "cached_input_tokens", f["cached_input_tokens"]))
	written := min(input-cached, x.Count(no, "cache_write_input_tokens", f["cache_write_input_tokens"]))
	out := x.Count(no, "output_tokens", f["output_tokens"])
	total := llm.Usage{
		Input: input - cached - written, CacheRead: cached, CacheWrite5m: written,
		Output: out, Reasoning: min(out, x.Count(no, "reasoning_output_tokens", f["reasoning_output_tokens"])),
	}
	turn, what := total, "turn.completed"
	if more, ok := moreThan(total, x.total); ok && x.line > 0 {
		turn, what = more, fmt.Sprintf("turn.completed, beyond line %d", x.line)
	}
	x.runs.State([]sessionfile.Stated{{Line: no, What: what, Figures: read.Figures(0, turn)}})
	x.total, x.line = total, no
}

// moreThan returns what a total has beyond the one before; false if it has less of something.
func moreThan(total, before llm.Usage) (llm.Usage, bool) {
	u := llm.Usage{
		Input: total.Input - before.Input, CacheRead: total.CacheRead - before.CacheRead, CacheWrite5m: total.CacheWrite5m - before.CacheWrite5m,
		Output: total.Output - before.Output, Reasoning: total.Reasoning - before.Reasoning,
	}
	return u, min(u.Input, u.CacheRead, u.CacheWrite5m, u.Output, u.Reasoning) >= 0
}

// item takes in what the model said or called. A call is named as the item is, with what
// the item says of it. What is only for the screen, such as a list of tasks, is no context.
func (x *exec) item(no int, f read.Fields, done bool) {
	kind := f.Str("type")
	switch kind {
	case "agent_message":
		if text := f.Str("text"); done && text != "" {
			x.said(no, llm.Text{Text: text})
		}
	case "reasoning":
		if text := f.Str("text"); done && text != "" {
			x.said(no, llm.Thinking{Text: text})
		}
	case "command_execution":
		x.call(no, f, done, llm.ToolCall{Name: kind, Custom: true, Args: f.Str("command")})
	case "file_change":
		x.call(no, f, done, llm.ToolCall{Name: kind, Custom: true, Args: paths(f["changes"])})
	case "collab_tool_call":
		x.call(no, f, done, llm.ToolCall{Name: f.Str("tool"), Custom: true, Args: f.Str("prompt")})
	case "mcp_tool_call":
		x.call(no, f, done, llm.ToolCall{Name: f.Str("tool"), Args: build.Args(f["arguments"])})
	}
}

// paths lists the files of a change, whose lines are not in the stream.
func paths(changes []byte) string {
	var all []string
	read.EachElement(changes, func(value []byte) bool {
		all = append(all, read.Str(read.Field(value, "path")))
		return true
	})
	return strings.Join(all, "\n")
}

// said adds a part to the reply.
func (x *exec) said(no int, p llm.Part) {
	if !x.reply {
		x.entries = append(x.entries, sessionfile.Entry{
			Line: no, Step: &sessionfile.Step{},
			Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: openai.DialectResponses},
		})
		x.reply = true
		x.runs.Call()
	}
	last := &x.entries[len(x.entries)-1]
	last.Message.Parts = append(last.Message.Parts, p)
}

// call adds a call when it starts, and its result when it is done.
func (x *exec) call(no int, f read.Fields, done bool, c llm.ToolCall) {
	c.CallID = f.Str("id")
	if !x.begun[c.CallID] {
		x.said(no, c)
		if x.begun == nil {
			x.begun = map[string]bool{}
		}
		x.begun[c.CallID] = true
	}
	if !done {
		return
	}
	delete(x.begun, c.CallID)
	x.reply = false
	failed := f.Str("status") == "failed"
	output := f.Str("aggregated_output")
	if output == "" {
		output = cmp.Or(f.Of("error").Str("message"), contents(f.Of("result")))
	}
	x.entries = append(x.entries, sessionfile.Entry{Line: no, Message: build.Result(c.CallID, failed, llm.Text{Text: output})})
}

// contents returns the texts of what a server's tool said.
func contents(result read.Fields) string {
	var out string
	read.EachElement(result["content"], func(value []byte) bool {
		out += read.Str(read.Field(value, "text"))
		return true
	})
	return out
}
