package geminicli

import (
	"cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// stream reads the events that the client writes to standard output. A reply is a run of
// the model's texts and calls that no result and no user message interrupts. Usage is
// reported for the whole run of the program only. A run with another session id begins
// another conversation, or goes on with one before it.
type stream struct {
	*read.Reading
	model string
	*conversation
	all   []*conversation
	byID  map[string]*conversation // but for one without an id
	reply bool                     // the last entry is a reply that goes on
}

// A conversation is what the runs of one session id hold.
type conversation struct {
	id      string
	entries []sessionfile.Entry
	runs    read.Runs
}

// newStream returns a stream that begins without an id.
func newStream(r *read.Reading) *stream {
	first := &conversation{}
	return &stream{Reading: r, conversation: first, all: []*conversation{first}, byID: map[string]*conversation{}}
}

// event takes in an event. It reports false if the line is none.
func (s *stream) event(no int, f read.Fields) bool {
	e := sessionfile.Entry{Line: no, Time: s.Time(no, f["timestamp"])}
	switch f.Str("type") {
	case "init":
		if !f.Has("session_id") {
			return false
		}
		s.begin(f.Str("session_id"))
		s.model = s.Name(f["model"])
	case "message":
		if !f.Has("role", "content") {
			return false
		}
		s.message(e, f)
	case "tool_use":
		s.said(e, llm.ToolCall{CallID: f.Str("tool_id"), Name: f.Str("tool_name"), Args: build.Args(s.Keep(no, f["parameters"]))})
	case "tool_result":
		s.reply = false
		text := f.Str("output")
		failed := f.Str("status") == "error"
		if message := f.Of("error").Str("message"); text == "" && failed {
			text = message
		}
		e.Message = build.Result(f.Str("tool_id"), failed, llm.Text{Text: text})
		s.entries = append(s.entries, e)
	case "result":
		if f.Has("id") {
			return false
		}
		s.result(no, f.Of("stats"))
	case "error":
		return !f.Has("id")
	default:
		return false
	}
	return true
}

// message takes in a text: of the user, or a piece of the model's.
func (s *stream) message(e sessionfile.Entry, f read.Fields) {
	text := f.Str("content")
	if text == "" {
		return
	}
	if f.Str("role") != "user" {
		s.said(e, llm.Text{Text: text})
		return
	}
	s.reply = false
	e.Message = read.UserMessage([]llm.Part{llm.Text{Text: text}}, "")
	s.entries = append(s.entries, e)
}

// said adds what the model wrote to its reply. Pieces of a text are joined.
func (s *stream) said(e sessionfile.Entry, p llm.Part) {
	if !s.reply {
		e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: gemini.Dialect}
		e.Step = &sessionfile.Step{Model: s.model}
		s.entries, s.reply = append(s.entries, e), true
		s.runs.Call()
	}
	reply := &s.entries[len(s.entries)-1]
	reply.Step.Time = max(reply.Step.Time, e.Time)
	parts := reply.Message.Parts
	if text, ok := p.(llm.Text); ok && len(parts) > 0 {
		if before, ok := parts[len(parts)-1].(llm.Text); ok {
			before.Text += text.Text
			parts[len(parts)-1] = before
			return
		}
	}
	reply.Message.Parts = append(parts, p)
}

// begin begins a run, which continues a conversation or is another one.
func (s *stream) begin(id string) {
	s.reply = false
	s.Session.ID = cmp.Or(s.Session.ID, id)
	if s.id == "" {
		s.id, s.byID[id] = id, s.conversation
	}
	if before, ok := s.byID[id]; ok {
		s.conversation = before
		s.runs.Begin()
		return
	}
	s.conversation = &conversation{id: id}
	s.all = append(s.all, s.conversation)
	s.byID[id] = s.conversation
}

// result takes in what a run states, of each model if it names them.
func (s *stream) result(no int, stats read.Fields) {
	models := stats["models"]
	if !stats.Has("input_tokens") {
		return
	}
	var t read.Tally
	t.Line(no)
	if len(models) < len(`{"":{}}`) || models[0] != '{' {
		t.Add("", s.sum(no, stats))
	} else {
		read.EachField(models, func(key, value []byte) {
			t.Add(string(key), s.sum(no, read.FieldsOf(value)))
		})
	}
	s.runs.State(t.Stated("result", 0, 0))
}

// sum reads a report of usage. What of the total is neither prompt nor text is thinking.
func (s *stream) sum(no int, f read.Fields) read.Sum {
	prompt := s.Count(no, "input_tokens", f["input_tokens"])
	cached := min(prompt, s.Count(no, "cached", f["cached"]))
	out := s.Count(no, "output_tokens", f["output_tokens"])
	thinking := max(0, s.Count(no, "total_tokens", f["total_tokens"])-prompt-out)
	return read.Sum{Usage: llm.Usage{Input: prompt - cached, CacheRead: cached, Output: out + thinking, Reasoning: thinking}}
}

// finish hands over the conversations. They get names if the file holds several.
func (s *stream) finish() {
	for _, c := range s.all {
		segment := sessionfile.Segment{Start: sessionfile.StartRoot, Entries: c.entries}
		if len(s.all) > 1 {
			segment.Name = c.id
		}
		build.Began(s.Reading, &segment)
		from := s.Emitted()
		s.Emit(segment)
		s.Session.Stated = append(s.Session.Stated, c.runs.Of(from, s.Emitted())...)
	}
}
