package opencode

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A call is one model call that is being read: mostly a whole message, in early
// versions one of several.
type call struct {
	entry   sessionfile.Entry
	results []sessionfile.Entry
	tokens  []byte
	cost    []byte
	asked   bool // a model was
}

// reply takes in an assistant message. The client does not send failed ones again, unless
// they were stopped and say something.
func (o *opencode) reply(m message) {
	failure := m.info.Of("error")
	o.failed(m, failure)
	if failure != nil && (failure.Str("name") != "MessageAbortedError" || !says(m.parts)) {
		left := sessionfile.Branch{First: m.line, Last: m.line, Messages: 1, Why: build.WhyCutOff}
		if step := o.step(m, call{tokens: m.info["tokens"], cost: m.info["cost"]}); step.Reported || step.Cost > 0 {
			step.OutputReported = false
			left.Calls = []sessionfile.Step{*step}
		}
		o.Session.Abandoned = append(o.Session.Abandoned, left)
		return
	}
	time := m.info.Of("time")
	o.prune(m.line, o.Time(m.line, time["created"]))
	o.Session.Dialect = o.dialect(m)
	c := o.begin(m)
	o.parts(m, &c, func(f read.Fields) { o.part(m.line, &c, f) })
	o.end(m, c)
}

// failed notes what a reply says went wrong.
func (o *opencode) failed(m message, failure read.Fields) {
	if failure == nil {
		return
	}
	data := failure.Of("data")
	out := read.Outcome{
		Line: m.line, Time: o.Time(m.line, m.info.Of("time")["created"]), Code: failure.Str("name"),
		Status: o.Count(m.line, "statusCode", data["statusCode"]), Words: cmp.Or(data.Str("responseBody"), data.Str("message")),
	}
	out.Stopped = out.Code == "MessageAbortedError"
	o.Fail(out)
}

// parts goes through the parts of a reply and hands on those of the conversation. In
// early versions a message has several calls: all but the last are ended.
func (o *opencode) parts(m message, c *call, take func(read.Fields)) {
	read.EachElement(m.parts, func(value []byte) bool {
		f := read.FieldsOf(value)
		switch f.Str("type") {
		case "step-start":
			if len(c.entry.Message.Parts) > 0 || c.tokens != nil {
				o.end(m, *c)
				*c = o.begin(m)
			}
			c.asked = true
		case "step-finish":
			c.tokens, c.cost, c.asked = f["tokens"], f["cost"], true
		default:
			take(f)
		}
		return true
	})
	if c.tokens == nil {
		c.tokens, c.cost = m.info["tokens"], m.info["cost"]
	}
}

// says reports whether a message holds more than the model's reasoning.
func says(parts []byte) bool {
	found := false
	read.EachElement(parts, func(value []byte) bool {
		switch read.FieldsOf(value).Str("type") {
		case "text", "tool":
			found = true
		}
		return !found
	})
	return found
}

func (o *opencode) begin(m message) call {
	created := read.Time(m.info.Of("time")["created"])
	return call{entry: sessionfile.Entry{
		Line: m.line, Time: created,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: o.Session.Dialect},
	}}
}

// step returns what is said about a call.
func (o *opencode) step(m message, c call) *sessionfile.Step {
	step := &sessionfile.Step{
		Model: o.Name(m.info["modelID"]), Effort: o.Name(m.info["variant"]), Time: o.Time(m.line, m.info.Of("time")["completed"]),
		Usage: o.usage(m.line, c.tokens), Cost: build.Cost(c.cost),
	}
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}

// end adds a model call and the results of its tools.
func (o *opencode) end(m message, c call) {
	step := o.step(m, c)
	switch {
	case c.asked || step.Reported || !c.calls():
		c.entry.Step = step
	default: // the client wrote it: the person ran a command or began a task
		c.entry.Message.Origin, c.entry.Message.Flags = llm.Note, llm.FlagSynthetic
	}
	o.add(c.entry)
	for _, r := range c.results {
		o.add(r)
	}
}

