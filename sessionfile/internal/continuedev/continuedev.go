// Package continuedev reads the sessions of Continue: one JSON object with a history. It
// is for sessionfile/formats only.
//
// An item is a message with what belongs to it: a person's with the texts that the editor
// put in front of it (a Note), the model's with its calls and what came of them. The
// thinking before a reply is an item of its own. What the file has of the system prompt is
// a section. An item with a summary of all before it begins a segment; the call that
// wrote it left nothing else. The file has no times, and the title of a model instead of
// its id, where the log of the prompts has none.
package continuedev

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// session is the file being read.
type session struct {
	*read.Reading
	segment  sessionfile.Segment
	model    string          // the title of the session's
	thinking []llm.Part      // before the reply
	answered map[string]bool // calls that have a result
	spoken   bool            // a message that is no system message came
}

// Reader returns the reader of Continue's sessions.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatContinue},
		Document: func(d *read.Document) sessionfile.Format { return detect(d.Fields()) },
		Read:     readFile,
	}
}

// detect tells a session by its own fields.
func detect(f read.Fields) sessionfile.Format {
	history := f["history"]
	if f.Has("sessionId", "workspaceDirectory") && len(history) > 0 && history[0] == '[' {
		return sessionfile.FormatContinue
	}
	return ""
}

// readFile reads a session.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := in.Document()
	if err != nil {
		return r.NotFormat(err)
	}
	f := d.Fields()
	r.Session.ID, r.Session.Client, r.Session.Dialect = f.Str("sessionId"), "continue", openai.DialectChat
	s := &session{Reading: r, model: f.Str("chatModelTitle"), answered: map[string]bool{}, segment: sessionfile.Segment{Start: sessionfile.StartRoot}}
	read.EachElement(f["history"], func(value []byte) bool {
		s.item(d.Line(value), value)
		return !r.Stopped()
	})
	s.finish()
	s.state(d.Line(f["usage"]), f["usage"])
	return nil
}

// finish ends the segment.
func (s *session) finish() {
	build.Began(s.Reading, &s.segment)
	build.Shape(s.Session.Dialect, &s.segment)
	s.Emit(s.segment)
}

// item takes in one item of the history.
func (s *session) item(no int, value []byte) {
	f := read.FieldsOf(value)
	m := f.Of("message")
	switch m.Str("role") {
	case "user":
		s.user(no, f, m)
	case "thinking":
		s.thinks(m)
	case "assistant":
		s.reply(no, f, m)
	case "tool":
		if id := m.Str("toolCallId"); !s.answered[id] { // else it stands at its call
			s.add(no, build.Result(id, false, content(m["content"])...))
		}
	case "system":
		if text := textOf(m["content"]); text != "" && !s.spoken {
			s.segment.Sections = append(s.segment.Sections, llm.Section{Name: "system", Text: text, Cacheable: true})
		}
		return
	default:
		s.Problem(no, "an item of the role %.40q, skipped", m.Str("role"))
		return
	}
	s.spoken = true
	if summary := f.Str("conversationSummary"); summary != "" {
		s.finish()
		s.segment = sessionfile.Segment{Start: sessionfile.StartCompaction, Sections: s.segment.Sections}
		s.add(no, build.Note(llm.FlagSummary, llm.Text{Text: summary}))
	}
}

func (s *session) add(no int, m llm.Message) *sessionfile.Entry {
	if len(m.Parts) == 0 {
		return nil
	}
	s.segment.Entries = append(s.segment.Entries, sessionfile.Entry{Line: no, Message: m})
	return &s.segment.Entries[len(s.segment.Entries)-1]
}

// user takes in what a person said, behind what the editor put in front of it.
func (s *session) user(no int, f, m read.Fields) {
	var put []llm.Part
	read.EachElement(f["contextItems"], func(value []byte) bool {
		if text := read.FieldsOf(value).Str("content"); strings.TrimSpace(text) != "" {
			put = append(put, llm.Text{Text: text})
		}
		return true
	})
	s.add(no, build.Note(wire.RulesIn(put), put...))
	said := read.UserMessage(content(m["content"]), "")
	said.Dialect = build.Dialect("", said.Parts)
	s.add(no, said)
}

// thinks takes in what the model thought before its reply. What proves it is Anthropic's.
func (s *session) thinks(m read.Fields) {
	t := llm.Thinking{Text: textOf(m["content"])}
	if t.Signature = m.Str("signature"); t.Signature == "" && m.Str("redactedThinking") != "" {
		t.Signature, t.Redacted = m.Str("redactedThinking"), true
	}
	if t.Signature != "" {
		s.Session.Dialect = anthropic.Dialect
	}
	if t.Text != "" || t.Signature != "" {
		s.thinking = append(s.thinking, t)
	}
}

