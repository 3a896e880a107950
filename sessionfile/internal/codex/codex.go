// Package codex reads the rollouts of the Codex command line: JSON lines. The
// package comment of sessionfile says what is made of them. It is for
// sessionfile/formats only.
package codex

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// codex reads a Codex rollout, line by line.
type codex struct {
	*read.Reading
	segment sessionfile.Segment
	entries []sessionfile.Entry // of the segment being built, before pairing
	abandon []sessionfile.Branch
	time    int64 // of the line, in Unix milliseconds; 0 unknown

	reply  int // position in entries of the reply that items are added to, or none
	unpaid int // position of the newest reply without usage, or none

	begun   bool          // a conversation item was read
	spawned bool          // the session is a sub-agent's
	origin  origin        // tells what it began with from its own
	totals  totals        // what the file states of its sum
	tiers   tiers         // at which prices calls are made
	told    bool          // a tier without list prices was reported
	model   string        // of the turn
	effort  string        // of the turn
	base    []llm.Section // the client's instructions
	total   string        // the running total last reported
	ahead   bool          // usage stands before the items of its reply (0.39)
	pending *llm.Usage    // with ahead: of the reply that comes next
}

// none is no position.
const none = -1

// Reader returns the reader of Codex rollouts.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatCodex}, Line: detect, Read: readFile}
}

var lineTypes = map[string]bool{
	"session_meta": true, "turn_context": true, "response_item": true, "event_msg": true, "compacted": true,
}

// detect tells a line of a rollout by its type and its payload.
func detect(f read.Fields) sessionfile.Format {
	if f.Has("payload") && lineTypes[f.Str("type")] || isEvent(f) {
		return sessionfile.FormatCodex
	}
	return ""
}

// readFile reads a rollout.
func readFile(r *read.Reading, in *read.Input) error {
	c := &codex{Reading: r, segment: sessionfile.Segment{Start: sessionfile.StartRoot}, reply: none, unpaid: none}
	r.Session.Client = "codex"
	r.Session.Dialect = openai.DialectResponses
	x := newExec(r)
	in.Each(r, func(l read.Line) {
		b, ok := r.Object(l)
		if ok && !c.line(l.No, b) && !x.event(l.No, read.FieldsOf(b)) {
			r.Problem(l.No, "a line without a payload, skipped")
		}
	})
	x.finish()
	c.finish()
	r.Session.Abandoned = c.abandon
	r.Session.Stated = append(r.Session.Stated, c.totals.stated(r.Emitted())...)
	return nil
}

// line takes in one line of a rollout. It reports false if it has no payload.
func (c *codex) line(no int, b []byte) bool {
	var kind, payload []byte
	c.time = 0
	read.EachField(b, func(key, value []byte) {
		switch string(key) {
		case "type":
			kind = value
		case "timestamp":
			c.time = c.Time(no, value)
		case "payload":
			payload = value
		}
	})
	if len(payload) == 0 || payload[0] != '{' {
		return false
	}
	switch string(kind) {
	case `"session_meta"`:
		c.meta(payload)
	case `"turn_context"`:
		c.turn(payload)
	case `"response_item"`:
		c.item(no, c.Keep(no, payload))
	case `"event_msg"`:
		c.event(no, payload)
	case `"compacted"`:
		c.compacted(no, payload)
	}
	if c.time > 0 {
		c.origin.last = c.time
	}
	return true
}

// meta takes in the head of the file, the first one. A session that began with a copy of
// others has theirs behind it.
func (c *codex) meta(payload []byte) {
	data := gjson.ParseBytes(payload)
	id, start := data.Get("id").String(), read.Time([]byte(data.Get("timestamp").Raw))
	if c.Session.ID != "" {
		if id != "" && id != c.Session.ID {
			c.ancestor(id, start)
		}
		return
	}
	c.Session.ID = id
	c.Session.ClientVersion = data.Get("cli_version").String()
	c.origin.start = start
	c.origin.forked = data.Get("forked_from_id").String() != ""
	c.spawned = data.Get("source.subagent").Exists()
	for _, path := range []string{"source.subagent.thread_spawn.parent_thread_id", "parent_thread_id", "forked_from_id"} {
		c.parent(data.Get(path).String())
	}
	text := data.Get("base_instructions.text")
	if text.Type == gjson.String && text.String() != "" {
		c.base = []llm.Section{{Name: "base_instructions", Text: text.String(), Cacheable: true}}
		c.segment.Sections = c.base
	}
}

