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

// record adds one message. What the client only shows is no context.
func (b *builder) record(m *record) {
	f := read.FieldsOf(m.raw)
	switch f.Str("type") {
	case "user":
		b.user(m, f)
	case "gemini":
		b.reply(m, f)
	}
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
		if gjson.GetBytes(content, "0").Type == gjson.String {
			return texts(content)
		}
	}
	parts, err := build.GeminiParts(content, user)
	if err != nil {
		b.Problem(m.line, "content, skipped: %v", err)
	}
	return parts
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

// user adds a message of the user's side: its results, then the rest.
func (b *builder) user(m *record, f read.Fields) {
	results, rest := build.Results(b.parts(m, f["content"], true))
	b.results(m, results)
	message := read.UserMessage(rest, gemini.Dialect)
	if expanded(f) || message.Text() == continueText {
		message.Origin = llm.Note
	}
	if strings.HasPrefix(strings.TrimSpace(message.Text()), snapshotTag) {
		message.Origin, message.Flags = llm.Note, llm.FlagSummary
	}
	b.add(m, message, nil)
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

// reply adds what the model wrote, and the results that stand beside its calls.
func (b *builder) reply(m *record, f read.Fields) {
	var ran []read.Fields
	read.EachElement(f["toolCalls"], func(value []byte) bool {
		ran = append(ran, read.FieldsOf(value))
		return true
	})
	parts := named(b.parts(m, f["content"], false), ran)
	if !slices.ContainsFunc(parts, func(p llm.Part) bool { _, ok := p.(llm.Thinking); return ok }) {
		parts = append(thoughts(f["thoughts"]), parts...)
	}
	called := map[string]bool{}
	for _, p := range parts {
		if c, ok := p.(llm.ToolCall); ok {
			called[c.CallID] = true
		}
	}
	var results []llm.Part
	for _, call := range ran {
		id := call.Str("id")
		if !called[id] {
			called[id] = true
			parts = append(parts, llm.ToolCall{CallID: id, Name: call.Str("name"), Args: build.Args(call["args"])})
		}
		results = append(results, b.result(m, id, call)...)
	}
	for id := range called {
		delete(b.answered, id) // an id may be used again
	}
	message := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts, Dialect: gemini.Dialect}
	var step *sessionfile.Step
	if !b.old[m] {
		step = b.step(m, f)
	}
	b.add(m, message, step)
	b.results(m, results)
}

// named gives calls that came without an id the one that the client made for them: that of
// the next call that it ran of this name.
func named(parts []llm.Part, ran []read.Fields) []llm.Part {
	used := map[int]bool{}
	for i, p := range parts {
		c, ok := p.(llm.ToolCall)
		if !ok || gjson.GetBytes(c.Data, "functionCall.id").String() != "" {
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
		signature := gjson.GetBytes(c.Data, "thoughtSignature").String()
		c.CallID, c.Raw = ran[at].Str("id"), llm.Raw{}
		if parts[i] = c; signature != "" {
			parts[i] = build.GeminiSigned(c, signature)
		}
	}
	return parts
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
		if !ok || r.CallID != id && gjson.GetBytes(r.Data, "functionResponse.id").String() != "" {
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