// reply takes in what the model wrote, and what came of its calls.
func (s *session) reply(no int, f, m read.Fields) {
	parts := append(s.thinking, content(m["content"])...)
	s.thinking = nil
	read.EachElement(m["toolCalls"], func(value []byte) bool {
		call := gjson.ParseBytes(value)
		parts = append(parts, llm.ToolCall{
			CallID: call.Get("id").String(), Name: call.Get("function.name").String(), Args: build.Args([]byte(call.Get("function.arguments").String())),
		})
		return true
	})
	step := s.step(no, f, m)
	parts = read.Said(parts, step)
	if e := s.add(no, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: s.Session.Dialect, Parts: parts}); e != nil {
		e.Step = step
	}
	read.EachElement(f["toolCallStates"], func(value []byte) bool {
		s.result(no, read.FieldsOf(value))
		return true
	})
}

// result takes in what came of a call. A call that still runs has no result.
func (s *session) result(no int, f read.Fields) {
	var texts []string
	read.EachElement(f["output"], func(value []byte) bool {
		texts = append(texts, read.FieldsOf(value).Str("content"))
		return true
	})
	text, failed := strings.Join(texts, "\n\n"), false
	switch status := f.Str("status"); {
	case status == "canceled":
		text, failed = sessionfile.NotInFile("that the person did not allow the call"), true
	case f["output"] != nil && string(f["output"]) != "null":
		failed = status == "errored"
	case status == "errored":
		text, failed = sessionfile.NotInFile("that the call failed"), true
	case status == "done":
	default:
		return
	}
	id := f.Str("toolCallId")
	s.answered[id] = true
	s.add(no, build.Result(id, failed, llm.Text{Text: text}))
}

// step returns what an item says about its call.
func (s *session) step(no int, f, m read.Fields) *sessionfile.Step {
	step := &sessionfile.Step{Model: s.model}
	read.EachElement(f["promptLogs"], func(value []byte) bool {
		log := read.FieldsOf(value)
		if title := log.Str("modelTitle"); title != "" {
			step.Model = s.Name(log["modelTitle"])
		}
		if log.Str("modelProvider") == "anthropic" {
			s.Session.Dialect = anthropic.Dialect
		}
		return true
	})
	chatlog.Pay(step, s.usage(no, m["usage"]))
	return step
}

// usage reads a report. What was read from a cache is a share of the prompt, or beside it
// if it is more.
func (s *session) usage(no int, value []byte) llm.Usage {
	report := gjson.ParseBytes(value)
	u := chatlog.Disjoint(s.Tokens(no, report, "promptTokens"), s.Tokens(no, report, "promptTokensDetails.cachedTokens"),
		s.Tokens(no, report, "promptTokensDetails.cacheWriteTokens"))
	u.Output = s.Tokens(no, report, "completionTokens")
	u.Reasoning = min(u.Output, s.Tokens(no, report, "completionTokensDetails.reasoningTokens"))
	return u
}

// state adds what the session says about its calls together.
func (s *session) state(no int, value []byte) {
	u := s.usage(no, value)
	if u.Total() == 0 || s.Emitted() == 0 {
		return
	}
	stated := sessionfile.Stated{Line: no, What: "the session's own sums", To: s.Emitted(), Figures: []sessionfile.Figure{
		{Name: sessionfile.FigurePrompt, Value: int64(u.Prompt())}, {Name: sessionfile.FigureOutput, Value: int64(u.Output)},
	}}
	s.Session.Stated = append(s.Session.Stated, stated)
}

// content returns a text, or parts of which some are images.
func content(value []byte) []llm.Part {
	if text := read.Str(value); text != "" {
		return []llm.Part{llm.Text{Text: text}}
	}
	var parts []llm.Part
	read.EachElement(value, func(element []byte) bool {
		f := read.FieldsOf(element)
		switch f.Str("type") {
		case "text":
			if text := f.Str("text"); text != "" {
				parts = append(parts, llm.Text{Text: text})
			}
		case "imageUrl":
			if mime, data, ok := build.DataURL(f.Of("imageUrl").Str("url")); ok {
				parts = append(parts, build.Media(mime, data))
			} else {
				parts = append(parts, llm.Text{Text: sessionfile.NotInFile("an image")})
			}
		}
		return true
	})
	return parts
}

// textOf returns the texts of a content.
func textOf(value []byte) string {
	var b strings.Builder
	for _, p := range content(value) {
		if t, ok := p.(llm.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
