package pi

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// content returns the parts of a user message or a result: a text, or texts and images.
func content(value []byte) []llm.Part {
	if s := read.Str(value); s != "" {
		return []llm.Part{llm.Text{Text: s}}
	}
	var parts []llm.Part
	read.EachElement(value, func(block []byte) bool {
		switch f := read.FieldsOf(block); f.Str("type") {
		case "text":
			parts = append(parts, llm.Text{Text: f.Str("text")})
		case "image":
			parts = append(parts, build.Media(f.Str("mimeType"), f.Str("data")))
		}
		return true
	})
	return parts
}

// blocks returns the parts of a reply of a dialect.
func (p *pi) blocks(no int, value []byte, d llm.Dialect) []llm.Part {
	var parts []llm.Part
	read.EachElement(value, func(block []byte) bool {
		switch f := read.FieldsOf(block); f.Str("type") {
		case "text":
			if text := f.Str("text"); text != "" {
				parts = append(parts, signed(llm.Text{Text: text}, f.Str("textSignature"), d))
			}
		case "thinking":
			parts = append(parts, p.thinking(no, f, d)...)
		case "toolCall":
			call := llm.ToolCall{CallID: p.callID(f.Str("id")), Name: f.Str("name"), Args: build.Args(f["arguments"])}
			parts = append(parts, signed(call, f.Str("thoughtSignature"), d))
		default:
			p.Problem(no, "a block of the type %.40q, skipped", f.Str("type"))
		}
		return true
	})
	return parts
}

// callID returns the id that a call has on the wire. For the Responses API pi writes
// the item's own id behind it.
func (p *pi) callID(id string) string {
	if call, item, ok := strings.Cut(id, "|"); ok && (item == "" || strings.HasPrefix(item, "fc")) {
		return call
	}
	return id
}

// thinking returns a block of thinking with what proves it: the signature of the
// Messages API and of Gemini as it is; for the Responses API the whole item.
func (p *pi) thinking(no int, f read.Fields, d llm.Dialect) []llm.Part {
	t := llm.Thinking{Text: f.Str("thinking"), Signature: f.Str("thinkingSignature"), Redacted: read.IsTrue(f["redacted"])}
	switch {
	case d == anthropic.Dialect || d == gemini.Dialect:
		return []llm.Part{t}
	case d == openai.DialectResponses && gjson.Valid(t.Signature) && strings.HasPrefix(t.Signature, "{"):
		m, err := openai.DecodeItemMessage([]byte(t.Signature))
		if err == nil {
			return m.Parts
		}
		p.Problem(no, "an item of reasoning, read as its text: %v", err)
	}
	t.Signature = "" // the name of the member that it came in, or unreadable
	if t.Text == "" {
		return nil
	}
	return []llm.Part{t}
}

// signed returns a text or call of Gemini with its signature; others as they are.
func signed(part llm.Part, signature string, d llm.Dialect) llm.Part {
	if signature == "" || d != gemini.Dialect {
		return part
	}
	return build.GeminiSigned(part, signature)
}
