package anthropic

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// cacheControl is the member of a block by which a client marks where the provider's
// cache is to end.
const cacheControl = "cache_control"

// spelled returns the value of a mark of the request; nil for none.
func spelled(m llm.Mark) []byte {
	switch m {
	case llm.MarkShort:
		return []byte(`{"type":"ephemeral"}`)
	case llm.MarkLong:
		return []byte(`{"type":"ephemeral","ttl":"1h"}`)
	}
	return nil
}

// withMark returns a block, a section or a tool with the mark of the request on it.
func withMark(object []byte, m llm.Mark) []byte {
	if m == llm.NoMark || object == nil {
		return object
	}
	return raw.Set(object, cacheControl, spelled(m))
}

// markedPieces returns the messages of r, those that were pieces of a client's message with
// their marks on their parts, which go back into that message; and the marks that are left.
func markedPieces(r llm.Request) ([]llm.Message, llm.Marks) {
	if len(r.Frame.Mixed) == 0 {
		return r.Messages, r.Marks
	}
	msgs, left := r.Messages, make(llm.Marks, 0, len(r.Marks))
	for _, p := range r.Marks {
		if p.On != llm.OnMessage || p.At < 0 || p.At >= len(msgs) {
			continue
		}
		m := msgs[p.At]
		if now, ok := Marked(m, spelled(p.Mark)); ok && m.Dialect == Dialect && len(m.Envelope.Raw) == 0 && !slices.ContainsFunc(m.Parts, made) {
			if &msgs[0] == &r.Messages[0] {
				msgs = slices.Clone(msgs)
			}
			msgs[p.At] = now
			continue
		}
		left = append(left, p)
	}
	return msgs, left
}

// made reports whether a part has no bytes of a client's, nor takes the place of one that has.
func made(p llm.Part) bool { return p.Bytes() == nil && raw.Base(p) == nil }

// MarkOf returns the last cache mark on a part of m, as it is spelled; nil if there is none.
func MarkOf(m llm.Message) []byte {
	if m.Dialect != Dialect && m.Dialect != "" {
		return nil
	}
	for _, p := range slices.Backward(m.Parts) {
		if mark := raw.Value(markedBytes(p), cacheControl); mark != nil && !raw.IsNone(mark) {
			return mark
		}
	}
	return nil
}

// markedBytes returns the bytes of p in which a mark may stand; nil if there are none.
func markedBytes(p llm.Part) []byte {
	for _, b := range [][]byte{p.Bytes(), raw.Base(p)} {
		if raw.IsObject(b) {
			return b
		}
	}
	return nil
}

// Marked returns m with a cache mark on the last part that can have one. ok is false if
// none can: thinking, calls that the provider answers itself, blank texts, and what came in
// another format. What came as a string becomes a block.
func Marked(m llm.Message, mark []byte) (marked llm.Message, ok bool) {
	if m.Dialect != Dialect && m.Dialect != "" {
		return m, false
	}
	for i, p := range slices.Backward(m.Parts) {
		if now, ok := markedPart(p, mark); ok {
			parts := slices.Clone(m.Parts)
			parts[i] = now
			return m.WithParts(parts), true
		}
	}
	return m, false
}

func markedPart(p llm.Part, mark []byte) (llm.Part, bool) {
	switch p := p.(type) {
	case llm.Text:
		r, ok := markedRaw(p.Raw, mark)
		p.Raw = r
		return p, ok && strings.TrimSpace(p.Text) != ""
	case llm.Stub:
		r, ok := markedRaw(p.Raw, mark)
		p.Raw = r
		return p, ok && strings.TrimSpace(p.Text) != ""
	case llm.ToolResult:
		r, ok := markedRaw(p.Raw, mark)
		p.Raw = r
		return p, ok
	case llm.ToolCall:
		came := markedBytes(p) != nil
		r, ok := markedRaw(p.Raw, mark)
		p.Raw = r
		return p, ok && came && !p.Hosted
	case llm.Media:
		r, ok := markedRaw(p.Raw, mark)
		p.Raw = r
		return p, ok && raw.IsObject(p.Data)
	}
	return p, false
}

// markedRaw returns r with a mark. A part that was made here gets it from its base.
func markedRaw(r llm.Raw, mark []byte) (llm.Raw, bool) {
	switch {
	case raw.IsObject(r.Data):
		return llm.Raw{Data: raw.Set(r.Data, cacheControl, mark)}, true
	case raw.IsObject(r.Base):
		return llm.Raw{Base: raw.Set(r.Base, cacheControl, mark)}, true
	case raw.IsString(r.Data), raw.IsString(r.Base), r.Data == nil && r.Base == nil:
		return llm.Raw{Base: new(raw.Object).Raw(cacheControl, mark).Bytes()}, true
	}
	return r, false
}

// Unmarked returns m without the cache marks on what its bytes alone tell of: images, documents
// and what is not understood, also within results. A digest has those bytes, and a client moves its
// marks from request to request.
func Unmarked(m llm.Message) llm.Message {
	if parts, marked := unmarkedParts(m.Parts); marked {
		return m.WithParts(parts)
	}
	return m
}

// unmarkedParts returns a copy of parts without those marks; marked is false if there are none.
func unmarkedParts(parts []llm.Part) (out []llm.Part, marked bool) {
	for i, p := range parts {
		now, was := unmarkedPart(p)
		if was && !marked {
			out, marked = slices.Clone(parts), true
		}
		if was {
			out[i] = now
		}
	}
	return out, marked
}

func unmarkedPart(p llm.Part) (now llm.Part, marked bool) {
	switch p := p.(type) {
	case llm.Media:
		p.Data, marked = unmarkedBlock(p.Data)
		return p, marked
	case llm.Opaque:
		p.Data, marked = unmarkedBlock(p.Data)
		return p, marked
	case llm.ToolResult:
		content, marked := unmarkedParts(p.Content)
		if marked {
			p.Content = content
		}
		return p, marked
	}
	return p, false
}

func unmarkedBlock(block []byte) (bare []byte, marked bool) {
	bare = seam{}.Bare(block)
	return bare, len(bare) != len(block)
}
