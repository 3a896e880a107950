package edit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// grounded returns a scene whose parts can be valued.
func grounded(w *world, template string, pinned []llm.MessageID) edit.Scene {
	s := w.scene(template)
	s.Ground = &ground.Index{}
	for _, m := range s.Messages {
		s.Ground.Add(m)
	}
	s.Pinned = func(m llm.Message) bool { return slices.Contains(pinned, m.ID) }
	return s
}

// TestSelect: whatever was taken out before, a batch leaves of what is not pinned no more than
// it has room for, its plan holds, and nothing comes back.
func TestSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, pinned := shelfOf(t)
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			s := grounded(w, "", pinned)
			room := rapid.IntRange(0, total(w.view)).Draw(t, "room")
			was := shownBytes(w.view)
			p := s.Select(edit.SelectArgs{Room: room, Stub: "[stored; ref={ref}]", Archive: "[{n} stored: {ref}]", Kind: edit.KindStub, KindDrop: edit.KindDrop})
			left := 0
			if err := w.adopt(p); err != nil {
				t.Fatal(err)
			}
			if err := w.laws(); err != nil {
				t.Fatal(err)
			}
			for _, it := range w.view.Items {
				if !it.IsNote() && !slices.Contains(pinned, it.Message.ID) {
					left += s.Measure(it.Message)
				}
			}
			if kept := smallest(w.view, s, pinned); left > room+kept {
				t.Fatalf("room for %d, %d are left", room, left)
			}
			for part := range shownBytes(w.view) {
				if !was[part] && !strings.Contains(part, "ref") && !strings.Contains(part, "stored") {
					t.Fatalf("%q has come back", part)
				}
			}
		}
	})
}

// smallest returns the tokens of the Rounds that are left although they did not have to be:
// an archive's note would have taken as much.
func smallest(v edit.View, s edit.Scene, pinned []llm.MessageID) int {
	n := 0
	for _, it := range v.Items {
		if size := s.Measure(it.Message); !it.IsNote() && !slices.Contains(pinned, it.Message.ID) && size < 60 {
			n += size
		}
	}
	return n + 60
}

func shownBytes(v edit.View) map[string]bool {
	out := map[string]bool{}
	for _, it := range v.Items {
		for _, r := range it.Message.Results() {
			out[r.Text()] = true
		}
	}
	return out
}

// TestSelectByReference: of two outputs alike, the one stays that a later call referred to.
func TestSelectByReference(t *testing.T) {
	w := newWorld()
	round := func(args, out string) {
		w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c", Name: "read", Args: args}}})
		w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: out}}}}})
	}
	round(`{"path":"first.go"}`, "func firstOfAll() { "+strings.Repeat("a ", 400))
	round(`{"path":"other.go"}`, "func secondOfAll() { "+strings.Repeat("b ", 400))
	for range 6 {
		round(`{"path":"x"}`, "nothing")
	}
	round(`{"pattern":"firstOfAll"}`, "none")
	s := grounded(w, "", nil)
	p := s.Select(edit.SelectArgs{Room: total(w.view) * 6 / 10, Stub: "[{ref}]", Archive: "[{n}: {ref}]", Kind: edit.KindStub, KindDrop: edit.KindDrop})
	if err := w.adopt(p); err != nil {
		t.Fatal(err)
	}
	var shown []string
	for text := range shownBytes(w.view) {
		shown = append(shown, text[:min(len(text), 16)])
	}
	all := strings.Join(shown, "|")
	if !strings.Contains(all, "func firstOfAll") || strings.Contains(all, "func secondOfAll") {
		t.Errorf("want the output that a call referred to, and not the other one, got %s", all)
	}
}

// TestShorten: of a long pinned text both ends stay, with the Ref of all of it, within what it
// may have; of others everything does.
func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab é中\n")), 0, 4000, -1).Draw(t, "text")
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text + "."}}})
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text + "!"}}})
		s := grounded(w, "", []llm.MessageID{1})
		most := rapid.IntRange(100, 1500).Draw(t, "most")
		p := s.Shorten(most)
		if long := s.Size(llm.Text{Text: text + "."}) > most; long == p.Empty() {
			t.Fatalf("a text of %d tokens where %d may be, got %d edits", s.Size(llm.Text{Text: text}), most, len(p.Edits))
		}
		for _, e := range p.Edits {
			now, _ := e.Replacement.(llm.Stub)
			head, rest, _ := strings.Cut(now.Text, "\n[… ")
			note, tail, _ := strings.Cut(rest, " …]\n")
			if e.Span.From != 1 || !strings.HasPrefix(text+".", head) || !strings.HasSuffix(text+".", tail) || !strings.Contains(note, string(now.Ref)) {
				t.Fatalf("message %d is shown as %q", e.Span.From, now.Text)
			}
			if s.Size(now) > most || string(p.Blobs[0].Data) != text+"." || p.Blobs[0].Ref != now.Ref {
				t.Fatalf("%d tokens where %d may be, and %q is stored", s.Size(now), most, p.Blobs[0].Data)
			}
		}
	})
}

// TestDemoteByUse: by use, an output to which a call referred lately stays, an older one becomes
// a line, and where that is not enough the Rounds leave to which nothing has referred.
func TestDemoteByUse(t *testing.T) {
	w := newWorld()
	round := func(args, out string) {
		w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c", Name: "read", Args: args}}})
		w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: out}}}}})
	}
	round(`{"path":"first.go"}`, "func firstOfAll() { "+strings.Repeat("a ", 400))
	round(`{"path":"second.go"}`, "func secondOfAll() { "+strings.Repeat("b ", 400))
	round(`{"path":"third.go"}`, "func thirdOfAll() { "+strings.Repeat("c ", 400))
	round(`{"pattern":"firstOfAll"}`, "none")
	forms := edit.DemoteArgs{Stub: "[{ref}]", Archive: "[{n}: {ref}]", Kind: edit.KindStub, KindDrop: edit.KindDrop}
	all := total(w.view)
	for _, c := range []struct {
		need  int
		shown []string
		gone  []string
	}{
		{all / 6, []string{"firstOfAll() {", "thirdOfAll() {", "second.go"}, []string{"secondOfAll() {"}},
		{all / 2, []string{"firstOfAll() {", "second.go", "third.go"}, []string{"secondOfAll() {", "thirdOfAll() {"}},
		{all * 19 / 20, nil, []string{"firstOfAll() {", "secondOfAll() {", "thirdOfAll() {", "second.go"}},
	} {
		p := grounded(w, "", nil).DemoteByUse(c.need, forms)
		v, err := edit.Fold(w.messages, edit.Holding(p.Edits))
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(v.Items)
		for _, s := range c.shown {
			if !strings.Contains(text, s) {
				t.Errorf("%d of %d to free: want %q shown, got %s", c.need, all, s, text)
			}
		}
		for _, s := range c.gone {
			if strings.Contains(text, s) {
				t.Errorf("%d of %d to free: want %q gone, got %s", c.need, all, s, text)
			}
		}
	}
}
