package inspectlog

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A sample is one conversation.
type sample struct {
	*chatlog.Log
	log     *log
	line    func([]byte) int
	model   string
	aside   []read.Fields // what the log holds aside, by its key
	calls   []call        // of the model, in order
	byID    map[string]int
	refused map[string]string // what was said of calls that were refused for their length, by the id of the stand-in for a reply
	replies []int             // positions of the replies that the model gave
	ids     []string

	made, answered int // calls in the events, of these such as replied in the conversation
}

// sample reads a conversation; line tells where a value of it begins.
func (l *log) sample(value []byte, line func([]byte) int) {
	f := read.FieldsOf(value)
	if messages := f["messages"]; len(messages) == 0 || messages[0] != '[' {
		l.Problem(line(value), "sample %s has no messages, skipped", label(f["id"]))
		return
	}
	s := &sample{log: l, Log: chatlog.New(l.Reading, l.name(f["id"], f["epoch"])), line: line, model: l.model, byID: map[string]int{}, refused: map[string]string{}}
	early := f.Of("transcript") // where early logs have events and what is held aside
	s.aside = []read.Fields{f.Of("attachments"), early.Of("content")}
	for _, events := range [][]byte{f["events"], early["events"]} {
		read.EachElement(events, func(value []byte) bool {
			s.event(value)
			return true
		})
	}
	read.EachElement(f["messages"], func(value []byte) bool {
		s.message(line(value), read.FieldsOf(value))
		return true
	})
	s.failed(line(value), f)
	s.pay()
	from := l.Emitted()
	s.Close()
	if models := f["model_usage"]; len(models) > 0 && models[0] == '{' {
		s.stated(from, models)
	}
}

// failed notes what ended a sample: an error, or a limit of the evaluation. An operator is a
// person.
func (s *sample) failed(no int, f read.Fields) {
	limit := f.Of("limit")
	switch kind := limit.Str("type"); kind {
	case "":
	case "context":
		s.Fail(read.Outcome{Line: no, Words: "context length exceeded", Code: "context_length_exceeded"})
	case "operator":
		s.Fail(read.Outcome{Line: no, Words: "by the operator", Stopped: true})
	default:
		s.Fail(read.Outcome{Line: no, Words: strings.TrimSpace(kind + " limit " + label(limit["limit"])), Limit: true})
	}
	s.Fail(read.Outcome{Line: no, Words: f.Of("error").Str("message")})
}

// protocols are how a text says that it is held aside.
var protocols = []string{"attachment://", "tc://"}

// resolve returns what a JSON string stands for: what it names, or itself.
func (s *sample) resolve(line int, value []byte) []byte {
	const longest = 200
	if len(value) == 0 || len(value) > longest || value[0] != '"' {
		return value
	}
	for _, protocol := range protocols {
		key, ok := strings.CutPrefix(read.Str(value), protocol)
		if !ok {
			continue
		}
		for _, aside := range s.aside {
			if v, ok := aside[key]; ok {
				return s.log.expand(line, v, value)
			}
		}
		s.Problem(line, "a text is held aside as %.50q, which is not in the log", key)
	}
	return value
}

// maxAside bounds what is put back into the conversations of one file: a text that is
// held aside once may be named any number of times.
const maxAside = 1 << 30

// expand returns what is held aside, or the text that names it if it is too much.
func (l *log) expand(line int, aside, name []byte) []byte {
	if l.expanded += len(aside); l.expanded > maxAside {
		l.Problem(line, "more than %d MiB are held aside, the rest is left out", maxAside>>20)
		return name
	}
	return aside
}

