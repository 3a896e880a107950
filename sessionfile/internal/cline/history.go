package cline

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// The files of a task in its folder.
const (
	historyName = "api_conversation_history.json"
	shownName   = "ui_messages.json"
)

// typed are the tags around what a person said. Everything else on the user's side is the
// client's: the results of tools, the state of the editor, its own instructions.
var typed = []string{"<task>", "<feedback>", "<user_message>", "<answer>"}

// A history is the file of a task's messages being read.
type history struct {
	cline
	calls   map[int]call // by the position of their reply
	models  []since
	removed span   // of the messages, from the newest requests
	at      []int  // position in the file of each entry's message
	model   string // that was named last
}

// A span is a range of positions, both included; the zero span is none, since the first
// message is never removed.
type span struct{ first, last int }

func (s span) has(i int) bool { return s.last > 0 && i >= s.first && i <= s.last }

// isHistory tells a list of messages by the tags in the first one, or by what the client
// keeps beside a message.
func isHistory(d *read.Document) bool {
	f := d.First()
	if content := f["content"]; f.Str("role") != "user" || len(content) == 0 || content[0] != '[' {
		return false
	}
	if f.Has("ts") {
		return true
	}
	found := false
	read.EachElement(f["content"], func(block []byte) bool {
		text := read.FieldsOf(block).Str("text")
		found = found || strings.HasPrefix(text, "<task>") || strings.HasPrefix(text, "<environment_details>")
		return !found
	})
	return found
}

// readHistory reads the messages of a task, and from the file beside it what each call
// took and which messages were left out of it.
func readHistory(r *read.Reading, in *read.Input, d *read.Document) {
	r.Session.Client, r.Session.Dialect = "cline", anthropic.Dialect
	nameAfterFolder(r, in)
	h := &history{cline: cline{Reading: r, doc: d, segment: sessionfile.Segment{Start: sessionfile.StartRoot}}}
	files := besideOf(r, in)
	h.calls, h.models = callsOf(r, files.shown), modelsOf(r, files.metadata)
	i := 0
	read.EachElement(d.Bytes, func(value []byte) bool {
		h.message(i, d.Line(value), read.FieldsOf(value))
		i++
		return !r.Stopped()
	})
	h.unanswered(i)
	if files.shown != nil {
		read.EachElement(files.shown.Bytes, func(value []byte) bool {
			failed(r, 0, read.FieldsOf(value))
			return true
		})
	}
	h.finish()
}

// unanswered takes in calls that were paid for and whose replies are not among the n
// messages, such as one that was stopped.
func (h *history) unanswered(n int) {
	for _, i := range slices.Sorted(maps.Keys(h.calls)) {
		c := h.calls[i]
		switch {
		case c.usage.Total() == 0:
		case i < n:
			h.Problem(1, "a call of %d tokens in and %d out, whose reply is not message %d of the history, left out", c.usage.Prompt(), c.usage.Output, i)
		default:
			e := sessionfile.Entry{Time: c.time, Step: h.step(1, nil, 0, c)}
			e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: sessionfile.NotInFile("a reply")}}}
			h.put(i, e)
		}
	}
}

// nameAfterFolder gives a task the id that its folder has.
func nameAfterFolder(r *read.Reading, in *read.Input) {
	if name := filepath.Base(in.Path); name == historyName || name == shownName {
		if full, err := filepath.Abs(in.Path); err == nil {
			r.Session.ID = filepath.Base(filepath.Dir(full))
		}
	}
}

// message takes in one message.
func (h *history) message(i, no int, f read.Fields) {
	e := sessionfile.Entry{Line: no, Time: h.Time(no, f["ts"])}
	results, rest, _ := h.content(no, f["content"])
	switch f.Str("role") {
	case "assistant":
		call, known := h.calls[i]
		if known {
			h.cut(no, call.removed)
			delete(h.calls, i)
		}
		e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: rest, Dialect: anthropic.Dialect}
		e.Step = h.step(no, f, e.Time, call)
		h.put(i, e)
	case "user":
		e.Message = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: anthropic.Dialect}
		h.put(i, e)
		said, own := apart(rest)
		e.Message = llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: wire.RulesIn(own), Parts: own, Dialect: anthropic.Dialect}
		h.put(i, e)
		e.Message = llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: said, Dialect: anthropic.Dialect}
		h.put(i, e)
	default:
		h.Problem(no, "a message of the role %.40q, skipped", f.Str("role"))
	}
}

// apart splits what stands on the user's side into what a person said and the rest.
// Pictures go with the words.
func apart(parts []llm.Part) (said, own []llm.Part) {
	for _, p := range parts {
		t, ok := p.(llm.Text)
		if !ok || slices.ContainsFunc(typed, func(tag string) bool { return strings.Contains(t.Text, tag) }) {
			said = append(said, p)
		} else {
			own = append(own, p)
		}
	}
	if !slices.ContainsFunc(said, func(p llm.Part) bool { _, ok := p.(llm.Text); return ok }) {
		return nil, parts
	}
	return said, own
}

// put adds an entry of the message at position i.
func (h *history) put(i int, e sessionfile.Entry) {
	if e.Message.Parts = read.Said(e.Message.Parts, e.Step); len(e.Message.Parts) > 0 {
		h.add(e)
		h.at = append(h.at, i)
	}
}

// step returns what is known about the call that a reply is of.
func (h *history) step(no int, f read.Fields, time int64, c call) *sessionfile.Step {
	model := f.Of("modelInfo")
	step := &sessionfile.Step{Model: h.Name(model["modelId"]), Time: time, Usage: c.usage, Cost: c.cost, MessageID: f.Str("id")}
	step.Model = cmp.Or(step.Model, c.model, modelAt(h.models, cmp.Or(c.time, time)), h.model)
	h.model = step.Model
	if step.Time == 0 {
		step.Time = c.time
	}
	if step.Usage.Total() == 0 {
		metrics := f.Of("metrics")
		tokens := metrics.Of("tokens") // of the prompt the cached ones are a share
		prompt, cached := h.Count(no, "prompt", tokens["prompt"]), h.Count(no, "cached", tokens["cached"])
		cached = min(cached, prompt)
		step.Usage = llm.Usage{Input: prompt - cached, CacheRead: cached, Output: h.Count(no, "completion", tokens["completion"])}
		step.Cost = build.Cost(metrics["cost"])
	}
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}

// cut begins a segment where the client began to leave more messages out.
func (h *history) cut(no int, removed span) {
	if removed == h.removed || removed.last == 0 {
		return
	}
	h.removed = removed
	old, at := h.segment.Entries, h.at
	h.finish()
	h.segment = sessionfile.Segment{Start: sessionfile.StartCompaction}
	h.at = nil
	var kept []sessionfile.Entry
	for k, e := range old {
		if !removed.has(at[k]) {
			kept, h.at = append(kept, e), append(h.at, at[k])
		}
	}
	if h.segment.Entries = build.Carried(h.Reading, no, kept); h.segment.Entries == nil {
		h.segment.NotRun, h.at = read.TooMuch, nil
	}
}