// turn takes in what is set for the calls that follow.
func (c *codex) turn(payload []byte) {
	c.effort, c.tiers.turn = "", ""
	read.EachField(payload, func(key, value []byte) {
		switch string(key) {
		case "model":
			if m := c.Name(value); m != "" {
				c.model = m
			}
		case "effort":
			c.effort = c.Name(value)
		case "turn_id":
			c.origin.turn = born(read.Str(value))
		case "service_tier":
			c.tiers.turn = c.Name(value)
		}
	})
}

// item takes in one item of the conversation. The bytes are its own.
func (c *codex) item(no int, raw []byte) {
	copied := c.copied()
	time := c.written(copied)
	m, ok := c.message(no, raw)
	if !ok {
		return
	}
	assistant := m.Role == llm.RoleAssistant && m.Origin == llm.Model
	if !c.begun && (assistant || m.Role == llm.RoleTool) && c.segment.Start == sessionfile.StartRoot {
		c.segment.Start = sessionfile.StartResumed
		c.Problem(no, "the first item answers something that is not in the file, so the conversation began before it")
	}
	c.begun = true
	if !assistant {
		c.reply = none
		c.entries = append(c.entries, sessionfile.Entry{Message: m, Line: no, Time: time})
		return
	}
	if c.reply == none {
		c.open(no, m, time)
		if copied {
			c.entries[c.reply].Step.Copied = c.owner(c.time)
		}
		return
	}
	reply := &c.entries[c.reply]
	reply.Step.Time = max(reply.Step.Time, time)
	reply.Message.Parts = append(reply.Message.Parts, m.Parts...)
}

// open starts a new reply.
func (c *codex) open(no int, m llm.Message, time int64) {
	step := &sessionfile.Step{Model: c.model, Effort: c.effort, Time: time, Unpriced: c.priced(no)}
	c.reply = len(c.entries)
	c.unpaid = c.reply
	c.entries = append(c.entries, sessionfile.Entry{Message: m, Line: no, Time: time, Step: step})
	if c.pending != nil {
		c.pay(*c.pending)
		c.pending = nil
	}
}

// pay gives the newest reply its usage.
func (c *codex) pay(u llm.Usage) {
	step := c.entries[c.unpaid].Step
	step.Usage = u
	step.Reported = u.Prompt() > 0
	step.OutputReported = step.Reported && u.Output > 0
	c.unpaid = none
}

// message decodes an item. It reports false if there is nothing to keep.
func (c *codex) message(no int, raw []byte) (llm.Message, bool) {
	m, err := openai.DecodeItemMessage(raw)
	if err != nil {
		c.Problem(no, "item, skipped: %v", err)
		return llm.Message{}, false
	}
	switch {
	case m.Role == llm.RoleUser && c.spawned && c.origin.own:
		m.Origin = llm.Note // the session that started this one wrote it
	case isCompaction(m.Parts):
		// It stands for what was before. It keeps the assistant's role, in which it
		// goes back as the item that it is.
		m.Origin = llm.Note
		m.Flags |= llm.FlagSummary
	}
	if m.Origin == llm.Note {
		m.Flags |= wire.RulesIn(m.Parts)
	}
	return m, len(m.Parts) > 0
}

// isCompaction reports whether a message is the encrypted summary of a compaction.
func isCompaction(parts []llm.Part) bool {
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(llm.Opaque)
	return ok && strings.Contains(p.Kind, "compaction")
}

// event takes in what an event says about calls and windows. Most events repeat
// for the screen what the items say.
func (c *codex) event(no int, payload []byte) {
	var kind []byte
	read.EachField(payload, func(key, value []byte) {
		if string(key) == "type" {
			kind = value
		}
	})
	switch string(kind) {
	case `"token_count"`:
		c.tokenCount(no, gjson.GetBytes(payload, "info"))
	case `"task_started"`, `"turn_started"`:
		if w := c.Tokens(no, gjson.ParseBytes(payload), "model_context_window"); w > 0 {
			c.segment.Window = w
		}
	case `"error"`, `"stream_error"`, `"turn_aborted"`:
		c.failed(no, read.FieldsOf(payload))
	case `"thread_settings_applied"`:
		c.settings(payload)
	case `"thread_rolled_back"`:
		c.rollback(no, c.Tokens(no, gjson.ParseBytes(payload), "num_turns"))
	}
}

