package prefix

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Digest names a prefix: the first half of a SHA-256.
type Digest [16]byte

// A writer digests. The zero writer is not ready; see newWriter.
type writer struct {
	h      hash.Hash
	sorted bool // members of objects by name
}

func newWriter(sorted bool) writer { return writer{h: sha256.New(), sorted: sorted} }

// sum returns the digest of everything that was written so far.
func (w writer) sum() Digest { return Digest(w.h.Sum(nil)[:len(Digest{})]) }

// text writes texts, each with its length before it, so that no two lists look alike.
func (w writer) text(texts ...string) {
	var n [8]byte
	for _, s := range texts {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		_, _ = w.h.Write(n[:]) // a hash never fails
		_, _ = w.h.Write([]byte(s))
	}
}

// part writes a part of a message. Thinking is written only where it counts.
func (w writer) part(p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		w.text("text", p.Text)
	case llm.Stub:
		w.text("text", p.Text)
	case llm.Thinking:
		w.text("thinking", p.Text, p.Signature)
	case llm.ToolCall:
		w.text("call", p.CallID, p.Name, w.json(p.Args))
	case llm.ToolResult:
		w.text("result", p.CallID, yes(p.IsError), yes(len(p.Content) > 0))
		for _, c := range p.Content {
			w.part(c)
		}
	case llm.Media:
		w.text("media", w.json(string(p.Data)))
	case llm.Opaque:
		w.text("opaque", p.Kind, w.json(string(p.Data)))
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// json returns text as JSON in the one spelling that is digested, or as it is if it is none.
func (w writer) json(text string) string {
	if !gjson.Valid(text) {
		return text
	}
	var b strings.Builder
	w.value(&b, gjson.Parse(text))
	return b.String()
}

func (w writer) value(b *strings.Builder, v gjson.Result) {
	switch {
	case v.IsObject():
		w.object(b, v)
	case v.IsArray():
		b.WriteByte('[')
		v.ForEach(func(_, item gjson.Result) bool {
			w.value(b, item)
			b.WriteByte(',')
			return true
		})
		b.WriteByte(']')
	case v.Type == gjson.String:
		literal(b, v.String())
	default:
		b.WriteString(v.Raw)
	}
}

// object writes an object without its cache marks.
func (w writer) object(b *strings.Builder, v gjson.Result) {
	type member struct{ name, text string }
	var members []member
	v.ForEach(func(name, value gjson.Result) bool {
		if name.String() == "cache_control" {
			return true
		}
		var inner strings.Builder
		w.value(&inner, value)
		members = append(members, member{name.String(), inner.String()})
		return true
	})
	if w.sorted {
		slices.SortStableFunc(members, func(x, y member) int { return strings.Compare(x.name, y.name) })
	}
	b.WriteByte('{')
	for _, m := range members {
		literal(b, m.name)
		b.WriteByte(':')
		b.WriteString(m.text)
		b.WriteByte(',')
	}
	b.WriteByte('}')
}

// literal writes a text so that it cannot run into what follows.
func literal(b *strings.Builder, s string) {
	b.WriteByte('"')
	b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s))
	b.WriteByte('"')
}
