package geminicli

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// snapshotTag begins the summary that the client puts in the place of a conversation.
const snapshotTag = "<state_snapshot>"

// continueText is what the client says in the user's name when a reply had only calls to
// tools that need no answer.
const continueText = "System: Please continue."

// A builder makes entries out of records.
type builder struct {
	*chat
	out      []sessionfile.Entry
	answered map[string]bool // calls that have a result
}

// A said is what a record says: it does not depend on the list that the record is in.
type said struct {
	message llm.Message
	step    *sessionfile.Step // of a reply
	called  []string          // ids of the calls of a reply
	results []llm.Part        // beside the message
}

// record adds one message. What the client only shows is no context.
func (b *builder) record(m *record) {
	if m.said == nil {
		m.said = b.said(m)
	}
	if m.said.step == nil {
		b.results(m, m.said.results)
		b.add(m, m.said.message, nil)
		return
	}
	for _, id := range m.said.called {
		delete(b.answered, id) // an id may be used again
	}
	step := m.said.step
	if b.old[m] {
		step = nil
	}
	b.add(m, m.said.message, step)
	b.results(m, m.said.results)
}

// said looks at what a record says.
func (b *builder) said(m *record) *said {
	f := read.FieldsOf(m.raw)
	switch f.Str("type") {
	case "user":
		return b.user(m, f)
	case "gemini":
		return b.reply(m, f)
	}
	return &said{}
}

func (b *builder) add(m *record, message llm.Message, step *sessionfile.Step) {
	if len(message.Parts) > 0 {
		b.out = append(b.out, sessionfile.Entry{Message: message, Line: m.line, Time: m.time, Step: step})
	}
}

// parts returns what a content is: a text, one part, or a list of parts or texts.
func (b *builder) parts(m *record, content []byte, user bool) []llm.Part {
	if len(content) == 0 {
		return nil
	}
	switch content[0] {
	case '"':
		if s := read.Str(content); s != "" {
			return []llm.Part{llm.Text{Text: s}}
		}
		return nil
	case '{':
		content = append(append([]byte{'['}, content...), ']')
	case '[':
		if startsWithText(content) {
			return texts(content)
		}
	}
	parts, err := build.GeminiParts(content, user)
	if err != nil {
		b.Problem(m.line, "content, skipped: %v", err)
	}
	return parts
}

// startsWithText reports whether the first element of a list is a text.
func startsWithText(list []byte) (text bool) {
	read.EachElement(list, func(value []byte) bool {
		text = value[0] == '"'
		return false
	})
	return text
}

func texts(list []byte) []llm.Part {
	var parts []llm.Part
	read.EachElement(list, func(value []byte) bool {
		if s := read.Str(value); s != "" {
			parts = append(parts, llm.Text{Text: s})
		}
		return true
	})
	return parts
}

// user returns a message of the user's side: its results, then the rest.
func (b *builder) user(m *record, f read.Fields) *said {
	results, rest := build.Results(b.parts(m, f["content"], true))
	message := read.UserMessage(rest, gemini.Dialect)
	if expanded(f) || message.Text() == continueText {
		message.Origin = llm.Note
	}
	if strings.HasPrefix(strings.TrimSpace(message.Text()), snapshotTag) {
		message.Origin, message.Flags = llm.Note, llm.FlagSummary
	}
	return &said{message: message, results: results}
}

// expanded reports whether the person typed a command, in whose place the client
// sent a text.
func expanded(f read.Fields) bool {
	shown := gjson.ParseBytes(f["displayContent"])
	text := shown.String()
	if shown.IsArray() {
		text = shown.Get("0.text").String()
	}
	return strings.HasPrefix(text, "/") && !strings.Contains(string(f["content"]), text)
}

// results adds results of calls that have none yet: the client writes a result beside
// its call and again as a message.
func (b *builder) results(m *record, results []llm.Part) {
	var news []llm.Part
	for _, p := range results {
		if r, ok := p.(llm.ToolResult); ok && !b.answered[r.CallID] {
			b.answered[r.CallID] = true
			news = append(news, r)
		}
	}
	b.add(m, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: news, Dialect: gemini.Dialect}, nil)
}