// calls reports whether a message holds calls and nothing else.
func (c call) calls() bool {
	return !slices.ContainsFunc(c.entry.Message.Parts, func(p llm.Part) bool {
		_, is := p.(llm.ToolCall)
		return !is
	})
}

// usage reads a report into disjoint parts. Reasoning is beside the output, unless the
// total says that it is within.
func (o *opencode) usage(no int, value []byte) llm.Usage {
	report := gjson.ParseBytes(value)
	u := llm.Usage{
		Input: o.Tokens(no, report, "input"), CacheRead: o.Tokens(no, report, "cache.read"), CacheWrite5m: o.Tokens(no, report, "cache.write"),
		Output: o.Tokens(no, report, "output"), Reasoning: o.Tokens(no, report, "reasoning"),
	}
	if total := o.Tokens(no, report, "total"); total == 0 || total != u.Total() {
		u.Output += u.Reasoning
	} else {
		o.within = o.within || u.Reasoning > 0
	}
	u.Reasoning = min(u.Reasoning, u.Output)
	return u
}

// part takes in one part of a reply.
func (o *opencode) part(no int, c *call, f read.Fields) {
	m := &c.entry.Message
	switch f.Str("type") {
	case "text":
		if text := f.Str("text"); text != "" {
			m.Parts = append(m.Parts, llm.Text{Text: text})
		}
	case "reasoning":
		m.Parts = append(m.Parts, reasoning(f, m.Dialect))
	case "tool":
		o.tool(no, c, f)
	}
}

// reasoning returns the model's thinking with what proves it.
func reasoning(f read.Fields, d llm.Dialect) llm.Part {
	t := llm.Thinking{Text: f.Str("text")}
	metadata := f.Of("metadata")
	switch d {
	case anthropic.Dialect:
		own := metadata.Of("anthropic")
		if t.Signature = own.Str("signature"); t.Signature == "" && own.Str("redactedData") != "" {
			t.Signature, t.Redacted = own.Str("redactedData"), true
		}
	case openai.DialectResponses:
		t.Signature = metadata.Of("openai").Str("reasoningEncryptedContent")
	case gemini.Dialect:
		t.Signature = metadata.Of("google").Str("thoughtSignature")
	}
	return t
}

// tool takes in a call with its result, if it has one.
func (o *opencode) tool(no int, c *call, f read.Fields) {
	state := f.Of("state")
	id := f.Str("callID")
	made := llm.ToolCall{CallID: id, Name: f.Str("tool"), Args: build.Args(state["input"]), Hosted: read.IsTrue(f.Of("metadata")["providerExecuted"])}
	var part llm.Part = made
	if signature := f.Of("metadata").Of("google").Str("thoughtSignature"); signature != "" && c.entry.Message.Dialect == gemini.Dialect {
		part = build.GeminiSigned(made, signature)
	}
	c.entry.Message.Parts = append(c.entry.Message.Parts, part)
	if made.Hosted {
		return // its result is the provider's own
	}
	e := sessionfile.Entry{Line: no, Time: read.Time(state.Of("time")["end"])}
	switch state.Str("status") {
	case "completed":
		content := []llm.Part{llm.Text{Text: state.Str("output")}}
		read.EachElement(state["attachments"], func(value []byte) bool {
			content = append(content, media(read.FieldsOf(value)))
			return true
		})
		e.Message = build.Result(id, false, content...)
		if at := read.Time(state.Of("time")["compacted"]); at > 0 {
			o.pruned[id] = at
			if o.due == 0 || at < o.due {
				o.due = at
			}
		}
	case "error":
		text := state.Str("error")
		interrupted := state.Of("metadata")
		if output := interrupted.Str("output"); output != "" && read.IsTrue(interrupted["interrupted"]) {
			e.Message = build.Result(id, false, llm.Text{Text: output})
			break
		}
		e.Message = build.Result(id, true, llm.Text{Text: text})
	default:
		return // it was still running
	}
	c.results = append(c.results, e)
}
