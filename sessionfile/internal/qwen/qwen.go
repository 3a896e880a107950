// Package qwen reads the sessions of Qwen Code: JSON lines that form a tree, whose
// messages are written in the shape of Gemini whatever the client sent. The package
// comment of sessionfile says what is made of them. It is for sessionfile/formats only.
package qwen

import (
	"cmp"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// qwen reads one session, line by line.
type qwen struct {
	*build.Trail
	side build.Asides
	last string // id of the newest line
}

// Reader returns the reader of Qwen Code's session files.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatQwen}, Line: detect, Read: readFile}
}

// dialects are those of the ways to sign in that the client reports with each reply.
var dialects = map[string]llm.Dialect{
	"openai": openai.DialectChat, "qwen-oauth": openai.DialectChat, "anthropic": anthropic.Dialect,
	"gemini": gemini.Dialect, "gemini-api-key": gemini.Dialect, "vertex-ai": gemini.Dialect, "oauth-personal": gemini.Dialect,
}

// detect tells a line by what it calls its content: Claude Code, whose lines have the
// same ids, has no parts and no systemPayload.
func detect(f read.Fields) sessionfile.Format {
	if !f.Has("uuid", "parentUuid", "sessionId", "type") {
		return ""
	}
	switch f.Str("type") {
	case "user", "assistant", "tool_result":
		if f.Of("message").Has("parts") {
			return sessionfile.FormatQwen
		}
	case "system":
		if f.Has("subtype", "systemPayload") {
			return sessionfile.FormatQwen
		}
	}
	return ""
}

// readFile reads a session.
func readFile(r *read.Reading, in *read.Input) error {
	q := &qwen{Trail: build.NewTrail(r)}
	r.Session.Client, r.Session.Dialect = "qwen-code", openai.DialectChat
	in.Each(r, q.line)
	q.Finish()
	return nil
}

// line takes in one line.
func (q *qwen) line(l read.Line) {
	b, ok := q.Object(l)
	if !ok {
		return
	}
	f := read.FieldsOf(b)
	if id := q.Name(f["sessionId"]); id != "" {
		q.Session.ID = id
	}
	if v := q.Name(f["version"]); v != "" {
		q.Session.ClientVersion = v
	}
	if read.IsTrue(f["isSidechain"]) {
		q.aside(l.No, f)
		return
	}
	id := f.Str("uuid")
	if f.Has("parentUuid") && (id == "" || id != q.last) { // a line may come in several pieces
		q.Follow(l.No, f.Str("parentUuid"))
	}
	q.last = id
	at := sessionfile.Entry{Line: l.No, Time: q.Time(l.No, f["timestamp"])}
	switch f.Str("type") {
	case "system":
		q.system(id, f, at)
	case "assistant":
		q.Add(id, q.reply(f, at))
	case "user", "tool_result":
		q.Add(id, q.said(f, at)...)
	default:
		q.Add(id)
	}
}

// aside lists what sub-agents said, and their calls. A reply may come in several pieces, the
// last of which with a report has the usage.
func (q *qwen) aside(no int, f read.Fields) {
	q.side.Line(q.Session, no, "")
	if f.Str("type") != "assistant" {
		return
	}
	step := q.step(f, sessionfile.Entry{Line: no, Time: q.Time(no, f["timestamp"])})
	switch known := q.side.Known(q.Session, f.Str("uuid")); {
	case known == nil:
		q.side.Call(q.Session, f.Str("uuid"), *step)
	case step.Reported:
		*known = *step
	}
}

// parts returns the parts of a message as the client sent them.
func (q *qwen) parts(no int, message read.Fields, user bool) []llm.Part {
	parts, err := build.GeminiParts(q.Keep(no, message["parts"]), user)
	if err != nil {
		q.Problem(no, "content, skipped: %v", err)
		return nil
	}
	if q.Session.Dialect == gemini.Dialect {
		return parts
	}
	parts = build.Bare(parts)
	if q.Session.Dialect == anthropic.Dialect {
		return parts
	}
	for i, p := range parts {
		if t, ok := p.(llm.Thinking); ok {
			t.Signature = ""
			parts[i] = t
		}
	}
	return parts
}

// reply takes in what the model wrote.
func (q *qwen) reply(f read.Fields, e sessionfile.Entry) sessionfile.Entry {
	e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: q.Session.Dialect, Parts: q.parts(e.Line, f.Of("message"), false)}
	e.Step = q.step(f, e)
	if w := gjson.ParseBytes(f["contextWindowSize"]); w.Type == gjson.Number && w.Int() > 0 {
		q.Segment.Window = int(w.Int())
	}
	return e
}

