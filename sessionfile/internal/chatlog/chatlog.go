// Package chatlog builds segments out of recorded messages of the Chat format: the
// members that the wire has are taken out of a recorded object, which has others
// beside them, and decoded by the codec. It is for the readers of trajectories and
// logs below sessionfile/internal, and not a reader itself.
package chatlog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// Dialect is the dialect of the messages made here.
const Dialect = openai.DialectChat

// members are what a message of the Chat format has on the wire, in the order in
// which they are written.
var members = []string{"role", "content", "name", "tool_call_id", "tool_calls", "reasoning_content"}

// A Log is one conversation that is being read.
type Log struct {
	*read.Reading
	Segment sessionfile.Segment

	spoken bool   // a message that is no system message came
	wire   []byte // scratch
}

// New returns a log of a conversation with a name, which may be empty.
func New(r *read.Reading, name string) *Log {
	r.Session.Dialect = Dialect
	return &Log{Reading: r, Segment: sessionfile.Segment{Name: name, Start: sessionfile.StartRoot}}
}

// Document returns a file that is one JSON value, and reports what had to be mended.
func Document(r *read.Reading, in *read.Input) (*read.Document, error) {
	d, err := in.Document()
	if err == nil && d.Fixed {
		r.Problem(1, "invalid UTF-8, replaced by U+FFFD")
	}
	return d, err
}

// Decode reads the wire's members of a recorded message. Others are left out, and so
// are those that are null, except for content. The message shares no bytes with them.
// It reports false, and the Problem, if it is no message.
func (l *Log) Decode(line int, recorded read.Fields) (llm.Message, bool) {
	l.wire = append(l.wire[:0], '{')
	for _, name := range members {
		value, ok := recorded[name]
		if !ok || name != "content" && string(value) == "null" {
			continue
		}
		if len(l.wire) > 1 {
			l.wire = append(l.wire, ',')
		}
		l.wire = append(l.wire, '"')
		l.wire = append(l.wire, name...)
		l.wire = append(l.wire, `":`...)
		l.wire = append(l.wire, value...)
	}
	l.wire = append(l.wire, '}')
	m, err := openai.DecodeChatMessage(l.Keep(line, l.wire))
	if err != nil {
		l.Problem(line, "message, skipped: %v", err)
		return llm.Message{}, false
	}
	return m, true
}

// Add appends a message as an entry and returns it, to be completed at once. System
// messages before all others become sections, and nil is returned for them, and for
// a message without parts.
func (l *Log) Add(line int, m llm.Message) *sessionfile.Entry {
	if m.Role == llm.RoleSystem && !l.spoken {
		l.Section(m.Text())
		return nil
	}
	if len(m.Parts) == 0 {
		return nil
	}
	l.spoken = true
	l.Segment.Entries = append(l.Segment.Entries, sessionfile.Entry{Message: m, Line: line})
	return &l.Segment.Entries[len(l.Segment.Entries)-1]
}

// Section adds a piece of the system prompt.
func (l *Log) Section(text string) {
	if text != "" {
		l.Segment.Sections = append(l.Segment.Sections, llm.Section{Name: "system", Text: text, Cacheable: true})
	}
}

// Close hands the conversation over. Nothing may be added to it.
func (l *Log) Close() { l.Emit(l.Segment) }

// State adds what the file states, on a line, of the segments from one on that were handed
// over, unless that is nothing.
func (l *Log) State(line int, what string, from int, sum read.Sum) {
	var t read.Tally
	t.Line(line)
	if sum != (read.Sum{}) {
		t.Add("", sum)
	}
	l.Session.Stated = append(l.Session.Stated, t.Stated(what, from, l.Emitted())...)
}

// Note returns a message in the user's role that no person wrote.
func Note(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: text}}}
}

// Result returns the result of a call as a text.
func Result(callID, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: callID, Content: []llm.Part{llm.Text{Text: text}}},
	}}
}

// Quote returns a text as a JSON string.
func Quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always can be
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Object returns some fields as the text of a JSON object, in the order of their names.
func Object(names []string, fields read.Fields) string {
	slices.Sort(names)
	b := []byte{'{'}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...) // as it stands between the quotes in the file
		b = append(b, `":`...)
		b = append(b, read.Compact(fields[name])...)
	}
	return string(append(b, '}'))
}

// Tools reads an array of definitions in the Chat format.
func (l *Log) Tools(line int, tools []byte) []llm.Tool {
	body := append(append([]byte(`{"messages":[],"tools":`), read.Compact(tools)...), '}')
	r, err := openai.DecodeChat(body)
	if err != nil {
		l.Problem(line, "tools, skipped: %v", err)
	}
	return r.Tools
}

// Images returns the pictures of an array of addresses.
func (l *Log) Images(line int, urls []byte) []llm.Part {
	var parts []llm.Part
	read.EachElement(urls, func(url []byte) bool {
		if len(read.Str(url)) == 0 {
			return true
		}
		wire := append(append([]byte(`[{"type":"image_url","image_url":{"url":`), url...), `}}]`...)
		if m, ok := l.Decode(line, read.Fields{"role": []byte(`"user"`), "content": wire}); ok {
			parts = append(parts, m.Parts...)
		}
		return true
	})
	return parts
}

// Usage reads the usage report of a reply as OpenAI and those who speak its format
// write it. Cached tokens are a share of the prompt; where they are more than it,
// they stand beside it.
func (l *Log) Usage(line int, report gjson.Result) llm.Usage {
	prompt, output := l.Tokens(line, report, "prompt_tokens"), l.Tokens(line, report, "completion_tokens")
	cached := max(l.Tokens(line, report, "prompt_tokens_details.cached_tokens"), l.Tokens(line, report, "cache_read_input_tokens"))
	written := l.Tokens(line, report, "cache_creation_input_tokens")
	u := Disjoint(prompt, cached, written)
	u.Output = output
	u.Reasoning = min(output, l.Tokens(line, report, "completion_tokens_details.reasoning_tokens"))
	return u
}

// Disjoint returns the usage of a prompt of which some tokens were read from a cache
// and some written to it. If they are more than the prompt, they stand beside it.
func Disjoint(prompt, cached, written int) llm.Usage {
	if prompt >= cached+written {
		prompt -= cached + written
	}
	return llm.Usage{Input: prompt, CacheRead: cached, CacheWrite5m: written}
}

// Pay gives a step the usage that the file reports for it.
func Pay(step *sessionfile.Step, u llm.Usage) {
	step.Usage = u
	step.Reported = u.Prompt() > 0
	step.OutputReported = step.Reported && u.Output > 0
}

// maxDollars is the largest cost that is believed: what is above does not fit into
// picodollars.
const maxDollars = 1_000_000

// Cost returns a JSON number of dollars in picodollars; 0 for anything else, and for
// what is negative or absurd.
func Cost(value []byte) int64 {
	dollars, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !(dollars > 0 && dollars < maxDollars) {
		return 0
	}
	return int64(dollars*1e12 + 0.5)
}
