package build

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// maxDollars is the largest cost of one call that is believed.
const maxDollars = 1_000_000

// Cost returns the picodollars of a JSON number of dollars; 0 if it is none, or not
// a price.
func Cost(dollars []byte) int64 {
	f, err := strconv.ParseFloat(string(dollars), 64)
	if err != nil || !(f > 0 && f < maxDollars) {
		return 0
	}
	return int64(math.Round(f * 1e12))
}

// MediaDialect is the dialect of the bytes of [Media]. A message that holds one has it
// too, if its other parts have no bytes.
const MediaDialect = anthropic.Dialect

// Media returns what is written in base64, in the shape of the Messages API, which
// every codec can read. Where it cannot be sent in that shape, a line of text stands for it.
func Media(mime, base64 string) llm.Part {
	kind := "document"
	if strings.HasPrefix(mime, "image/") {
		kind = "image"
	}
	block := object("type", kind)
	block = member(block, "source", closed(member(member(object("type", "base64"), "media_type", quote(mime)), "data", quote(base64))))
	part, err := anthropic.DecodeBlock(closed(block))
	if m, ok := part.(llm.Media); ok && err == nil {
		return m
	}
	return llm.Text{Text: sessionfile.NotInFile(kind + " " + mime)}
}

// DataURL splits an address that holds its content in base64.
func DataURL(url string) (mime, base64 string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	mime, base64, ok = strings.Cut(rest, ";base64,")
	return mime, base64, ok
}

// Dialect returns the dialect of a message whose own parts have bytes of d, or none:
// that of its media if it has any, as they have bytes.
func Dialect(d llm.Dialect, parts []llm.Part) llm.Dialect {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Media:
			return MediaDialect
		case llm.ToolResult:
			if Dialect("", p.Content) != "" {
				return MediaDialect
			}
		}
	}
	return d
}

// Result returns a message with one tool result.
func Result(callID string, isError bool, content ...llm.Part) llm.Message {
	result := llm.ToolResult{CallID: callID, IsError: isError, Content: content}
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}}
	m.Dialect = Dialect("", m.Parts)
	return m
}

// Note returns a message that a client wrote in the user's role.
func Note(flags llm.Flags, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: flags, Parts: parts, Dialect: Dialect("", parts)}
}

// GeminiParts decodes a JSON array of the parts of generateContent. Each part's bytes are
// its element of the array. user says on which side they stand.
func GeminiParts(array []byte, user bool) ([]llm.Part, error) {
	role := "model"
	if user {
		role = "user"
	}
	front, back := `{"contents":[{"role":"`+role+`","parts":`, `}]}`
	body := make([]byte, 0, len(front)+len(array)+len(back))
	body = append(append(append(body, front...), array...), back...)
	request, err := gemini.DecodeRequest(body)
	if err != nil {
		return nil, err
	}
	var parts []llm.Part
	for _, m := range request.Messages {
		parts = append(parts, m.Parts...)
	}
	return parts, nil
}

// Bare returns parts without their bytes. What means nothing without them is left out.
func Bare(parts []llm.Part) []llm.Part {
	bare := make([]llm.Part, 0, len(parts))
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			p.Raw = llm.Raw{}
			bare = append(bare, p)
		case llm.Thinking:
			p.Raw = llm.Raw{}
			bare = append(bare, p)
		case llm.ToolCall:
			p.Raw = llm.Raw{}
			bare = append(bare, p)
		case llm.ToolResult:
			p.Raw, p.Content = llm.Raw{}, Bare(p.Content)
			bare = append(bare, p)
		case llm.Media: // only its bytes hold it, and every codec can read them
			bare = append(bare, p)
		}
	}
	return bare
}

// Args returns the arguments of a call as the object that they are, "{}" if they are
// missing.
func Args(value []byte) string {
	if len(value) == 0 || string(value) == "null" {
		return "{}"
	}
	return string(read.Compact(value))
}

// The functions below write JSON objects member by member.

func object(key, text string) []byte { return member([]byte{'{'}, key, quote(text)) }

func member(o []byte, key string, value []byte) []byte {
	if len(o) > 1 {
		o = append(o, ',')
	}
	o = append(append(o, quote(key)...), ':')
	return append(o, value...)
}

func closed(o []byte) []byte { return append(o, '}') }

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // a string can always be written
	}
	return b
}

// GeminiSigned returns a text or a call with the bytes that it has as a part with a
// thoughtSignature.
func GeminiSigned(p llm.Part, signature string) llm.Part {
	switch p := p.(type) {
	case llm.Text:
		p.Data = closed(member(object("text", p.Text), "thoughtSignature", quote(signature)))
		return p
	case llm.ToolCall:
		call := member(object("id", p.CallID), "name", quote(p.Name))
		call = closed(member(call, "args", []byte(p.Args)))
		p.Data = closed(member(member([]byte{'{'}, "functionCall", call), "thoughtSignature", quote(signature)))
		return p
	}
	return p
}

// Results splits the parts of Gemini's user side. What is neither a result nor a text
// and comes behind a result, such as an image that a tool read, is part of that result.
func Results(parts []llm.Part) (results, rest []llm.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.ToolResult:
			results = append(results, p)
		case llm.Media:
			if len(rest) > 0 || !extend(results, p) {
				rest = append(rest, p)
			}
		default:
			rest = append(rest, p)
		}
	}
	return results, rest
}

// extend adds a medium to the last result. It reports false if there is none.
func extend(results []llm.Part, m llm.Media) bool {
	if len(results) == 0 {
		return false
	}
	last, ok := results[len(results)-1].(llm.ToolResult)
	if ok {
		last.Raw, last.Content = llm.Raw{}, append(Bare(last.Content), m)
		results[len(results)-1] = last
	}
	return ok
}
