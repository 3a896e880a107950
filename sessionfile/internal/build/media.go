package build

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// Shape gives the media of a segment the bytes that they have in a dialect, which is the
// session's, and in the Chat format several texts of a message theirs, so that what is sent
// and what is stored are the same. A result keeps its media where the dialect has them
// there; elsewhere they follow the results as a Note. The entries that were there stay as
// they are.
func Shape(d llm.Dialect, s *sessionfile.Segment) {
	if d == MediaDialect {
		return
	}
	var out, apart []sessionfile.Entry
	for _, e := range s.Entries {
		if e.Message.Role != llm.RoleTool {
			out, apart = append(out, apart...), nil
		}
		if e.Message.Dialect == "" && d == openai.DialectChat && e.Message.Role == llm.RoleUser {
			e.Message = elements(e.Message)
		}
		if e.Message.Dialect != MediaDialect || e.Message.Role == llm.RoleAssistant {
			out = append(out, e)
			continue
		}
		shaped, media := shape(d, e.Message)
		e.Message = shaped
		if len(media) > 0 {
			note := sessionfile.Entry{Line: e.Line, Time: e.Time, Message: Note(0, media...)}
			note.Message.Dialect = d
			apart = append(apart, note)
		}
		out = append(out, e)
	}
	s.Entries = append(out, apart...)
}

// elements returns a message of several texts with the bytes that they have in an array:
// without them the Chat format makes one text of all.
func elements(m llm.Message) llm.Message {
	parts := slices.Clone(m.Parts)
	for i, p := range parts {
		t, ok := p.(llm.Text)
		if !ok || len(parts) == 1 {
			return m
		}
		t.Data = closed(member(object("type", "text"), "text", quote(t.Text)))
		parts[i] = t
	}
	m = m.WithParts(parts)
	m.Dialect = openai.DialectChat
	return m
}

// shape returns a message of the user's side in a dialect, and the media that cannot
// stand in it.
func shape(d llm.Dialect, m llm.Message) (shaped llm.Message, apart []llm.Part) {
	parts := slices.Clone(m.Parts)
	for i, p := range parts {
		switch p := p.(type) {
		case llm.Media:
			parts[i] = mediaIn(d, p)
		case llm.ToolResult:
			parts[i], apart = resultIn(d, p)
		}
	}
	m = m.WithParts(parts)
	if m.Dialect = ""; slices.ContainsFunc(parts, func(p llm.Part) bool { return len(p.Bytes()) > 0 }) {
		m.Dialect = d
	}
	return m, apart
}

// mediaIn returns a medium with the bytes that the codec of a dialect gives it, or the
// medium as it is if it has no place there.
func mediaIn(d llm.Dialect, m llm.Media) llm.Part {
	for _, p := range roundTrip(d, llm.Message{Role: llm.RoleUser, Dialect: MediaDialect, Parts: []llm.Part{m}}) {
		if p, ok := p.(llm.Media); ok {
			return p
		}
	}
	return m
}

// resultIn returns a result in a dialect, and its media where they cannot stand in it.
func resultIn(d llm.Dialect, r llm.ToolResult) (shaped llm.Part, apart []llm.Part) {
	if Dialect("", r.Content) == "" {
		return r, nil
	}
	if d == openai.DialectResponses {
		call := llm.ToolCall{CallID: r.CallID, Name: "tool", Args: "{}"}
		for _, p := range roundTrip(d,
			llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{call}},
			llm.Message{Role: llm.RoleTool, Dialect: MediaDialect, Parts: []llm.Part{r}}) {
			if p, ok := p.(llm.ToolResult); ok {
				return p, nil
			}
		}
	}
	var rest []llm.Part
	for _, c := range r.Content {
		if m, ok := c.(llm.Media); ok {
			apart = append(apart, mediaIn(d, m))
		} else {
			rest = append(rest, c)
		}
	}
	return r.WithContent(rest...), apart
}

// roundTrip writes messages in a dialect and reads their parts back.
func roundTrip(d llm.Dialect, messages ...llm.Message) []llm.Part {
	codec, ok := codecs.For(d)
	if !ok {
		return nil
	}
	body, err := codec.EncodeRequest(llm.Request{Model: "m", Messages: messages})
	if err != nil {
		return nil
	}
	request, err := codec.DecodeRequest(body)
	if err != nil {
		return nil
	}
	var parts []llm.Part
	for _, m := range request.Messages {
		parts = append(parts, m.Parts...)
	}
	return parts
}
