package claudecode

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	shared "github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// isEvent reports whether an object is one that only the stream has.
func isEvent(f read.Fields) bool {
	if !f.Has("session_id") || f.Has("sessionId") {
		return false
	}
	switch f.Str("type") {
	case "system":
		return f.Str("subtype") == "init"
	case "user", "assistant":
		return f.Has("message", "parent_tool_use_id")
	case "result":
		return f.Has("subtype", "num_turns")
	}
	return false
}

// document tells the stream as an array.
func document(d *read.Document) sessionfile.Format {
	if isEvent(d.First()) {
		return sessionfile.FormatClaudeCode
	}
	return ""
}

// A stream reads what the client writes to standard output, as lines or as one array: its
// messages, and a line of sums at the end of each run. A line names no parent: each
// continues the one before. What the client was asked is not in it, unless it was told to
// repeat that. Another session id begins another conversation, or goes on with one before it.
type stream struct {
	*read.Reading
	*thread
	all  []*thread
	byID map[string]*thread // but for one without an id
	seen map[string]bool    // ids of lines
	told map[string]bool    // reasons against list prices
	side shared.Asides
}

// A thread is what the runs of one session id hold.
type thread struct {
	id      string
	done    []sessionfile.Segment // before the one that goes on
	segment sessionfile.Segment
	replies map[string]int // positions of the replies in the segment by message.id
	runs    runs
}

func newThread(id string) *thread {
	return &thread{id: id, segment: sessionfile.Segment{Start: sessionfile.StartRoot}, replies: map[string]int{}}
}

// readStream reads a stream. It reports false if the file is none.
func readStream(r *read.Reading, in *read.Input) (bool, error) {
	first := newThread("")
	s := &stream{Reading: r, thread: first, all: []*thread{first}, byID: map[string]*thread{}, seen: map[string]bool{}, told: map[string]bool{}}
	switch kind, err := streamKind(in); {
	case err != nil:
		return true, err
	case kind == noStream:
		return false, nil
	case kind == asArray:
		d, err := in.Document()
		if err != nil {
			return true, r.NotFormat(err)
		}
		read.EachElement(d.Bytes, func(value []byte) bool {
			s.event(d.Line(value), read.FieldsOf(value))
			return !r.Stopped()
		})
	default:
		in.Each(r, func(l read.Line) {
			if b, ok := r.Object(l); ok {
				s.event(l.No, read.FieldsOf(b))
			}
		})
	}
	s.finish()
	r.Session.Client, r.Session.Dialect = "claude-code", anthropic.Dialect
	return true, nil
}

// The forms of a file.
const (
	noStream = iota
	asArray
	asLines
)

// streamKind looks at the front of a file.
func streamKind(in *read.Input) (kind int, err error) {
	head, err := in.Head(1 << 10)
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) || err != nil {
		return asArray, err
	}
	peek := read.NewReading("", "", func(sessionfile.Segment) bool { return false })
	in.Peek(peek, func(l read.Line) {
		b, ok := peek.Object(l)
		if !ok {
			return
		}
		f := read.FieldsOf(b)
		if isEvent(f) {
			kind = asLines
		}
		if kind == asLines || detect(f) != "" {
			peek.Stop()
		}
	})
	return kind, nil
}

// event takes in one object.
func (s *stream) event(no int, f read.Fields) {
	if id := f.Str("session_id"); id != "" && id != s.id {
		s.begin(id)
	}
	if uuid := f.Str("uuid"); uuid != "" {
		if s.seen[uuid] {
			return // a line that was repeated
		}
		s.seen[uuid] = true
	}
	if agent := read.Str(f["parent_tool_use_id"]); agent != "" {
		s.aside(no, f, agent)
		return
	}
	switch f.Str("type") {
	case "system":
		s.system(f)
	case "assistant":
		s.reply(no, f)
	case "user":
		s.user(no, f)
	case "result":
		s.runs.add(s.Reading, no, f)
	}
}

// begin begins another conversation, or goes on with one that was begun.
func (s *stream) begin(id string) {
	s.Session.ID = cmp.Or(s.Session.ID, id)
	if s.id == "" {
		s.id, s.byID[id] = id, s.thread
	}
	if before, ok := s.byID[id]; ok {
		if before != s.thread {
			before.runs.anew = true
		}
		s.thread = before
		return
	}
	s.thread = newThread(id)
	s.all = append(s.all, s.thread)
	s.byID[id] = s.thread
}

// finish hands over the conversations. They get names if the file holds several.
func (s *stream) finish() {
	full := 0
	for _, c := range s.all {
		if len(c.done) == 0 {
			c.runs.settle(c.segment)
		}
		if c.cut(); len(c.done) > 0 {
			full++
		}
	}
	for _, c := range s.all {
		from := s.Emitted()
		for _, segment := range c.done {
			if full > 1 {
				segment.Name = c.id
			}
			s.Emit(segment)
		}
		if c.runs.n > 0 && from == s.Emitted() {
			s.Problem(c.runs.line, "only the result of a run is in the file, not its conversation: no call of it can be read")
		}
		s.Session.Stated = append(s.Session.Stated, c.runs.stated(from, s.Emitted())...)
	}
}

