package edit_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What is made in one pass here is held to the plain way of making it.

// drawWorld returns a session with some edits.
func drawWorld(t *rapid.T) *world {
	w := newWorld()
	for range rapid.IntRange(3, 40).Draw(t, "events") {
		if len(w.messages) < 3 || rapid.IntRange(0, 3).Draw(t, "event") > 0 {
			w.say(drawMessage(t, w))
		} else if err := w.adopt(drawPlan(t, w, drawScene(t, w))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestDropUntilIsTheFirstCutThatDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		s := drawScene(t, w)
		need := rapid.IntRange(0, total(w.view)+50).Draw(t, "need")
		want, got := firstThatDoes(s, need), s.DropUntil(need, edit.KindDrop, "why")
		if !reflect.DeepEqual(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

// firstThatDoes makes all archives anew for each cut.
func firstThatDoes(s edit.Scene, need int) edit.Plan {
	for to := llm.MessageID(1); ; to++ {
		var p edit.Plan
		for i, all := 0, s.Drop(edit.Span{From: 1, To: to}, edit.KindDrop, "why"); i < len(all.Edits); i++ {
			if one := (edit.Plan{Edits: all.Edits[i : i+1], Blobs: all.Blobs[i : i+1]}); one.Gain() > 0 {
				p = p.Join(one)
			}
		}
		if to >= s.Keep || s.Turns.CanCut(int(to)-1) && p.Gain() >= need {
			return p
		}
	}
}

// TestDropUntilGoesOn: the size of a note depends on its Ref here.
func TestDropUntilGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		s := drawScene(t, w)
		s.Measure = func(m llm.Message) int {
			n := measure(m)
			for _, c := range m.Text() {
				n += int(c) % 3
			}
			return n
		}
		needs := rapid.SliceOfN(rapid.IntRange(0, total(w.view)+50), 1, 4).Draw(t, "needs")
		slices.Sort(needs)
		want, got := s.DropUntil(needs[len(needs)-1], edit.KindDrop, "why"), s.DropInSteps(needs, edit.KindDrop, "why")
		if !reflect.DeepEqual(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestArchivesAreWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		framed(t, w)
		s := w.scene("[{n} {ref}]")
		from := rapid.IntRange(1, len(w.messages)).Draw(t, "from")
		to := rapid.IntRange(from, len(w.messages)+1).Draw(t, "to")
		p := s.Drop(edit.Span{From: llm.MessageID(from), To: llm.MessageID(to)}, edit.KindDrop, "why")
		for i, e := range p.Edits {
			if want, got := archiveOf(t, w, e.Span), string(p.Blobs[i].Data); got != want {
				t.Fatal(cmp.Diff(want, got))
			}
			size := 0
			for _, it := range w.view.Items {
				if leaves(w, it, e.Span) {
					size += measure(it.Message)
				}
			}
			if e.Before != size {
				t.Fatalf("archive of [%d,%d): %d tokens leave, want %d", e.Span.From, e.Span.To, e.Before, size)
			}
		}
	})
}

// framed gives some messages the bytes around their parts, sound ones or not.
func framed(t *rapid.T, w *world) {
	for i := range w.messages {
		m := &w.messages[i]
		if rapid.IntRange(0, 2).Draw(t, "framed") > 0 {
			continue
		}
		m.Envelope.Raw = rapid.SampledFrom([][]byte{[]byte(`{"a":[one,"<b>"],"c":2}`), []byte("{\"a\xff\":[one,two]}"), {}}).Draw(t, "frame")
		for range m.Parts {
			at := rapid.IntRange(0, 12).Draw(t, "start")
			m.Envelope.Spans = append(m.Envelope.Spans, llm.Span{Start: at, End: at + rapid.IntRange(0, 4).Draw(t, "length")})
		}
	}
}

// leaves reports whether an item leaves with a span.
func leaves(w *world, it edit.Item, span edit.Span) bool {
	if !it.IsNote() {
		return span.Contains(it.Message.ID)
	}
	for _, e := range w.view.Edits() {
		if e.ID == it.Edits[0] {
			return e.Op == edit.Archive && span.Covers(e.Span) || e.Op == edit.Insert && span.From < e.Span.From && e.Span.From < span.To
		}
	}
	return false
}

// A written line has the members of all kinds of lines, in their order.
type written struct {
	Archive   any           `json:"archive,omitempty"`
	From      llm.MessageID `json:"from,omitempty"`
	To        llm.MessageID `json:"to,omitempty"`
	Note      *string       `json:"note,omitempty"`
	Message   llm.MessageID `json:"message,omitempty"`
	Frame     []string      `json:"frame,omitempty"`
	Frame64   [][]byte      `json:"frame64,omitempty"`
	Role      string        `json:"role,omitempty"`
	Origin    string        `json:"origin,omitempty"`
	Part      *int          `json:"part,omitempty"`
	Kind      string        `json:"kind,omitempty"`
	Ref       llm.Ref       `json:"ref,omitempty"`
	Raw       string        `json:"raw,omitempty"`
	Raw64     []byte        `json:"raw64,omitempty"`
	Text      string        `json:"text,omitempty"`
	Text64    []byte        `json:"text64,omitempty"`
	Signature string        `json:"signature,omitempty"`
}

// archiveOf makes the archive of a span, looking through all edits for each message.
func archiveOf(t *rapid.T, w *world, span edit.Span) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	line := func(l written) {
		if err := enc.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	notes := func(e edit.Edit) {
		for _, n := range e.Notes {
			text := n.Text()
			line(written{Note: &text})
		}
	}
	line(written{Archive: 1, From: span.From, To: span.To})
	inside := span.From // of an archive that is told already, what stands before it
	for id := span.From; id < span.To; id++ {
		for _, e := range w.view.Edits() {
			if e.Op == edit.Insert && e.Span.From == id && id > span.From {
				notes(e)
			}
		}
		for _, e := range w.view.Edits() {
			if e.Op == edit.Archive && e.Span.From == id {
				line(written{Archive: e.Refs[0], From: e.Span.From, To: e.Span.To})
				notes(e)
				inside = e.Span.To
			}
		}
		if id < inside {
			continue
		}
		if l, ok := frameOf(w.messages[id-1]); ok {
			line(l)
		}
		for n := range w.messages[id-1].Parts {
			line(partOf(w, w.messages[id-1], n))
		}
	}
	return b.String()
}

func frameOf(m llm.Message) (written, bool) {
	raw, at := m.Envelope.Raw, 0
	l := written{Message: m.ID}
	if raw == nil || len(m.Envelope.Spans) != len(m.Parts) {
		return l, false
	}
	for _, sp := range append(slices.Clone(m.Envelope.Spans), llm.Span{Start: len(raw), End: len(raw)}) {
		if sp.Start < at || sp.End < sp.Start || sp.End > len(raw) {
			return written{Message: m.ID, Frame64: [][]byte{raw}}, true
		}
		l.Frame, l.Frame64 = append(l.Frame, string(raw[at:sp.Start])), append(l.Frame64, raw[at:sp.Start])
		at = sp.End
	}
	if slices.ContainsFunc(l.Frame, func(p string) bool { return !utf8.ValidString(p) }) {
		l.Frame = nil
	} else {
		l.Frame64 = nil
	}
	return l, true
}

func partOf(w *world, m llm.Message, n int) written {
	p := m.Parts[n]
	l := written{Message: m.ID, Role: m.Role.String(), Origin: m.Origin.String(), Part: &n, Kind: edit.KindOf(p)}
	for _, e := range w.view.Edits() {
		if e.Op == edit.Replace && e.Span.From == m.ID && e.Part == n {
			l.Ref = e.Refs[0]
			return l
		}
	}
	said := stored(p)
	switch raw := p.Bytes(); {
	case raw == nil && utf8.Valid(said):
		l.Text = string(said)
	case raw == nil:
		l.Text64 = said
	case utf8.Valid(raw):
		l.Raw = string(raw)
	default:
		l.Raw64 = raw
	}
	if think, ok := p.(llm.Thinking); ok && p.Bytes() == nil {
		l.Signature = think.Signature
	}
	return l
}

func TestTextsOfArchivesAreWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("a\"\\\b\f\n\r\t\x00\x1f\x7f\u2028\u2029<>&é漢🚢\ufffd")))).Draw(t, "text")
		if rapid.Bool().Draw(t, "odd") {
			s += string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes"))
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := edit.Quoted(s) + "\n"; got != b.String() {
			t.Fatalf("%q: got %s, want %s", s, got, b.String())
		}
	})
}

