package round

import (
	"bytes"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// Append returns msgs with one more wire message: itself, but for one in which text stands
// beside results. That is cut wherever the author changes, so that what a person says there
// is a person's, and what a client adds is a client's; then it joins mixed as it came. What
// is neither result nor text belongs to what stands before it: beside results an image is
// mostly a tool's. The pieces have no envelope, for they did not come as objects; [Whole]
// puts them together again.
func Append(msgs, mixed []llm.Message, m llm.Message) (all, allMixed []llm.Message) {
	if pieces := apart(m); len(pieces) > 0 {
		return append(msgs, pieces...), append(mixed, m)
	}
	return append(msgs, m), mixed
}

// apart returns the pieces of m; none if it is not cut.
func apart(m llm.Message) (out []llm.Message) {
	if m.Origin != llm.ToolRun {
		return nil
	}
	start, origin := 0, llm.Origin(0)
	for i, p := range m.Parts {
		of := authorOf(p)
		if of == 0 || of == origin {
			continue
		}
		if origin != 0 {
			out = append(out, piece(m, start, i, origin))
			start = i
		}
		origin = of
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, piece(m, start, len(m.Parts), origin))
}

// authorOf returns whose a part beside results is; 0 for nobody's in particular.
func authorOf(p llm.Part) llm.Origin {
	switch p := p.(type) {
	case llm.ToolResult:
		return llm.ToolRun
	case llm.Text:
		if strings.TrimSpace(p.Text) != "" {
			return wire.OriginOf([]llm.Part{p})
		}
	}
	return 0
}

// piece returns the parts [from, to) of m as a message.
func piece(m llm.Message, from, to int, origin llm.Origin) llm.Message {
	out := llm.Message{Role: llm.RoleUser, Origin: origin, Parts: m.Parts[from:to:to], Dialect: m.Dialect}
	switch origin {
	case llm.ToolRun:
		out.Role = llm.RoleTool
	case llm.Note:
		out.Flags = wire.RulesIn(out.Parts)
	}
	return out
}

// Whole returns msgs with the pieces of each message of mixed, in order, as that message
// again. Pieces of which one has gone, or between which something stands now, stay apart.
func Whole(msgs, mixed []llm.Message) []llm.Message {
	if len(mixed) == 0 {
		return msgs
	}
	out := make([]llm.Message, 0, len(msgs))
	for len(msgs) > 0 {
		m, n := msgs[0], 1
		for k, of := range mixed {
			if parts, pieces := gathered(msgs, of); pieces > 0 {
				m, n, mixed = of.WithParts(parts), pieces, mixed[k+1:]
				break
			}
		}
		out, msgs = append(out, m), msgs[n:]
	}
	return out
}

// gathered returns the parts of the messages at the start of msgs that were pieces of one
// message, and how many messages that are; none if they were not.
func gathered(msgs []llm.Message, of llm.Message) (parts []llm.Part, pieces int) {
	for _, m := range msgs {
		if m.Dialect != of.Dialect || m.Role == llm.RoleAssistant || len(m.Envelope.Raw) > 0 || len(parts)+len(m.Parts) > len(of.Parts) {
			return nil, 0
		}
		for _, p := range m.Parts {
			if !from(p, of.Parts[len(parts)]) {
				return nil, 0
			}
			parts = append(parts, p)
		}
		if pieces++; len(parts) == len(of.Parts) {
			return parts, pieces
		}
	}
	return nil, 0
}

// from reports whether p is old or what an edit made of it.
func from(p, old llm.Part) bool {
	switch old := old.(type) {
	case llm.ToolResult:
		now, ok := p.(llm.ToolResult)
		return ok && now.CallID == old.CallID
	case llm.Text:
		if now, ok := p.(llm.Text); ok && now.Text == old.Text {
			return true // also with another cache mark
		}
	}
	b := p.Bytes()
	if b == nil {
		b = raw.Base(p)
	}
	return bytes.Equal(b, old.Bytes())
}
