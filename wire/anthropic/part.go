package anthropic

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A block is one content block ready to be sent.
type block struct {
	bytes      []byte
	result     bool
	unmarkable bool // no cache mark may stand on it
}

// blocks returns the parts of m as content blocks, without those that say nothing, the last
// that can have it with the mark of m.
func blocks(m llm.Message, mark llm.Mark) []block {
	native := m.Dialect == Dialect || m.Dialect == ""
	var out []block
	for _, p := range m.Parts {
		if b := blockOf(p, native); b != nil {
			_, result := p.(llm.ToolResult)
			out = append(out, block{bytes: b, result: result, unmarkable: unmarkable(p)})
		}
	}
	for i := len(out) - 1; i >= 0 && mark != llm.NoMark; i-- {
		if !out[i].unmarkable {
			out[i].bytes = withMark(out[i].bytes, mark)
			break
		}
	}
	return out
}

// unmarkable reports whether no mark may stand on p.
func unmarkable(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Thinking, llm.Opaque:
		return true
	case llm.Text:
		return strings.TrimSpace(p.Text) == ""
	case llm.ToolCall:
		return p.Hosted
	}
	return false
}

// blockOf returns p as a content block, or nil if there is nothing to send. Bytes of
// parts that are not native mean nothing here.
func blockOf(p llm.Part, native bool) []byte {
	if native && raw.IsObject(p.Bytes()) {
		return whole(p)
	}
	switch p := p.(type) {
	case llm.Text:
		return textBlock(p.Text, p.Raw, native)
	case llm.Stub:
		return textBlock(p.Text, p.Raw, native)
	case llm.Thinking:
		return thinkingBlock(p, native)
	case llm.ToolCall:
		return callBlock(p, native)
	case llm.ToolResult:
		return resultBlock(p, native)
	case llm.Media:
		return mediaBlock(p)
	}
	return nil // opaque bytes of another dialect
}

// whole returns the block that p came as. Empty text is not sent again where the
// message is written anew, and no opaque part that is not the block its kind says: a
// reader's note about something that never was a block.
func whole(p llm.Part) []byte {
	switch p := p.(type) {
	case llm.Text:
		if p.Text == "" {
			return nil
		}
	case llm.Opaque:
		if raw.Unquote(raw.Value(p.Data, "type")) != p.Kind {
			return nil
		}
	}
	return p.Bytes()
}

// textBlock returns a text block, with the fields of the block that it replaces. What
// came as a string keeps the spelling of that string.
func textBlock(text string, r llm.Raw, native bool) []byte {
	if strings.TrimSpace(text) == "" {
		return nil // the API refuses text without visible characters
	}
	var literal []byte
	if native && raw.IsString(r.Data) {
		literal = r.Data
	} else {
		literal = raw.Quote(text)
	}
	o := new(raw.Object).Text("type", "text").Raw("text", literal)
	if !native || !raw.IsObject(r.Base) {
		return o.Bytes()
	}
	v := raw.Values(r.Base, "type", "cache_control")
	if raw.Named(v[0], "text") {
		return raw.Set(r.Base, "text", literal)
	}
	return o.Raw("cache_control", v[1]).Bytes()
}

func thinkingBlock(p llm.Thinking, native bool) []byte {
	switch {
	case !native || p.Signature == "":
		return nil // without its proof the API refuses it
	case p.Redacted:
		return new(raw.Object).Text("type", "redacted_thinking").Text("data", p.Signature).Bytes()
	}
	return new(raw.Object).Text("type", "thinking").Text("thinking", p.Text).Text("signature", p.Signature).Bytes()
}

func callBlock(p llm.ToolCall, native bool) []byte {
	input := raw.Arguments(p.Args)
	if p.Custom { // also where the free text looks like JSON
		input = new(raw.Object).Text("input", p.Args).Bytes()
	}
	if native && raw.IsObject(p.Base) {
		return raw.Set(p.Base, "input", input)
	}
	if p.Hosted && !native {
		return nil // another provider's own tool
	}
	kind := "tool_use"
	if p.Hosted {
		kind = "server_tool_use"
	}
	return new(raw.Object).Text("type", kind).Text("id", p.CallID).Text("name", p.Name).Raw("input", input).Bytes()
}

func resultBlock(p llm.ToolResult, native bool) []byte {
	var mark []byte
	if native && raw.IsObject(p.Base) {
		if old := raw.Values(p.Base, "type", "content"); old[0] != nil {
			return raw.Set(p.Base, "content", resultContent(p, native, raw.IsArray(old[1])))
		}
		mark = raw.Value(p.Base, cacheControl) // of a result that was made here, and nothing else
	}
	o := new(raw.Object).Text("type", "tool_result").Text("tool_use_id", p.CallID)
	o.Raw("content", resultContent(p, native, false))
	if p.IsError {
		o.Raw("is_error", []byte("true"))
	}
	return o.Raw("cache_control", mark).Bytes()
}

// resultContent returns the content of a tool result: a string if it is text only and
// did not come as an array.
func resultContent(p llm.ToolResult, native, isArray bool) []byte {
	if !isArray && textOnly(p.Content) {
		if len(p.Content) == 1 && native && raw.IsString(p.Content[0].Bytes()) {
			return p.Content[0].Bytes()
		}
		return raw.Quote(p.Text())
	}
	if len(p.Content) == 1 && native {
		if o, ok := p.Content[0].(llm.Opaque); ok && o.Kind == unreadable && o.Data != nil {
			return o.Data // never a block, goes back as it came
		}
	}
	var values [][]byte
	for _, c := range p.Content {
		if b := blockOf(c, native); b != nil {
			values = append(values, b)
		}
	}
	return raw.Array(values)
}

func textOnly(parts []llm.Part) bool {
	for _, p := range parts {
		switch p.(type) {
		case llm.Text, llm.Stub:
		default:
			return false
		}
	}
	return true
}

// mediaBlock returns an image or a document that came in another dialect, or text in
// its place.
func mediaBlock(p llm.Media) []byte {
	s := media.Read(p.Bytes())
	kind := "document"
	if s.IsImage() {
		kind = "image"
	}
	source := new(raw.Object)
	switch {
	case s.Text != "":
		source.Text("type", "text").Text("media_type", "text/plain").Text("data", s.Text)
	case len(s.Data) > 0 && (s.IsImage() || s.Type == "application/pdf"):
		source.Text("type", "base64").Text("media_type", s.Type).Text("data", string(s.Data))
	case s.URL != "":
		source.Text("type", "url").Text("url", s.URL)
	default:
		return textBlock(media.Placeholder(p), llm.Raw{}, false)
	}
	return new(raw.Object).Text("type", kind).Raw("source", source.Bytes()).Bytes()
}