// reply returns what the model wrote, and the results that stand beside its calls.
func (b *builder) reply(m *record, f read.Fields) *said {
	var ran []read.Fields
	read.EachElement(f["toolCalls"], func(value []byte) bool {
		ran = append(ran, read.FieldsOf(value))
		return true
	})
	parts := named(b.parts(m, f["content"], false), ran)
	if !slices.ContainsFunc(parts, func(p llm.Part) bool { _, ok := p.(llm.Thinking); return ok }) {
		parts = append(thoughts(f["thoughts"]), parts...)
	}
	out := &said{step: b.step(m, f)}
	for _, p := range parts {
		if c, ok := p.(llm.ToolCall); ok {
			out.called = append(out.called, c.CallID)
		}
	}
	for _, call := range ran {
		id := call.Str("id")
		if !slices.Contains(out.called, id) {
			out.called = append(out.called, id)
			parts = append(parts, llm.ToolCall{CallID: id, Name: call.Str("name"), Args: build.Args(call["args"])})
		}
		out.results = append(out.results, b.result(m, id, call)...)
	}
	out.message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: read.Said(parts, out.step), Dialect: gemini.Dialect}
	return out
}

// named gives calls that came without an id the one that the client made for them: that of
// the next call that it ran of this name.
func named(parts []llm.Part, ran []read.Fields) []llm.Part {
	used := map[int]bool{}
	for i, p := range parts {
		c, ok := p.(llm.ToolCall)
		if !ok || hasID(c.Data, "functionCall") {
			continue
		}
		at := slices.IndexFunc(ran, func(f read.Fields) bool { return f.Str("name") == c.Name })
		for at >= 0 && at < len(ran) && (used[at] || ran[at].Str("name") != c.Name) {
			at++
		}
		if at < 0 || at == len(ran) {
			continue
		}
		used[at] = true
		signature := read.Str(read.Field(c.Data, "thoughtSignature"))
		c.CallID, c.Raw = ran[at].Str("id"), llm.Raw{}
		if parts[i] = c; signature != "" {
			parts[i] = build.GeminiSigned(c, signature)
		}
	}
	return parts
}

// hasID reports whether a member of a part has an id.
func hasID(part []byte, member string) bool {
	id := read.Field(read.Field(part, member), "id")
	return len(id) > len(`""`) && string(id) != "null"
}

// thoughts returns the summaries of the model's thinking that the client shows. They have
// no signature, so that no request takes them back.
func thoughts(list []byte) []llm.Part {
	var parts []llm.Part
	read.EachElement(list, func(value []byte) bool {
		f := read.FieldsOf(value)
		if text := strings.TrimSpace(f.Str("subject") + "\n" + f.Str("description")); text != "" {
			parts = append(parts, llm.Thinking{Text: text})
		}
		return true
	})
	return parts
}

// result returns the result that stands beside a call; none if there is none.
func (b *builder) result(m *record, id string, call read.Fields) []llm.Part {
	value := call["result"]
	if len(value) == 0 || string(value) == "null" || string(value) == "[]" {
		return nil
	}
	failed := call.Str("status") == "error"
	if value[0] == '"' {
		return []llm.Part{llm.ToolResult{CallID: id, IsError: failed, Content: []llm.Part{llm.Text{Text: read.Str(value)}}}}
	}
	results, rest := build.Results(b.parts(m, value, true))
	for _, p := range results {
		r, ok := p.(llm.ToolResult)
		if !ok || r.CallID != id && hasID(r.Data, "functionResponse") {
			continue // the whole message's results may stand here
		}
		r.CallID, r.IsError = id, r.IsError || failed
		return []llm.Part{r}
	}
	if len(rest) == 0 {
		return nil
	}
	return []llm.Part{llm.ToolResult{CallID: id, IsError: failed, Content: build.Bare(rest)}}
}

// step returns what a message says about its call. Cached tokens are a share of the
// input, thoughts are beside the output.
func (b *builder) step(m *record, f read.Fields) *sessionfile.Step {
	report := gjson.ParseBytes(f["tokens"])
	input, cached := b.Tokens(m.line, report, "input"), b.Tokens(m.line, report, "cached")
	if cached > input {
		b.Problem(m.line, "usage: %d cached of %d input tokens, taken as all", cached, input)
		cached = input
	}
	thinking := b.Tokens(m.line, report, "thoughts")
	step := &sessionfile.Step{
		Model: b.Name(f["model"]), Time: m.time,
		Usage: llm.Usage{Input: input - cached, CacheRead: cached, Output: b.Tokens(m.line, report, "output") + thinking, Reasoning: thinking},
	}
	// Tokens of hosted tools come from hidden requests.
	step.Reported = step.Usage.Prompt() > 0 && b.Tokens(m.line, report, "tool") == 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}