// tokenCount takes in a usage report. The package comment says to which reply it
// belongs.
func (c *codex) tokenCount(no int, info gjson.Result) {
	if !info.IsObject() {
		return
	}
	if w := c.Tokens(no, info, "model_context_window"); w > 0 {
		c.segment.Window = w
	}
	total := info.Get("total_token_usage").Raw
	first := c.total == ""
	if total == "" || total == c.total {
		return // the same call again
	}
	c.total = strings.Clone(total) // else it holds the whole line
	u := c.usage(no, info.Get("last_token_usage"))
	alone := total == info.Get("last_token_usage").Raw
	if first && !c.answered() && alone {
		c.ahead = true
	}
	c.running(no, info.Get("total_token_usage"), alone)
	switch {
	case c.ahead:
		c.reply = none // the next items are those of this call
		c.pending = &u
	case c.unpaid != none:
		c.pay(u)
		c.reply = none
	}
}

// answered reports whether the session has a reply yet.
func (c *codex) answered() bool {
	return c.Emitted() > 0 || slices.ContainsFunc(c.entries, func(e sessionfile.Entry) bool { return e.Step != nil })
}

// usage reads an OpenAI usage report into disjoint parts: there, cached tokens
// are a share of the input.
func (c *codex) usage(no int, report gjson.Result) llm.Usage {
	input := c.Tokens(no, report, "input_tokens")
	cached := c.Tokens(no, report, "cached_input_tokens")
	if cached > input {
		c.Problem(no, "usage: %d cached of %d input tokens, taken as all", cached, input)
		cached = input
	}
	written := min(c.Tokens(no, report, "cache_write_input_tokens"), input-cached)
	u := llm.Usage{
		Input: input - cached - written, CacheRead: cached, CacheWrite5m: written, Output: c.Tokens(no, report, "output_tokens"),
	}
	u.Reasoning = min(u.Output, c.Tokens(no, report, "reasoning_output_tokens"))
	return u
}

// finish closes the segment being built.
func (c *codex) finish() {
	c.segment.Entries = c.entries
	c.Emit(c.segment)
	c.reply, c.unpaid, c.pending = none, none, nil
}

// compacted starts a new segment with the history that the client kept.
func (c *codex) compacted(no int, payload []byte) {
	c.finish()
	c.segment = sessionfile.Segment{Start: sessionfile.StartCompaction, Sections: c.base, Window: c.segment.Window}
	c.entries = nil
	c.begun = true
	time := c.written(c.copied())
	data := gjson.ParseBytes(payload)
	history, message := data.Get("replacement_history"), data.Get("message").String()
	summarised := false
	for _, item := range history.Array() {
		m, ok := c.message(no, c.Keep(no, []byte(item.Raw)))
		if !ok {
			continue
		}
		summarised = summarised || m.Flags.Has(llm.FlagSummary)
		last := len(c.entries) - 1
		if m.Origin == llm.Model && last >= 0 && c.entries[last].Message.Origin == llm.Model {
			c.entries[last].Message.Parts = append(c.entries[last].Message.Parts, m.Parts...)
			continue
		}
		c.entries = append(c.entries, sessionfile.Entry{Message: m, Line: no, Time: time})
	}
	if message != "" {
		summarised = true
		c.entries = append(c.entries, sessionfile.Entry{Line: no, Time: time, Message: llm.Message{
			Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: message}},
		}})
	}
	switch {
	case !history.IsArray() && message == "":
		c.segment.NotRun = "the file does not say what the compaction kept"
	case !history.IsArray():
		c.Problem(no, "compaction: only the summary is in the file, not which messages were kept beside it")
	case !summarised:
		c.Problem(no, "compaction: the summary is not in the file, only the messages kept beside it")
	}
}

// rollback starts a new segment without the last Turns.
func (c *codex) rollback(no, turns int) {
	if turns == 0 {
		return
	}
	cut := len(c.entries)
	for turns > 0 && cut > 0 {
		cut--
		if c.entries[cut].Message.Origin == llm.Human {
			turns--
		}
	}
	if turns > 0 {
		c.Problem(no, "rollback: %d of the Turns taken back are not in this segment", turns)
	}
	whole := c.Repeat(no, cut)
	var prefix []sessionfile.Entry
	if whole {
		for _, e := range c.entries[:cut] {
			e.Step = nil
			prefix = append(prefix, e)
		}
	}
	if cut < len(c.entries) {
		c.abandon = append(c.abandon, sessionfile.Branch{
			First: c.entries[cut].Line, Last: no, Messages: len(c.entries) - cut, Why: sessionfile.WhyRolledBack,
		})
	}
	c.finish()
	c.segment.Start = sessionfile.StartRollback
	if !whole {
		c.segment.NotRun = read.TooMuch
	}
	c.entries = prefix
}
