package cline

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// whyShown is why no request can be rebuilt of what is shown.
const whyShown = "the file has what was shown, and not what was sent"

// A call is what is shown about one model call.
type call struct {
	model   string
	usage   llm.Usage // its parts stand beside each other
	cost    int64
	time    int64
	removed span // messages that were left out of it
	reply   int  // position of its reply in the history, from 0; below 0 unknown
}

// isShown tells a list of shown messages by the first one.
func isShown(d *read.Document) bool {
	f := d.First()
	kind := f.Str("type")
	return f.Has("ts") && (kind == "say" || kind == "ask") && f.Has(kind)
}

// isCall reports whether a shown message is a model call.
func isCall(f read.Fields) bool { return f.Str("say") == "api_req_started" }

// callOf reads what a shown message says about its call.
func callOf(r *read.Reading, no int, f read.Fields) call {
	report := gjson.Parse(f.Str("text"))
	c := call{model: f.Of("modelInfo").Str("modelId"), time: r.Time(no, f["ts"]), cost: build.Cost([]byte(report.Get("cost").Raw)), reply: -1}
	c.usage = llm.Usage{
		Input: r.Tokens(no, report, "tokensIn"), CacheRead: r.Tokens(no, report, "cacheReads"),
		CacheWrite5m: r.Tokens(no, report, "cacheWrites"), Output: r.Tokens(no, report, "tokensOut"),
	}
	if at := gjson.ParseBytes(f["conversationHistoryIndex"]); at.Type == gjson.Number {
		c.reply = int(at.Int()) + 2 // the index is of the reply before, and a message of the user's side comes between
	}
	c.leaves(f)
	return c
}

// leaves takes in what a shown message says was left out of the newest call.
func (c *call) leaves(f read.Fields) {
	pair := gjson.ParseBytes(f["conversationHistoryDeletedRange"]).Array()
	if len(pair) == 2 && pair[0].Int() > 0 && pair[1].Int() >= pair[0].Int() {
		c.removed = span{int(pair[0].Int()), int(pair[1].Int())}
	}
}

// callsOf reads the calls of a task from what was shown of it, by the position of their
// replies. A call that was tried again is the one that got the reply.
func callsOf(r *read.Reading, shown *read.Document) map[int]call {
	if shown == nil {
		return nil
	}
	calls := map[int]call{}
	newest := -1
	read.EachElement(shown.Bytes, func(value []byte) bool {
		f := read.FieldsOf(value)
		c, known := calls[newest]
		switch {
		case isCall(f):
			if c = callOf(r, 1, f); c.reply < 0 {
				c.reply = newest + 2 // of a version that kept no index: replies and what comes before take turns
			}
			if newest < 0 && c.reply < 1 {
				c.reply = 1
			}
			newest = c.reply
			if before := calls[newest]; c.usage.Total() == 0 {
				c.usage, c.cost = before.usage, before.cost
			}
			calls[newest] = c
		case known:
			c.leaves(f)
			calls[newest] = c
		}
		return true
	})
	return calls
}

// A shown reads what was shown of a task.
type shown struct {
	cline
	models []since
	step   *sessionfile.Step // of the call that goes on; nil before the first
	parts  []llm.Part        // of its reply
	line   int
	time   int64
}

// readShown reads a task of which only what was shown is there: what each call took is in
// it, what was sent is not.
func readShown(r *read.Reading, in *read.Input, d *read.Document) {
	r.Session.Client, r.Session.Dialect = "cline", anthropic.Dialect
	nameAfterFolder(r, in)
	s := &shown{cline: cline{Reading: r, doc: d, segment: sessionfile.Segment{Start: sessionfile.StartRoot, NotRun: whyShown}}}
	s.models = modelsOf(r, documentBeside(r, in, metadataName))
	read.EachElement(d.Bytes, func(value []byte) bool {
		s.message(d.Line(value), read.FieldsOf(value))
		return !r.Stopped()
	})
	s.end()
	r.Emit(s.segment)
}

// message takes in one shown message.
func (s *shown) message(no int, f read.Fields) {
	text := f.Str("text")
	failed(s.Reading, no, f)
	switch kind := f.Str("say") + f.Str("ask"); {
	case f.Str("type") != "say" && f.Str("type") != "ask":
		s.Problem(no, "a message of the type %.40q, skipped", f.Str("type"))
	case isCall(f):
		s.end()
		c := callOf(s.Reading, no, f)
		s.step, s.line, s.time = &sessionfile.Step{Model: cmp.Or(c.model, modelAt(s.models, c.time)), Usage: c.usage, Cost: c.cost, Time: c.time}, no, c.time
		s.step.Reported = c.usage.Prompt() > 0
		s.step.OutputReported = s.step.Reported && c.usage.Output > 0
	case text == "":
	case kind == "task" || kind == "user_feedback":
		s.end()
		s.add(sessionfile.Entry{Line: no, Time: s.Time(no, f["ts"]), Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}})
	case kind == "command_output" || strings.HasSuffix(kind, "_result") && kind != "completion_result" || kind == "mcp_server_response":
		s.end()
		s.add(sessionfile.Entry{Line: no, Time: s.Time(no, f["ts"]), Message: build.Note(0, llm.Text{Text: text})})
	case s.step == nil:
	case kind == "reasoning":
		s.parts = append(s.parts, llm.Thinking{Text: text})
	case kind == "text" || kind == "tool" || kind == "command" || kind == "use_mcp_server" || kind == "completion_result" || strings.HasSuffix(kind, "_mode_respond"):
		s.parts = append(s.parts, llm.Text{Text: text})
	}
}

// end adds the reply of the call that goes on.
func (s *shown) end() {
	if s.step == nil {
		return
	}
	if len(s.parts) == 0 {
		s.parts = []llm.Part{llm.Text{Text: sessionfile.NotInFile("a reply")}}
	}
	s.add(sessionfile.Entry{Line: s.line, Time: s.time, Step: s.step, Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: s.parts}})
	s.step, s.parts = nil, nil
}
