package gateway

import (
	"bytes"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// promptFigures are the places of the figures that a prompt is in, in replies and in
// events of streams. Those of what a cache had are left alone: what was taken out is told
// as if it had not been cached.
var promptFigures = map[llm.Dialect][]string{
	anthropic.Dialect:       {"usage.input_tokens", "message.usage.input_tokens"},
	openai.DialectChat:      {"usage.prompt_tokens", "usage.total_tokens"},
	openai.DialectResponses: {"usage.input_tokens", "usage.total_tokens", "response.usage.input_tokens", "response.usage.total_tokens"},
	gemini.Dialect:          {"usageMetadata.promptTokenCount", "usageMetadata.totalTokenCount"},
	ollama.Dialect:          {"prompt_eval_count"},
}

// saved returns how many tokens of text the client's own messages have beyond what is
// shown. Images are not counted: they are on neither side.
func (b *branch) saved(all []llm.Message, shown []edit.Item) int {
	count, n := b.session.Budget().Count, 0
	if missing := len(all) - len(b.sizes); missing > 0 {
		b.sizes = append(b.sizes, make([]int, missing)...)
	}
	whole := make([]bool, len(all)) // shown as the client made it
	for _, it := range shown {
		if id := it.Message.ID; id > 0 && len(it.Edits) == 0 {
			whole[id-1] = true
		} else {
			n -= sizeOf(it.Message, count)
		}
	}
	for i, m := range all {
		if whole[i] {
			continue
		}
		if b.sizes[i] == 0 {
			b.sizes[i] = sizeOf(m, count)
		}
		n += b.sizes[i]
	}
	return max(n, 0)
}

func sizeOf(m llm.Message, count func(string) int) int { return partsSize(m.Parts, count) }

func partsSize(parts []llm.Part, count func(string) int) (n int) {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			n += count(p.Text)
		case llm.ToolCall:
			n += count(p.Name) + count(p.Args)
		case llm.ToolResult:
			n += partsSize(p.Content, count)
		case llm.Stub:
			n += count(p.Text)
		}
	}
	return n
}

// A clientView adds what edits took out to the figures that a client is told.
type clientView struct {
	dialect llm.Dialect
	add     int
	begun   bool     // something but white space has come
	list    bool     // the stream is one list of replies, which may be written over many lines
	object  brackets // of that list
	line    []byte   // that is not whole yet; of a list, up to the end of a reply
	long    bool     // that line is longer than any is: the rest of it passes as it comes
}

// mostLine is how much of one line is kept until it is whole, in bytes: as much as is looked
// at of a reply.
const mostLine = mostObserved

// lines takes the next bytes of a stream and returns the lines that they complete; of a
// list, the replies. What is too long to be kept passes as it is.
func (v *clientView) lines(chunk []byte) (out []byte) {
	for len(chunk) > 0 {
		n, whole := v.end(chunk)
		line := chunk[:n]
		chunk = chunk[n:]
		if v.long || len(v.line)+n > mostLine {
			out = append(append(out, v.line...), line...)
			v.line, v.long = nil, !whole
			continue
		}
		if !whole {
			v.line = append(v.line, line...)
			break
		}
		if len(v.line) > 0 {
			line = append(v.line, line...)
			v.line = nil
		}
		out = append(out, v.told(line)...)
	}
	return out
}

// end returns how many bytes of chunk belong to the line at hand, and whether it ends there.
func (v *clientView) end(chunk []byte) (n int, whole bool) {
	if begin := bytes.TrimLeft(chunk, " \t\r\n"); !v.begun && len(begin) > 0 {
		v.begun, v.list = true, begin[0] == '['
	}
	if !v.list {
		if n = bytes.IndexByte(chunk, '\n') + 1; n == 0 {
			return len(chunk), false
		}
		return n, true
	}
	for i, c := range chunk {
		if v.object.add(c); c == '}' && !v.object.text && v.object.depth == 1 { // the list's own is open
			return i + 1, true
		}
	}
	return len(chunk), false
}

// brackets are those of JSON that are open.
type brackets struct {
	depth         int
	text, escaped bool // within a string, and behind a backslash there
}

// add takes the next byte.
func (b *brackets) add(c byte) {
	switch {
	case b.escaped:
		b.escaped = false
	case b.text && c == '\\':
		b.escaped = true
	case c == '"':
		b.text = !b.text
	case b.text:
	case c == '{' || c == '[':
		b.depth++
	case c == '}' || c == ']':
		b.depth--
	}
}

// rest returns the line that a stream ended within.
func (v *clientView) rest() []byte {
	rest := v.told(v.line)
	v.line = nil
	return rest
}

// told returns a line of a stream with the figures that the client is told.
func (v *clientView) told(line []byte) []byte {
	if bytes.Contains(line, []byte(`okens"`)) || bytes.Contains(line, []byte(`okenCount"`)) || bytes.Contains(line, []byte("_eval_count")) {
		if at := bytes.IndexByte(line, '{'); at >= 0 {
			return append(line[:at:at], v.whole(line[at:])...)
		}
	}
	return line
}

// whole returns an object with the figures that the client is told.
func (v *clientView) whole(object []byte) []byte {
	var all []splice
	for _, path := range promptFigures[v.dialect] {
		if n := gjson.GetBytes(object, path); n.Type == gjson.Number && n.Index > 0 && n.Int() > 0 {
			all = append(all, splice{n, strconv.AppendInt(nil, n.Int()+int64(v.add), 10)})
		}
	}
	if len(all) == 0 {
		return object
	}
	return spliced(object, all...)
}