func TestFillReplacesEveryName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"{ref}", "{source}", "{tool}", "{bytes}", "{bytes,}", "{lines}", "{tokens}", "{n}", "{used}", "{preview}", "{text}", "{", "}", "{}", "{{", "x", " {other}", "{n", "ref}"}
		template := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "template"), "")
		v := edit.Values{Ref: "r{n}", Tool: "{tool}", Bytes: 12345, Lines: 2, Tokens: 3, N: 4, Used: 5, Preview: "{text}", Text: "}{", Source: "s"}
		want := strings.NewReplacer(
			"{ref}", "r{n}", "{source}", "s", "{tool}", "{tool}", "{bytes}", "12345", "{bytes,}", "12,345", "{lines}", "2", "{tokens}", "3",
			"{n}", "4", "{used}", "5", "{preview}", "{text}", "{text}", "}{",
		).Replace(template)
		if got := edit.Fill(template, v); got != want {
			t.Fatalf("%q: got %q, want %q", template, got, want)
		}
	})
}

func TestWithinIsEveryItemThatStandsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		from := rapid.IntRange(0, len(w.messages)+2).Draw(t, "from")
		span := edit.Span{From: llm.MessageID(from), To: llm.MessageID(rapid.IntRange(0, len(w.messages)+2).Draw(t, "to"))}
		var want []llm.Message
		for _, it := range w.view.Items {
			if it.Before >= span.From && it.Before < span.To {
				want = append(want, it.Message)
			}
		}
		if got := w.view.Within(span); !reflect.DeepEqual(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}