// step returns what a line says about the call of its reply.
func (q *qwen) step(f read.Fields, e sessionfile.Entry) *sessionfile.Step {
	step := &sessionfile.Step{Model: q.Name(f["model"]), Time: e.Time, Usage: q.usage(e.Line, f["usageMetadata"])}
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}

// usage reads a report into disjoint parts: cached tokens are a share of the prompt.
// Whether thoughts are a share of the output depends on the provider; the total
// tells.
func (q *qwen) usage(no int, value []byte) llm.Usage {
	report := gjson.ParseBytes(value)
	prompt, cached := q.Tokens(no, report, "promptTokenCount"), q.Tokens(no, report, "cachedContentTokenCount")
	output, thoughts := q.Tokens(no, report, "candidatesTokenCount"), q.Tokens(no, report, "thoughtsTokenCount")
	if cached > prompt {
		q.Problem(no, "usage: %d cached of %d prompt tokens, taken as all", cached, prompt)
		cached = prompt
	}
	if q.Tokens(no, report, "totalTokenCount") == prompt+output+thoughts {
		output += thoughts
	}
	return llm.Usage{Input: prompt - cached, CacheRead: cached, Output: output, Reasoning: min(output, thoughts)}
}

// said takes in a line of the user's side: its results as one message, the rest as
// another.
func (q *qwen) said(f read.Fields, at sessionfile.Entry) []sessionfile.Entry {
	results, rest := build.Results(q.parts(at.Line, f.Of("message"), true))
	status := f.Of("toolCallResult").Str("status")
	for i, p := range results {
		if r, ok := p.(llm.ToolResult); ok && status == "error" {
			r.IsError = true
			results[i] = r
		}
	}
	dialect := q.Session.Dialect
	if dialect != gemini.Dialect {
		dialect = ""
	}
	said, ran := at, at
	ran.Message = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: dialect}
	said.Message = read.UserMessage(rest, dialect)
	if from := f.Str("provenance"); f.Str("subtype") != "" || from != "" && from != "real_user" { // a notification, or a prompt that a timer sent
		said.Message = build.Note(0, rest...)
		said.Message.Dialect = dialect
	}
	return []sessionfile.Entry{ran, said}
}

// system takes in a line about the session. Most are for the screen.
func (q *qwen) system(id string, f read.Fields, at sessionfile.Entry) {
	payload := f.Of("systemPayload")
	switch f.Str("subtype") {
	case "chat_compression":
		q.compression(id, payload, at)
		return
	case "ui_telemetry":
		if d, ok := dialects[payload.Of("uiEvent").Str("auth_type")]; ok {
			q.Session.Dialect = d
		}
		q.failed(payload.Of("uiEvent"), at)
	}
	q.Add(id)
}

// failed notes what the client counts as a failed call.
func (q *qwen) failed(event read.Fields, at sessionfile.Entry) {
	if event.Str("event.name") != "qwen-code.api_error" {
		return
	}
	o := read.Outcome{Line: at.Line, Time: at.Time, Words: cmp.Or(event.Str("error_message"), event.Str("error"), event.Str("error.message")), Code: event.Str("error_type")}
	for _, name := range []string{"status_code", "http.status_code"} {
		if n, err := strconv.Atoi(cmp.Or(event.Str(name), string(event[name]))); err == nil {
			o.Status = n
		}
	}
	q.Fail(o)
}

// compression begins a new segment with the history that the client made.
func (q *qwen) compression(id string, payload read.Fields, at sessionfile.Entry) {
	history, ok := payload["compressedHistory"]
	if !ok || len(history) == 0 || history[0] != '[' {
		q.Problem(at.Line, "compaction: what it kept is not in the file")
	}
	var head []sessionfile.Entry
	read.EachElement(history, func(content []byte) bool {
		f := read.FieldsOf(content)
		user := f.Str("role") != "model"
		results, rest := build.Results(q.parts(at.Line, f, user))
		if len(results) > 0 {
			e := at
			e.Message = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results}
			head = append(head, e)
		}
		if len(rest) == 0 {
			return true
		}
		e := at
		e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: q.Session.Dialect, Parts: rest}
		if user {
			e.Message = read.UserMessage(rest, "")
		}
		if user && len(head) == 0 {
			e.Message = build.Note(llm.FlagSummary, rest...)
		}
		head = append(head, e)
		return len(head) < read.MaxRepeated
	})
	if !q.Repeat(at.Line, len(head)) {
		head = nil
	}
	q.Compact(at.Line, id, q.Len(), head...)
	if len(head) == 0 {
		q.Segment.NotRun = "the file does not say what the compaction kept"
	}
}
