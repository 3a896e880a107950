// Package copilot reads the event logs of the GitHub Copilot command line: JSON lines.
// The package comment of sessionfile says what is made of them. It is for
// sessionfile/formats only.
package copilot

import (
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// copilot reads one log, line by line.
type copilot struct {
	*build.Trail
	side   build.Asides
	model  string
	effort string
	runs   []run
	open   int   // the line with which the run began that goes on
	called bool  // it made calls that no end of it states
	unsaid []int // the lines with which runs began whose end the log does not have
}

// Reader returns the reader of Copilot's event logs.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatCopilot}, Line: detect, Read: readFile}
}

// kinds are events that tell a log. Each has data beside its type.
var kinds = map[string]bool{
	"session.start": true, "session.resume": true, "session.model_change": true, "system.message": true, "user.message": true,
	"assistant.turn_start": true, "assistant.message": true, "tool.execution_start": true, "tool.execution_complete": true,
}

// detect tells an event by its type and the ids that come with it.
func detect(f read.Fields) sessionfile.Format {
	if kinds[f.Str("type")] && f.Has("data", "id", "timestamp", "parentId") {
		return sessionfile.FormatCopilot
	}
	return ""
}

// readFile reads a log.
func readFile(r *read.Reading, in *read.Input) error {
	c := &copilot{Trail: build.NewTrail(r)}
	r.Session.Client, r.Session.Dialect = "copilot-cli", openai.DialectChat
	in.Each(r, c.line)
	c.Finish()
	c.run(0)
	r.Session.Stated = c.stated()
	return nil
}

// line takes in one event. Hooks, permissions and what is for the screen are not
// context.
func (c *copilot) line(l read.Line) {
	b, ok := c.Object(l)
	if !ok {
		return
	}
	f := read.FieldsOf(b)
	data := f.Of("data")
	e := sessionfile.Entry{Line: l.No, Time: c.Time(l.No, f["timestamp"])}
	id := f.Str("id")
	if agent := data.Str("parentToolCallId"); agent != "" { // of a sub-agent that a tool runs
		c.aside(f.Str("type"), agent, data, e)
		return
	}
	switch f.Str("type") {
	case "session.start", "session.resume":
		c.run(l.No)
		c.start(data)
	case "session.model_change":
		c.change(data)
	case "system.message":
		c.Segment.Sections = []llm.Section{{Name: "system", Text: data.Str("content"), Cacheable: true}}
	case "user.message":
		e.Message = said(data)
		c.Add(id, e)
	case "system.notification":
		e.Message = build.Note(0, text(data.Str("content"))...)
		c.Add(id, e)
	case "assistant.message":
		c.Add(id, c.reply(data, e))
	case "tool.execution_complete":
		e.Message = result(data)
		c.Add(id, e)
	case "session.compaction_complete":
		c.compacted(id, data, e)
	case "session.truncation":
		c.truncated(id, data, e)
	case "session.shutdown":
		c.shutdown(l.No, data)
		c.Add(id)
	case "session.error":
		c.Fail(read.Outcome{
			Line: e.Line, Time: e.Time, Words: data.Str("message"), Code: data.Str("errorType"), Status: c.Count(l.No, "statusCode", data["statusCode"]),
		})
		c.Add(id)
	case "abort":
		c.Fail(read.Outcome{Line: e.Line, Time: e.Time, Words: data.Str("reason"), Stopped: true})
		c.Add(id)
	case "session.snapshot_rewind":
		c.rewind(data, e)
	default:
		c.Add(id)
	}
}

// aside lists what a sub-agent said, and its calls. A model that its lines do not name is not
// known: it may be another one than the session's.
func (c *copilot) aside(kind, agent string, data read.Fields, e sessionfile.Entry) {
	switch kind {
	case "user.message":
		c.side.Line(c.Session, e.Line, agent)
	case "assistant.message":
		c.side.Line(c.Session, e.Line, agent)
		step := c.reply(data, e).Step
		step.Model, step.Effort = c.Name(data["model"]), ""
		c.side.Call(c.Session, "", *step)
	}
}

// start takes in the head of the log.
func (c *copilot) start(data read.Fields) {
	if id := data.Str("sessionId"); id != "" && c.Session.ID == "" {
		c.Session.ID = id
	}
	if v := data.Str("copilotVersion"); v != "" {
		c.Session.ClientVersion = v
	}
	if m := c.Name(data["selectedModel"]); m != "" {
		c.model = m
	}
}

// change takes in what is set for the calls that follow.
func (c *copilot) change(data read.Fields) {
	if m := c.Name(data["newModel"]); m != "" {
		c.model = m
	}
	c.effort = c.Name(data["reasoningEffort"])
}

func text(s string) []llm.Part {
	if s == "" {
		return nil
	}
	return []llm.Part{llm.Text{Text: s}}
}