// cut ends a segment.
func (c *thread) cut() {
	for i := range c.segment.Entries {
		e := &c.segment.Entries[i]
		e.Message.Parts = read.Said(e.Message.Parts, e.Step)
	}
	if len(c.segment.Entries) > 0 || c.segment.NotRun != "" {
		c.done = append(c.done, c.segment)
	}
	c.segment = sessionfile.Segment{}
}

// system takes in the head of a run, and what the client did to its context.
func (s *stream) system(f read.Fields) {
	s.Session.ClientVersion = cmp.Or(f.Str("claude_code_version"), s.Session.ClientVersion)
	if f.Str("subtype") != "compact_boundary" {
		return
	}
	s.cut()
	s.segment = sessionfile.Segment{Start: sessionfile.StartCompaction, NotRun: "the file does not say what the compaction kept"}
	s.replies = map[string]int{}
}

// aside lists what a sub-agent said, and its calls, whose outputs no line of sums confirms.
func (s *stream) aside(no int, f read.Fields, agent string) {
	kind := f.Str("type")
	if kind != "assistant" && kind != "user" {
		return
	}
	s.side.Line(s.Session, no, agent)
	m := f.Of("message")
	model := s.Name(m["model"])
	if kind == "user" || model == syntheticModel || read.IsTrue(f["isApiErrorMessage"]) {
		return
	}
	parts, id := s.content(no, m), m.Str("id")
	if len(parts) == 0 && usage(s.Reading, no, m["usage"]).Total() == 0 {
		return
	}
	step := s.side.Known(s.Session, id)
	if step == nil {
		step = s.side.Call(s.Session, id, sessionfile.Step{Model: model, MessageID: id})
	}
	s.step(no, &sessionfile.Entry{Step: step, Message: llm.Message{Parts: parts}}, f, m["usage"])
	step.OutputReported = false
}

// content decodes the content of a message.
func (s *stream) content(no int, m read.Fields) []llm.Part {
	content := m["content"]
	if len(content) == 0 {
		s.Problem(no, "a message without content, skipped")
		return nil
	}
	parts, _, err := anthropic.DecodeContent(s.Keep(no, content))
	if err != nil {
		s.Problem(no, "content, skipped: %v", err)
		return nil
	}
	return parts
}

// reply adds a block of a reply, which goes on the one with its message.id.
func (s *stream) reply(no int, f read.Fields) {
	m, time := f.Of("message"), s.Time(no, f["timestamp"])
	parts := s.content(no, m)
	model, id := s.Name(m["model"]), m.Str("id")
	if read.IsTrue(f["isApiErrorMessage"]) || model == syntheticModel && f.Has("error") && string(f["error"]) != "null" {
		failed(s.Reading, read.Outcome{Line: no, Time: time, Words: llm.Message{Parts: parts}.Text()}, failure{f["error"], f["errorDetails"], f["apiErrorStatus"]})
		return
	}
	ofClient := model == syntheticModel
	if len(parts) == 0 && (ofClient || usage(s.Reading, no, m["usage"]).Total() == 0) {
		return
	}
	at, ok := s.replies[id]
	if !ok || id == "" {
		e := sessionfile.Entry{Line: no, Time: time, Step: &sessionfile.Step{Model: model, MessageID: id}}
		e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: anthropic.Dialect}
		if ofClient {
			e.Message.Origin, e.Message.Flags, e.Step = llm.Note, llm.FlagSynthetic, nil
		}
		at = len(s.segment.Entries)
		s.replies[id] = at
		s.segment.Entries = append(s.segment.Entries, e)
	}
	e := &s.segment.Entries[at]
	e.Message.Parts = append(e.Message.Parts, parts...)
	if e.Step != nil {
		s.step(no, e, f, m["usage"])
	}
}

// step takes over what a line says about the call of a reply.
func (s *stream) step(no int, e *sessionfile.Entry, f read.Fields, report []byte) {
	step := e.Step
	step.RequestID = cmp.Or(f.Str("request_id"), f.Str("requestId"), step.RequestID)
	step.Time = max(step.Time, s.Time(no, f["timestamp"]))
	if report == nil {
		return
	}
	step.Usage = usage(s.Reading, no, report)
	if why := unpriced(report); why != "" {
		step.Unpriced = cmp.Or(step.Unpriced, why)
		if !s.told[why] {
			s.told[why] = true
			read.Unpriced(s.Reading, no, why)
		}
	}
	step.Reported = step.Usage.Prompt() > 0 && !hosted(e.Message)
	step.OutputReported = step.Reported && read.OutputIsFinal(step.Usage.Output, e.Message.Parts)
}

