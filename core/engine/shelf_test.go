package engine_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

var refPattern = regexp.MustCompile(`\br[a-z2-7]{26}\b`)

// stored is law 2: every Ref that is shown or stands in an edit is stored, and
// everything that is not shown can be read back byte for byte.
func stored(h *host, s *engine.Send) error {
	for _, it := range s.Items {
		if len(it.Edits) == 0 {
			continue
		}
		for _, text := range textsOf(it.Message) {
			for _, ref := range refPattern.FindAllString(text, -1) {
				if _, ok := h.blobs[llm.Ref(ref)]; !ok {
					return broken("law 2: %s is shown in %q and not stored", ref, short(text))
				}
			}
		}
	}
	shelf := newShelf(h)
	for _, e := range held(h.m) {
		if err := shelf.edit(e); err != nil {
			return err
		}
	}
	shown := map[llm.MessageID]llm.Message{}
	for _, it := range s.Items {
		if !it.IsNote() {
			shown[it.Message.ID] = it.Message
		}
	}
	for _, m := range h.m.Messages() {
		v, ok := shown[m.ID]
		for n, p := range m.Parts {
			if ok && reflect.DeepEqual(v.Parts[n], p) {
				continue
			}
			if err := shelf.has(m.ID, n, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func textsOf(m llm.Message) []string {
	var out []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			out = append(out, p.Text)
		case llm.Stub:
			out = append(out, p.Text)
		case llm.ToolResult:
			out = append(out, p.Text())
		}
	}
	return out
}

// A shelf is what can be read back by following the Refs of edits.
type shelf struct {
	h     *host
	parts map[place][]byte
}

type place struct {
	id   llm.MessageID
	part int
}

func newShelf(h *host) *shelf { return &shelf{h: h, parts: map[place][]byte{}} }

func (s *shelf) edit(e edit.Edit) error {
	for _, r := range e.Refs {
		if _, ok := s.h.blobs[r]; !ok {
			return broken("law 2: edit %d names %s, which is not stored", e.ID, r)
		}
	}
	switch e.Op {
	case edit.Archive:
		return s.archive(e.Refs[0])
	case edit.Replace:
		s.parts[place{e.Span.From, e.Part}] = s.h.blobs[e.Refs[0]]
	}
	return nil
}

// archive reads an archive by the format that package edit documents.
func (s *shelf) archive(ref llm.Ref) error {
	data, ok := s.h.blobs[ref]
	if !ok {
		return broken("law 2: archive %s is not stored", ref)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var e struct {
			Archive json.RawMessage
			Message llm.MessageID
			Part    int
			Kind    string
			Ref     llm.Ref
			Raw     string
			Raw64   []byte
			Text    string
			Text64  []byte
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return broken("law 2: archive %s, line %d: %v", ref, i+1, err)
		}
		switch {
		case i == 0:
		case e.Archive != nil:
			if err := s.archive(llm.Ref(strings.Trim(string(e.Archive), `"`))); err != nil {
				return err
			}
		case e.Ref != "":
			blob, ok := s.h.blobs[e.Ref]
			if !ok {
				return broken("law 2: archive %s, line %d: %s is not stored", ref, i+1, e.Ref)
			}
			s.parts[place{e.Message, e.Part}] = blob
		case e.Kind != "":
			s.parts[place{e.Message, e.Part}] = slices.Concat([]byte(e.Raw), e.Raw64, []byte(e.Text), e.Text64)
		}
	}
	return nil
}

// has reports whether a part can be read back.
func (s *shelf) has(id llm.MessageID, n int, p llm.Part) error {
	data, ok := s.parts[place{id, n}]
	if !ok {
		return broken("law 2: part %d of message %d is neither shown nor stored", n, id)
	}
	if raw := p.Bytes(); raw != nil && bytes.Equal(data, raw) {
		return nil
	}
	want, exact := []string{}, true
	switch p := p.(type) {
	case llm.Text:
		want = []string{p.Text}
	case llm.Thinking:
		want = []string{p.Text}
	case llm.ToolCall:
		want, exact = []string{p.Name, p.Args}, false
	case llm.ToolResult:
		want = s.output(p)
		exact = len(want) == 1
	}
	if len(want) == 0 {
		return broken("law 2: part %d of message %d, %T, reads back as %q", n, id, p, short(string(data)))
	}
	for _, w := range want {
		if exact && string(data) != w || !bytes.Contains(data, []byte(w)) {
			return broken("law 2: part %d of message %d reads back as %q, want %q", n, id, short(string(data)), short(w))
		}
	}
	return nil
}

// output returns what must be found of an output.
func (s *shelf) output(r llm.ToolResult) []string {
	var want []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case llm.Text:
			want = append(want, c.Text)
		case llm.Stub:
			return []string{string(s.h.blobs[c.Ref])}
		default:
			want = append(want, string(c.Bytes()))
		}
	}
	return want
}