// message takes in one message.
func (s *sample) message(line int, f read.Fields) {
	wire := read.Fields{"role": f["role"], "content": s.content(line, f["content"])}
	assistant := f.Str("role") == "assistant"
	if words, ok := s.refused[f.Str("id")]; ok && assistant {
		s.Fail(read.Outcome{Line: line, Words: words, Code: "context_length_exceeded"})
		return
	}
	if calls := f["tool_calls"]; assistant && len(calls) > 0 && calls[0] == '[' {
		if calls = toolCalls(calls); len(calls) > len("[]") {
			wire["tool_calls"] = calls
		}
	}
	failed := f.Of("error")
	if id, ok := f["tool_call_id"]; ok {
		wire["tool_call_id"] = id
		if text, ok := failed["message"]; ok {
			wire["content"] = s.resolve(line, text) // the model sees it in place of the output
		}
	}
	m, ok := s.Decode(line, wire)
	if !ok {
		return
	}
	switch {
	case assistant:
		m = withThinking(m, s.thinking(line, f["content"]))
	case m.Role == llm.RoleTool && failed != nil:
		m = asError(m)
	case m.Role == llm.RoleUser && f.Str("source") != "operator":
		m.Origin = llm.Note
	}
	e := s.Add(line, m)
	if e == nil || !assistant || f.Str("source") == "input" {
		return
	}
	e.Step = &sessionfile.Step{Model: s.model}
	if model := s.Name(f["model"]); model != "" {
		e.Step.Model = model
	}
	s.replies = append(s.replies, len(s.Segment.Entries)-1)
	s.ids = append(s.ids, f.Str("id"))
}

// withThinking puts what a reply thought before its other parts. The bytes of the
// message do not have it.
func withThinking(m llm.Message, thinking []llm.Part) llm.Message {
	if len(thinking) == 0 {
		return m
	}
	return m.WithParts(append(thinking, m.Parts...))
}

func asError(m llm.Message) llm.Message {
	parts := append([]llm.Part(nil), m.Parts...)
	for i, p := range parts {
		if result, ok := p.(llm.ToolResult); ok {
			result.IsError = true
			parts[i] = result
		}
	}
	return m.WithParts(parts)
}

// content returns the content of a message as the Chat format has it: a text, or the
// texts and pictures of a list.
func (s *sample) content(line int, value []byte) []byte {
	if len(value) == 0 || value[0] != '[' {
		return s.resolve(line, value)
	}
	out := []byte{'['}
	read.EachElement(value, func(part []byte) bool {
		b := s.part(line, read.FieldsOf(part))
		if len(b) > 0 && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, b...)
		return true
	})
	return append(out, ']')
}

// part returns one piece of content, nothing for what is not sent as content.
func (s *sample) part(line int, f read.Fields) []byte {
	var b []byte
	switch kind := f.Str("type"); kind {
	case "text":
		b = append(b, `{"type":"text","text":`...)
		b = append(b, s.resolve(line, f["text"])...)
		return append(b, '}')
	case "image":
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = append(b, s.resolve(line, f["image"])...)
		if detail := f["detail"]; len(detail) > 0 && detail[0] == '"' {
			b = append(append(b, `,"detail":`...), detail...)
		}
		return append(b, `}}`...)
	case "reasoning":
		return nil // see thinking
	default:
		s.Problem(line, "content of the type %.40q is left out", kind)
		return nil
	}
}

// thinking returns what a reply thought.
func (s *sample) thinking(line int, content []byte) []llm.Part {
	var parts []llm.Part
	read.EachElement(content, func(part []byte) bool {
		f := read.FieldsOf(part)
		if f.Str("type") != "reasoning" {
			return true
		}
		t := llm.Thinking{Text: read.Str(s.resolve(line, f["reasoning"])), Signature: f.Str("signature"), Redacted: read.IsTrue(f["redacted"])}
		if t.Redacted { // the text is the encrypted one then
			t.Text, t.Signature = f.Str("summary"), t.Text
		}
		parts = append(parts, t)
		return true
	})
	return parts
}

// toolCalls returns the calls of a reply as the Chat format has them.
func toolCalls(calls []byte) []byte {
	out := []byte{'['}
	read.EachElement(calls, func(value []byte) bool {
		f := read.FieldsOf(value)
		if f.Str("id") == "" || f.Str("function") == "" {
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, `{"id":`...), f["id"]...)
		out = append(append(out, `,"type":"function","function":{"name":`...), f["function"]...)
		arguments := f["arguments"]
		if len(arguments) == 0 || string(arguments) == "null" {
			arguments = []byte("{}")
		}
		if arguments[0] != '"' {
			arguments = chatlog.Quote(string(read.Compact(arguments)))
		}
		out = append(append(out, `,"arguments":`...), arguments...)
		out = append(out, `}}`...)
		return true
	})
	return append(out, ']')
}
