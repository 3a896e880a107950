// Package pi reads the sessions of the pi coding agent: JSON lines, in a row (version 1)
// or as a tree (from version 2 on). The package comment of sessionfile says what is made
// of them. It is for sessionfile/formats only.
package pi

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// pi reads one session, line by line.
type pi struct {
	*build.Trail
	effort string
	began  int64 // when the file was, in Unix milliseconds; what is older was copied from the parent
	count  int   // JSON objects so far; firstKeptEntryIndex counts them from 0
	places []place
}

// A place says which line of the path the object with a number of the file is. Only
// version 1, whose entries have no ids, needs it.
type place struct{ number, node int }

// Reader returns the reader of pi's session files.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatPi}, Line: detect, Read: readFile}
}

// dialects are those of the APIs that pi names. Others are taken to be Chat.
var dialects = map[string]llm.Dialect{
	"anthropic-messages": anthropic.Dialect,
	"openai-responses":   openai.DialectResponses, "azure-openai-responses": openai.DialectResponses, "openai-codex-responses": openai.DialectResponses,
	"google-generative-ai": gemini.Dialect, "google-gemini-cli": gemini.Dialect, "google-vertex": gemini.Dialect,
}

// detect tells the head of a session by its folder and its id, and a message by its role
// and its own time.
func detect(f read.Fields) sessionfile.Format {
	switch f.Str("type") {
	case "session":
		if f.Has("id", "cwd", "timestamp") {
			return sessionfile.FormatPi
		}
	case "message":
		m := f.Of("message")
		if m.Has("role", "timestamp") && (m.Has("api", "provider", "model", "usage") || m.Has("toolCallId", "toolName")) {
			return sessionfile.FormatPi
		}
	}
	return ""
}

// readFile reads a session.
func readFile(r *read.Reading, in *read.Input) error {
	p := &pi{Trail: build.NewTrail(r)}
	r.Session.Client, r.Session.Dialect = "pi", openai.DialectChat
	in.Each(r, p.line)
	p.Finish()
	return nil
}

// line takes in one line.
func (p *pi) line(l read.Line) {
	b, ok := p.Object(l)
	if !ok {
		return
	}
	p.count++
	f := read.FieldsOf(b)
	kind := f.Str("type")
	if kind == "session" {
		p.head(f)
		return
	}
	id := f.Str("id")
	if f.Has("parentId") {
		p.Follow(l.No, f.Str("parentId"))
	}
	if id == "" {
		p.places = append(p.places, place{p.count - 1, p.Len()})
	}
	e := sessionfile.Entry{Line: l.No, Time: p.Time(l.No, f["timestamp"])}
	switch kind {
	case "message":
		p.message(id, f, e)
		return
	case "compaction":
		p.compaction(id, f, e)
		return
	case "thinking_level_change":
		p.level(f)
	case "custom_message":
		e.Message = build.Note(0, content(f["content"])...)
	case "branch_summary":
		if s := f.Str("summary"); s != "" {
			e.Message = build.Note(llm.FlagSummary, llm.Text{Text: s})
		}
	}
	p.Add(id, e)
}

// head takes in the first line.
func (p *pi) head(f read.Fields) {
	if p.Session.ID != "" {
		return
	}
	p.Session.ID, p.began = f.Str("id"), read.Time(f["timestamp"])
	p.level(f)
	for _, name := range []string{"parentSession", "branchedFrom"} {
		if file := f.Str(name); file != "" && p.Session.Parent == "" {
			base := strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".jsonl")
			_, id, ok := strings.Cut(base, "_")
			if !ok {
				id = base
			}
			p.Session.Parent, p.Session.Kin = id, sessionfile.KinFork
		}
	}
}

// level takes in how much the model is to think.
func (p *pi) level(f read.Fields) {
	if p.effort = p.Name(f["thinkingLevel"]); p.effort == "off" {
		p.effort = ""
	}
}

// message takes in one message of the conversation.
func (p *pi) message(id string, f read.Fields, e sessionfile.Entry) {
	m := read.FieldsOf(p.Keep(e.Line, f["message"]))
	switch m.Str("role") {
	case "user":
		e.Message = read.UserMessage(content(m["content"]), "")
		e.Message.Dialect = build.Dialect("", e.Message.Parts)
	case "assistant":
		p.reply(id, m, e)
		return
	case "toolResult":
		e.Message = build.Result(p.callID(m.Str("toolCallId")), read.IsTrue(m["isError"]), content(m["content"])...)
	case "bashExecution":
		if !read.IsTrue(m["excludeFromContext"]) {
			e.Message = build.Note(0, llm.Text{Text: execution(m)})
		}
	case "custom", "hookMessage":
		e.Message = build.Note(0, content(m["content"])...)
	case "branchSummary", "compactionSummary":
		e.Message = build.Note(llm.FlagSummary, llm.Text{Text: m.Str("summary")})
	case "system":
		p.system(m)
	default:
		p.Problem(e.Line, "a message of the role %.40q, skipped", m.Str("role"))
	}
	p.Add(id, e)
}