// user adds a line in the user's role: its results, and the rest.
func (s *stream) user(no int, f read.Fields) {
	var results, rest []llm.Part
	for _, p := range s.content(no, f.Of("message")) {
		if _, ok := p.(llm.ToolResult); ok {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	time := s.Time(no, f["timestamp"])
	add := func(m llm.Message) {
		if len(m.Parts) > 0 {
			s.segment.Entries = append(s.segment.Entries, sessionfile.Entry{Message: m, Line: no, Time: time})
		}
	}
	add(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: anthropic.Dialect})
	m := read.UserMessage(rest, anthropic.Dialect)
	stopped(s.Reading, no, time, m)
	if read.IsTrue(f["isSynthetic"]) || read.IsTrue(f["isMeta"]) {
		m.Origin, m.Flags = llm.Note, wire.RulesIn(rest)
		if s.segment.Start == sessionfile.StartCompaction && len(s.segment.Entries) == 0 && len(rest) > 0 {
			m.Flags, s.segment.NotRun = llm.FlagSummary, ""
			s.Problem(no, "compaction: only the summary is in the file, not which messages were kept beside it")
		}
	}
	add(m)
}

// runs are the lines of sums of one conversation. What was used, and how many calls were
// made, is that of a run; its cost is that of the process so far, which may do several.
type runs struct {
	line, n int
	calls   int
	usage   llm.Usage
	cost    int64      // of the newest process
	gone    int64      // what those before it cost
	anew    bool       // another process goes on with the conversation
	models  read.Tally // what the newest one says, of the client's own calls too
}

// add takes in a line of sums.
func (t *runs) add(r *read.Reading, no int, f read.Fields) {
	t.line, t.n = no, t.n+1
	t.calls += r.Count(no, "num_turns", f["num_turns"])
	t.usage = t.usage.Add(usage(r, no, f["usage"]))
	if cost := shared.Cost(f["total_cost_usd"]); cost > 0 {
		if t.anew || cost < t.cost {
			t.gone, t.anew = t.gone+t.cost, false
		}
		t.cost = cost
	}
	t.models = read.Tally{}
	models := f["modelUsage"]
	if len(models) == 0 || models[0] != '{' {
		return
	}
	t.models.Line(no)
	read.EachField(models, func(key, value []byte) {
		m := read.FieldsOf(value)
		t.models.Add(string(key), read.Sum{Cost: shared.Cost(m["costUSD"]), Usage: llm.Usage{
			Input:        r.Count(no, "modelUsage.inputTokens", m["inputTokens"]),
			CacheRead:    r.Count(no, "modelUsage.cacheReadInputTokens", m["cacheReadInputTokens"]),
			CacheWrite5m: r.Count(no, "modelUsage.cacheCreationInputTokens", m["cacheCreationInputTokens"]),
			Output:       r.Count(no, "modelUsage.outputTokens", m["outputTokens"]),
		}})
	})
}

// settle looks at the sizes of outputs, which the stream writes before they are final: the
// only call of a conversation gets that of the run, and where several do not add up to it
// none is final. The prompts must be those of the run.
func (t *runs) settle(seg sessionfile.Segment) {
	var steps []*sessionfile.Step
	var sum llm.Usage
	for _, e := range seg.Entries {
		if e.Step != nil {
			steps, sum = append(steps, e.Step), sum.Add(e.Step.Usage)
		}
	}
	if len(steps) == 0 || t.n == 0 || t.usage.Output == sum.Output || sum.Prompt() != t.usage.Prompt() {
		return
	}
	if len(steps) == 1 && t.n == 1 {
		only := steps[0]
		only.Usage.Output, only.Usage.Reasoning = t.usage.Output, max(only.Usage.Reasoning, t.usage.Reasoning)
		only.OutputReported = only.Reported
		return
	}
	for _, step := range steps {
		step.OutputReported = false
	}
}

// stated returns what the lines say of the segments from one on and before another.
func (t *runs) stated(from, to int) []sessionfile.Stated {
	if t.n == 0 {
		return nil
	}
	what := "result line"
	if t.n > 1 {
		what = fmt.Sprintf("%d result lines", t.n)
	}
	one := sessionfile.Stated{Line: t.line, What: what, From: from, To: to, Figures: read.Figures(t.calls, t.usage)}
	if cost := t.gone + t.cost; cost > 0 {
		one.Figures = append(one.Figures, sessionfile.Figure{Name: sessionfile.FigureCost, Value: cost})
	}
	all := []sessionfile.Stated{one}
	if t.n == 1 {
		all = append(all, t.models.Stated("modelUsage", from, to)...)
	}
	return all
}