// said returns what the user's side said, as it was sent. A message in which the person
// typed nothing is the client's.
func said(data read.Fields) llm.Message {
	typed, sent := data.Str("content"), data.Str("transformedContent")
	if sent == "" {
		sent = typed
	}
	if typed == "" {
		return build.Note(0, text(sent)...)
	}
	m := read.UserMessage(text(typed), "")
	m.Parts = text(sent)
	return m
}

// reply returns what the model wrote. Only the size of the output is in the log.
func (c *copilot) reply(data read.Fields, e sessionfile.Entry) sessionfile.Entry {
	c.called = true
	step := &sessionfile.Step{
		Model: c.model, Effort: c.effort, Time: e.Time, MessageID: data.Str("apiCallId"), RequestID: data.Str("requestId"),
	}
	if m := c.Name(data["model"]); m != "" {
		step.Model = m
	}
	report := gjson.Result{Type: gjson.JSON, Raw: `{"outputTokens":` + string(number(data["outputTokens"])) + `}`}
	step.Usage.Output = c.Tokens(e.Line, report, "outputTokens")
	step.OutputReported = step.Usage.Output > 0
	e.Step = step
	e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: openai.DialectChat}
	e.Message.Parts = append(reasoning(data), text(data.Str("content"))...)
	read.EachElement(data["toolRequests"], func(value []byte) bool {
		f := read.FieldsOf(value)
		call := llm.ToolCall{CallID: f.Str("toolCallId"), Name: f.Str("name"), Args: build.Args(f["arguments"])}
		if f.Str("type") == "custom" {
			call.Custom, call.Args = true, f.Str("arguments")
		}
		e.Message.Parts = append(e.Message.Parts, call)
		return true
	})
	return e
}

// number returns a value that may be missing.
func number(value []byte) []byte {
	if len(value) == 0 {
		return []byte("null")
	}
	return value
}

// reasoning returns the model's reasoning as the members of a message that Copilot's
// API takes back: the text, and the part that only the provider reads.
func reasoning(data read.Fields) []llm.Part {
	var parts []llm.Part
	if value := data["reasoningText"]; read.Str(value) != "" {
		parts = append(parts, llm.Thinking{Text: read.Str(value), Raw: llm.Raw{Data: member("reasoning_text", value)}})
	}
	if value := data["reasoningOpaque"]; read.Str(value) != "" {
		parts = append(parts, llm.Opaque{Kind: "reasoning_opaque", Raw: llm.Raw{Data: member("reasoning_opaque", value)}})
	}
	return parts
}

// member returns a member of an object, with a copy of its value.
func member(key string, value []byte) []byte {
	return append([]byte(`"`+key+`":`), value...)
}

// result returns what a tool said, as the model saw it.
func result(data read.Fields) llm.Message {
	id := data.Str("toolCallId")
	if r, ok := data["result"]; ok && string(r) != "null" {
		return build.Result(id, string(data["success"]) == "false", llm.Text{Text: read.FieldsOf(r).Str("content")})
	}
	return build.Result(id, true, llm.Text{Text: data.Of("error").Str("message")})
}

// compacted begins a new segment with the summary. Which messages were kept beside it
// is not in the log.
func (c *copilot) compacted(id string, data read.Fields, e sessionfile.Entry) {
	if string(data["success"]) == "false" {
		c.Add(id)
		return
	}
	summary := data.Str("summaryContent")
	if summary == "" {
		c.Compact(e.Line, id, c.Len())
		c.Segment.NotRun = "the file does not say what the compaction kept"
		return
	}
	c.Problem(e.Line, "compaction: only the summary is in the file, not which messages were kept beside it")
	if call, ok := c.summarised(data, e); ok {
		c.Add("", call)
	}
	e.Message = build.Note(llm.FlagSummary, llm.Text{Text: summary})
	c.Compact(e.Line, id, c.Len(), e)
}

// truncated begins a new segment that cannot be run: the log does not say which
// messages the client left out.
func (c *copilot) truncated(id string, data read.Fields, e sessionfile.Entry) {
	report := gjson.ParseBytes(data["messagesRemovedDuringTruncation"])
	if report.Int() == 0 {
		c.Add(id)
		return
	}
	c.Compact(e.Line, id, c.Len())
	c.Segment.NotRun = "the file does not say which messages the client left out"
}

// rewind takes back an event and what came behind it.
func (c *copilot) rewind(data read.Fields, e sessionfile.Entry) {
	to, ok := c.Find(data.Str("upToEventId"))
	if !ok {
		c.Problem(e.Line, "rewind: the event that it goes back to is not in this part of the conversation")
		return
	}
	c.Cut(e.Line, to, sessionfile.WhyRolledBack)
}