// system takes in a system prompt, which versions from 1 on write: a text, or sections by
// their names, and the tools. A later one changes what it names.
func (p *pi) system(m read.Fields) {
	sections := slices.Clone(p.Segment.Sections)
	set := func(name, text string) {
		i := slices.IndexFunc(sections, func(s llm.Section) bool { return s.Name == name })
		switch {
		case i >= 0 && text == "":
			sections = slices.Delete(sections, i, i+1)
		case i >= 0:
			sections[i].Text = text
		case text != "":
			sections = append(sections, llm.Section{Name: name, Text: text, Cacheable: true})
		}
	}
	for _, part := range content(m["content"]) {
		if t, ok := part.(llm.Text); ok {
			set("system", t.Text)
		}
	}
	if named := m["sections"]; len(named) > 0 && named[0] == '{' {
		read.EachField(named, func(key, value []byte) { set(string(key), read.Str(value)) })
	}
	tools := slices.Clone(p.Segment.Tools)
	drop := func(name string) {
		tools = slices.DeleteFunc(tools, func(t llm.Tool) bool { return t.Name == name })
	}
	read.EachElement(m["toolsRemoved"], func(value []byte) bool {
		drop(read.Str(value))
		return true
	})
	read.EachElement(m["toolsAdded"], func(value []byte) bool {
		f := read.FieldsOf(value)
		drop(f.Str("name"))
		tools = append(tools, llm.Tool{Name: f.Str("name"), Description: f.Str("description"), Schema: string(f["parameters"])})
		return true
	})
	p.Segment.Sections, p.Segment.Tools = sections, tools
}

// execution returns what the model sees of a command that the person ran: the command
// and its output, around which the client says what they are.
func execution(m read.Fields) string { return m.Str("command") + "\n" + m.Str("output") }

// reply takes in what the model wrote. The client does not send replies again that
// failed or were cut off.
func (p *pi) reply(id string, m read.Fields, e sessionfile.Entry) {
	stop := m.Str("stopReason")
	if stop == "aborted" || stop == "error" {
		p.Fail(read.Outcome{Line: e.Line, Time: e.Time, Words: cmp.Or(m.Str("errorMessage"), stop), Stopped: stop == "aborted"})
		left := sessionfile.Branch{First: e.Line, Last: e.Line, Messages: 1, Why: build.WhyCutOff}
		if step := p.step(m, e); step.Reported || step.Cost > 0 {
			step.OutputReported = false
			left.Calls = []sessionfile.Step{*step}
		}
		p.Session.Abandoned = append(p.Session.Abandoned, left)
		p.Add(id)
		return
	}
	dialect, ok := dialects[m.Str("api")]
	if !ok {
		dialect = openai.DialectChat
	}
	p.Session.Dialect = dialect
	e.Step = p.step(m, e)
	e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: dialect, Parts: p.blocks(e.Line, m["content"], dialect)}
	p.Add(id, e)
}

// step returns what a reply says about its call.
func (p *pi) step(m read.Fields, e sessionfile.Entry) *sessionfile.Step {
	step := &sessionfile.Step{Model: p.Name(m["model"]), Effort: p.effort, Time: e.Time, MessageID: m.Str("responseId")}
	if e.Time > 0 && e.Time < p.began {
		step.Copied = p.Session.Parent
	}
	step.Usage, step.Cost = p.usage(e.Line, m["usage"])
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}

// usage reads a report, whose figures are disjoint, and the cost of the call.
func (p *pi) usage(no int, value []byte) (llm.Usage, int64) {
	report := gjson.ParseBytes(value)
	return llm.Usage{
		Input:        p.Tokens(no, report, "input"),
		CacheRead:    p.Tokens(no, report, "cacheRead"),
		CacheWrite5m: p.Tokens(no, report, "cacheWrite"),
		Output:       p.Tokens(no, report, "output"),
		Reasoning:    min(p.Tokens(no, report, "output"), p.Tokens(no, report, "reasoning")),
	}, build.Cost([]byte(report.Get("cost.total").Raw))
}

// compaction begins a new segment: the summary, then what was kept.
func (p *pi) compaction(id string, f read.Fields, e sessionfile.Entry) {
	first, found := p.Len(), false
	if key := f.Str("firstKeptEntryId"); key != "" {
		if i, ok := p.Find(key); ok {
			first, found = i, true
		}
	} else if number := gjson.ParseBytes(f["firstKeptEntryIndex"]); number.Type == gjson.Number {
		first, found = p.number(int(number.Int()))
	}
	switch {
	case found:
	case first < p.Len():
		p.Problem(e.Line, "compaction: the first message that it kept is not in this part of the conversation, only those behind it")
	default:
		p.Problem(e.Line, "compaction: the messages that it kept are not in this part of the conversation")
	}
	e.Message = build.Note(llm.FlagSummary, llm.Text{Text: f.Str("summary")})
	p.Compact(e.Line, id, first, e)
	places := p.places[:0]
	for _, at := range p.places {
		if at.node >= first {
			places = append(places, place{at.number, at.node - first})
		}
	}
	p.places = places
	if p.Segment.NotRun != "" {
		p.places = nil
	}
}

// number returns the position on the path of the object with a number of the file. If it
// is not on the path, the first one behind it stands in.
func (p *pi) number(number int) (node int, found bool) {
	for _, at := range p.places {
		if at.number >= number && at.node < p.Len() {
			return at.node, at.number == number
		}
	}
	return p.Len(), number == p.count-1 // nothing is kept
}
