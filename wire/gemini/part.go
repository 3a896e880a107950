package gemini

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/pair"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// members are the values of a part's members that are looked at here.
type members struct {
	bytes                    []byte // the part itself
	text, thought, signature []byte
	call, response, media    []byte
	kind                     string // the member that says what a part not known here is
}

// membersOf reads the part at c.
func membersOf(c *raw.Cursor) members {
	var m members
	start := c.Pos()
	c.Object(func(name []byte) {
		if v := m.member(name); v != nil {
			*v = c.Value()
		}
	})
	m.bytes = c.Bytes(c.Since(start))
	return m
}

// membersIn reads the part that is next.
func membersIn(w *raw.Walk) members {
	var m members
	start := w.At()
	for w.Enter(); ; {
		name := w.Member()
		if name == nil {
			m.bytes = w.Bytes(start)
			return m
		}
		value := w.Value()
		if v := m.member(name); v != nil {
			*v = value
		}
	}
}

// member returns where the value of a member is kept, nil if it is not.
func (m *members) member(name []byte) *[]byte {
	switch string(name) {
	case "text":
		return &m.text
	case "thought":
		return &m.thought
	case "thoughtSignature", "thought_signature":
		return &m.signature
	case "functionCall", "function_call":
		return &m.call
	case "functionResponse", "function_response":
		return &m.response
	case "inlineData", "inline_data", "fileData", "file_data":
		return &m.media
	case "videoMetadata", "video_metadata", "partMetadata", "part_metadata", "mediaResolution", "media_resolution":
		return nil // these say more about the content, they are none
	}
	if m.kind == "" {
		m.kind = string(name)
	}
	return nil
}

// decodePart reads the part at c and returns its place too.
func decodePart(c *raw.Cursor, s *ids, p *pair.Calls) (llm.Part, llm.Span) {
	start := c.Pos()
	m := membersOf(c)
	return m.part(s, p), c.Since(start)
}

// part returns the part whose members are m.
func (m members) part(s *ids, p *pair.Calls) llm.Part {
	here := llm.Raw{Data: m.bytes}
	s.signed(m.signature)
	switch {
	case raw.IsObject(m.call):
		return m.toolCall(s, here)
	case raw.IsObject(m.response):
		return toolResult(m.response, p, here)
	case raw.IsObject(m.media):
		return media.Part(m.bytes)
	case m.isThought() && (raw.IsString(m.text) || raw.IsString(m.signature)):
		return llm.Thinking{Text: raw.Unquote(m.text), Signature: raw.Unquote(m.signature), Raw: here}
	case raw.IsString(m.text):
		return llm.Text{Text: raw.Unquote(m.text), Raw: here}
	case m.kind == "" && raw.IsString(m.signature):
		return llm.Text{Raw: here} // a signature by itself, as with empty text
	}
	return llm.Opaque{Kind: m.kind, Raw: here}
}

func (m members) isThought() bool { return string(m.thought) == "true" }

// toolCall reads {"id", "name", "args"}.
func (m members) toolCall(s *ids, here llm.Raw) llm.Part {
	v := raw.Values(m.call, "id", "name", "args")
	if !raw.IsString(v[1]) {
		return llm.Opaque{Kind: "functionCall", Raw: here}
	}
	args := v[2]
	if raw.IsNone(args) {
		args = []byte("{}") // a call without arguments has no args
	}
	return llm.ToolCall{CallID: s.call(v[0], v[1], args), Name: raw.Unquote(v[1]), Args: string(args), Raw: here}
}

// toolResult reads {"id", "name", "response", "parts"}.
func toolResult(response []byte, p *pair.Calls, here llm.Raw) llm.Part {
	v := raw.Values(response, "id", "name", "response", "parts")
	if !raw.IsString(v[1]) {
		return llm.Opaque{Kind: "functionResponse", Raw: here}
	}
	r := llm.ToolResult{CallID: p.Result(raw.Unquote(v[0]), raw.Unquote(v[1])), Raw: here}
	if !raw.IsNone(v[2]) {
		o := outputOf(v[2])
		r.IsError = o.isError
		text := raw.Slice(v[2], o.at)
		if raw.IsString(text) {
			r.Content = append(r.Content, llm.Text{Text: raw.Unquote(text), Raw: llm.Raw{Data: text}})
		} else {
			r.Content = append(r.Content, llm.Text{Text: string(text), Raw: llm.Raw{Data: text}})
		}
	}
	for _, e := range raw.Elements(v[3]) {
		b := raw.Slice(v[3], e)
		m := membersOf(raw.NewCursor(b))
		if raw.IsObject(m.media) {
			r.Content = append(r.Content, media.Part(b))
		} else {
			r.Content = append(r.Content, llm.Opaque{Kind: m.kind, Raw: llm.Raw{Data: b}})
		}
	}
	return r
}

// An output says where in a response object the text is that stands for it.
type output struct {
	at      llm.Span // of a string literal, or the whole object
	isError bool
}

func outputOf(response []byte) output {
	whole := output{at: llm.Span{End: len(response)}}
	var text llm.Span
	var failed, fine bool
	count := 0
	for k, v := range raw.Members(response) {
		count++
		switch string(raw.Name(response[k.Start:k.End])) {
		case "error":
			failed = !raw.IsNone(response[v.Start:v.End])
			text = v
		case "output", "result":
			fine = true
			text = v
		}
	}
	whole.isError = failed && !fine
	if count == 1 && text.Len() > 0 && response[text.Start] == '"' {
		whole.at = text
	}
	return whole
}
