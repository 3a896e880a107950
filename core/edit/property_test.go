package edit_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// drawText returns a text of few different lines, so that runs repeat.
func drawText(t *rapid.T) string {
	line := rapid.SampledFrom([]string{
		"", "a", "}", "über 漢字 🚢", "a longer line that says {ref} and {text}",
		strings.Repeat("wide ", 20), strings.Repeat("breit é ", 20), strings.Repeat("-", 150),
	})
	return strings.Join(rapid.SliceOfN(line, 1, 9).Draw(t, "lines"), "\n")
}

// drawRaw returns the bytes that a part came with: none, text, or no text at all.
func drawRaw(t *rapid.T) llm.Raw {
	switch rapid.IntRange(0, 3).Draw(t, "raw") {
	case 0, 1:
		return llm.Raw{}
	case 2:
		return llm.Raw{Data: []byte(rapid.StringN(0, 12, -1).Draw(t, "data"))}
	}
	return llm.Raw{Data: rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "data")}
}

// drawMedia returns a part that always has bytes, as all media do.
func drawMedia(t *rapid.T) llm.Part {
	return llm.Media{Type: "image/png", Raw: llm.Raw{Data: rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "image")}}
}

// drawResult answers a call.
func drawResult(t *rapid.T, callID string) llm.Part {
	r := llm.ToolResult{CallID: callID, IsError: rapid.IntRange(0, 5).Draw(t, "error") == 0, Raw: drawRaw(t)}
	switch rapid.IntRange(0, 5).Draw(t, "content") {
	case 0:
	case 1:
		r.Content = []llm.Part{llm.Text{Text: drawText(t)}, llm.Text{Text: drawText(t)}}
	case 2:
		r.Content = []llm.Part{llm.Text{Text: drawText(t)}, drawMedia(t)}
		r.Raw = llm.Raw{Data: []byte("a text and an image")}
	default:
		r.Content = []llm.Part{llm.Text{Text: drawText(t), Raw: drawRaw(t)}}
	}
	return r
}

// drawMessage returns a message that may come next: results only for open calls,
// and no call with the id of an open one. Ids come back.
func drawMessage(t *rapid.T, w *world) llm.Message {
	open := w.turns.OpenCalls()
	kinds := []string{"human", "model", "calls", "note"}
	if len(open) > 0 {
		kinds = []string{"results", "results", "results", "calls", "note", "human"}
	}
	switch rapid.SampledFrom(kinds).Draw(t, "message") {
	case "human":
		m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: drawText(t), Raw: drawRaw(t)}}}
		if rapid.Bool().Draw(t, "with image") {
			m.Parts = append(m.Parts, drawMedia(t))
		}
		return m
	case "model":
		return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
			llm.Thinking{Text: drawText(t), Signature: "s", Raw: drawRaw(t)},
			llm.Text{Text: drawText(t), Raw: drawRaw(t)},
			llm.Opaque{Kind: "item", Raw: llm.Raw{Data: []byte("opaque")}},
			llm.ToolCall{CallID: "h", Name: "search", Hosted: true, Raw: drawRaw(t)},
		}[:rapid.IntRange(1, 4).Draw(t, "parts")]}
	case "calls":
		m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		for n := range 4 {
			id := "c" + strconv.Itoa(n)
			taken := false
			for _, c := range open {
				taken = taken || c.CallID == id
			}
			if !taken && (len(m.Parts) == 0 || rapid.Bool().Draw(t, "parallel")) {
				name := rapid.SampledFrom([]string{"read", "bash", "edit_file", "grep", "other"}).Draw(t, "tool")
				m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: name, Args: `{"path":"a"}`, Raw: drawRaw(t)})
			}
		}
		if len(m.Parts) > 0 {
			return m
		}
	case "results":
		m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, c := range rapid.Permutation(open).Draw(t, "order")[:rapid.IntRange(1, len(open)).Draw(t, "answered")] {
			m.Parts = append(m.Parts, drawResult(t, c.CallID))
		}
		return m
	}
	return llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagRules, Parts: []llm.Part{llm.Text{Text: drawText(t), Raw: drawRaw(t)}}}
}

const pointer = "<same|{lines}|{source}|{ref}>"

// drawScene limits what a transform may touch.
func drawScene(t *rapid.T, w *world) edit.Scene {
	s := w.scene("[{tool} {bytes,} {ref}]")
	s.Keep = llm.MessageID(rapid.IntRange(1, len(w.messages)+1).Draw(t, "keep"))
	pinned := rapid.SliceOfN(rapid.IntRange(1, max(len(w.messages), 1)), 0, 2).Draw(t, "pinned")
	s.Pinned = func(m llm.Message) bool { return slices.Contains(pinned, int(m.ID)) }
	return s
}

// drawPlan plans any transform with any arguments.
func drawPlan(t *rapid.T, w *world, s edit.Scene) edit.Plan {
	need := rapid.IntRange(0, total(w.view)+10).Draw(t, "need")
	outputs := s.Outputs()
	transforms := []string{"trim", "clear", "drop", "dropuntil", "demote", "note", "media"}
	if len(outputs) > 0 {
		transforms = append(transforms, "stub", "cap", "dedup")
	}
	spot := func() edit.Spot { return rapid.SampledFrom(outputs).Draw(t, "output") }
	switch rapid.SampledFrom(transforms).Draw(t, "transform") {
	case "stub":
		s.Template += "\n{preview}"
		return s.Stub(spot(), edit.KindOffload, edit.Beginning{Chars: rapid.IntRange(0, 50).Draw(t, "preview"), Bytes: rapid.IntRange(0, 50).Draw(t, "bytes")}, "why")
	case "cap":
		return s.Cap(spot(), edit.CapArgs{
			LineLength: rapid.IntRange(0, 20).Draw(t, "line"),
			Bytes:      rapid.IntRange(0, 80).Draw(t, "bytes"),
			Tokens:     rapid.IntRange(0, 80).Draw(t, "tokens"),
		})
	case "dedup":
		s.Template = pointer
		sp := spot()
		n := rapid.IntRange(1, 3).Draw(t, "run")
		p := s.Dedup(sp, shownLines(s, n, sp), edit.DedupArgs{Lines: n, Chars: rapid.IntRange(0, 10).Draw(t, "chars")})
		pointersHold(t, w, p, n)
		return p
	case "trim":
		return s.Trim(need)
	case "clear":
		return s.Clear(edit.ClearArgs{
			Permille: rapid.IntRange(0, 1000).Draw(t, "permille"),
			Bytes:    rapid.IntRange(0, 50).Draw(t, "bytes"), Errors: rapid.Bool().Draw(t, "errors"),
		})
	case "drop":
		from := rapid.IntRange(1, len(w.messages)+1).Draw(t, "from")
		to := rapid.IntRange(from, len(w.messages)+1).Draw(t, "to")
		return s.Drop(edit.Span{From: llm.MessageID(from), To: llm.MessageID(to)}, edit.KindDrop, "why")
	case "dropuntil":
		return s.DropUntil(need, edit.KindTruncate, "why")
	case "demote":
		a := edit.DemoteArgs{
			Preview: rapid.IntRange(0, 900).Draw(t, "preview"), Stub: "[{ref}]",
			Kind: edit.KindStub, KindDrop: edit.KindDrop,
		}
		if rapid.Bool().Draw(t, "archive") {
			a.Archive = "[{n} {ref}]"
		}
		return s.Demote(need, a)
	case "media":
		return replaceMedia(t, w, s.Keep)
	}
	n := edit.NoteOf(llm.Text{Text: fmt.Sprintf("note %d", len(w.journal))})
	return edit.Plan{Edits: []edit.Edit{{
		Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: w.next(), To: w.next()}, Notes: []llm.Message{n}, After: measure(n),
	}}}
}

// replaceMedia plans a stub for an image of a person, by hand: no transform does
// it yet, but the rules for it are here.
func replaceMedia(t *rapid.T, w *world, keep llm.MessageID) edit.Plan {
	var spots []place
	for _, it := range w.view.Items {
		for n, p := range it.Message.Parts {
			if _, ok := p.(llm.Media); ok && it.Message.ID < keep {
				spots = append(spots, place{it.Message.ID, n})
			}
		}
	}
	if len(spots) == 0 {
		return edit.Plan{}
	}
	at := rapid.SampledFrom(spots).Draw(t, "image")
	old := w.messages[at.id-1].Parts[at.part].(llm.Media)
	ref := llm.RefOf(old.Data)
	now := llm.Stub{Ref: ref, Text: "[an image]", Size: len(old.Data), Raw: old.Edited()}
	return edit.Plan{
		Edits: []edit.Edit{{
			Op: edit.Replace, Kind: edit.KindMedia, Span: edit.Span{From: at.id, To: at.id + 1}, Part: at.part,
			Replacement: now, Refs: []llm.Ref{ref}, Before: size(old), After: size(now),
		}},
		Blobs: []edit.Blob{{Ref: ref, Data: old.Data}},
	}
}

// pointersHold reads a deduplicated output as a person would: every pointer
// stands for lines of the original that its source shows in this order.
func pointersHold(t *rapid.T, w *world, p edit.Plan, shortest int) {
	if p.Empty() {
		return
	}
	e := p.Edits[0]
	original := strings.Split(w.messages[e.Span.From-1].Parts[e.Part].(llm.ToolResult).Text(), "\n")
	blobs := map[string]string{}
	for _, b := range p.Blobs {
		blobs[string(b.Ref)] = "\n" + string(b.Data) + "\n"
	}
	next := 0
	for _, line := range strings.Split(e.Replacement.(llm.ToolResult).Text(), "\n") {
		fields := strings.Split(strings.Trim(line, "<>"), "|")
		if fields[0] != "same" {
			if line != original[next] {
				t.Fatalf("dedup: line %d: got %q, want %q", next, line, original[next])
			}
			next++
			continue
		}
		n, _ := strconv.Atoi(fields[1])
		if n < shortest || next+n > len(original) {
			t.Fatalf("dedup: a pointer for %d lines at %d of %d, want at least %d", n, next, len(original), shortest)
		}
		if run := "\n" + join(original[next:next+n]); !strings.Contains(blobs[fields[2]], run) {
			t.Fatalf("dedup: %s stands for %q, which its source does not hold: %q", line, run, blobs[fields[2]])
		}
		if blobs[fields[3]] != "\n"+strings.Join(original, "\n")+"\n" {
			t.Fatalf("dedup: %s: want the output's own text under its own ref", line)
		}
		next += n
	}
	if next != len(original) {
		t.Fatalf("dedup: %d of %d lines are accounted for", next, len(original))
	}
}

// sound checks a plan before it is adopted.
func sound(t *rapid.T, s edit.Scene, p edit.Plan) {
	gain := 0
	for _, e := range p.Edits {
		gain += e.Before - e.After
		if e.Op != edit.Insert && e.Span.To > s.Keep {
			t.Fatalf("edit of [%d,%d) touches what is kept from %d on", e.Span.From, e.Span.To, s.Keep)
		}
		if e.Op != edit.Insert && len(e.Refs) == 0 {
			t.Fatalf("law 2: edit of [%d,%d) names no ref", e.Span.From, e.Span.To)
		}
	}
	if gain != p.Gain() {
		t.Fatalf("Gain: got %d, want %d", p.Gain(), gain)
	}
	for _, b := range p.Blobs {
		if b.Ref != llm.RefOf(b.Data) {
			t.Fatalf("law 2: blob %s holds the bytes of %s", b.Ref, llm.RefOf(b.Data))
		}
	}
}

// pinned returns the pinned messages that the view of s shows.
func pinned(s edit.Scene) []llm.MessageID {
	var ids []llm.MessageID
	for _, it := range s.View.Items {
		if !it.IsNote() && s.Pinned(it.Message) {
			ids = append(ids, it.Message.ID)
		}
	}
	return ids
}

// handed is a view that was given to a sender.
type handed struct{ view, copy edit.View }

// transformsKeepTheLaws plays a random session: messages arrive, transforms act,
// and after each of them every law holds.
func transformsKeepTheLaws(t *rapid.T) {
	w := newWorld()
	var sent []handed
	for range rapid.IntRange(1, 45).Draw(t, "events") {
		sent = append(sent, handed{w.view, shot(w.view)})
		if len(w.messages) < 3 || rapid.IntRange(0, 9).Draw(t, "event") < 5 {
			w.say(drawMessage(t, w))
		} else {
			before := total(w.view)
			s := drawScene(t, w)
			p, pins := drawPlan(t, w, s), pinned(s)
			sound(t, s, p)
			if err := w.adopt(p); err != nil {
				t.Fatalf("a transform planned what may not be done: %v", err)
			}
			if after := total(w.view); before-after != p.Gain() {
				t.Fatalf("the edits say %d tokens less, the view has %d less\n%s", p.Gain(), before-after, renderEdits(w))
			}
			s.View = w.view
			if now := pinned(s); !slices.Equal(now, pins) {
				t.Fatalf("pinned messages in the view: %v before, %v after", pins, now)
			}
		}
		if err := w.laws(); err != nil {
			t.Fatalf("%v\n%s%s", err, renderEdits(w), render(w, w.view))
		}
	}
	for i, h := range sent {
		if !reflect.DeepEqual(shot(h.view), h.copy) {
			t.Fatalf("view %d changed after it was sent", i)
		}
	}
}

func TestTransformsKeepTheLaws(t *testing.T) { rapid.Check(t, transformsKeepTheLaws) }

// FuzzApply is TestTransformsKeepTheLaws under the fuzzer.
func FuzzApply(f *testing.F) { f.Fuzz(rapid.MakeFuzz(transformsKeepTheLaws)) }

// A plan depends on nothing but the scene.
func TestPlansAreDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(3, 20).Draw(t, "messages") {
			w.say(drawMessage(t, w))
		}
		s := w.scene("[{ref}]")
		need := rapid.IntRange(0, total(w.view)).Draw(t, "need")
		a := edit.DemoteArgs{Preview: 300, Stub: "[{ref}]", Archive: "[{n} {ref}]"}
		for _, plan := range []func() edit.Plan{
			func() edit.Plan { return s.Trim(need) },
			func() edit.Plan { return s.Clear(edit.ClearArgs{Permille: 500}) },
			func() edit.Plan { return s.DropUntil(need, edit.KindDrop, "why") },
			func() edit.Plan { return s.Demote(need, a) },
		} {
			if first, again := plan(), plan(); !reflect.DeepEqual(first, again) {
				t.Fatalf("law 4: planned twice, got\n%+v\n%+v", first, again)
			}
			if err := w.laws(); err != nil {
				t.Fatalf("a plan that was not adopted left traces: %v", err)
			}
		}
	})
}

// An output that is put together from pieces of earlier ones loses nothing by
// being shown as pointers to them.
func TestDedupPointersAreRight(t *testing.T) {
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"alpha ", "beta ", "gamma "}).Draw(t, "word"), rapid.IntRange(0, 12).Draw(t, "times"))
	})
	rapid.Check(t, func(t *rapid.T) {
		sources := [][]string{rapid.SliceOfN(line, 1, 12).Draw(t, "source"), rapid.SliceOfN(line, 1, 12).Draw(t, "source")}
		var again []string
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			src := rapid.SampledFrom(sources).Draw(t, "from")
			from := rapid.IntRange(0, len(src)).Draw(t, "start")
			again = append(again, src[from:rapid.IntRange(from, len(src)).Draw(t, "end")]...)
			again = append(again, rapid.SliceOfN(line, 0, 2).Draw(t, "new")...)
		}
		w := newWorld()
		for i, lines := range append(sources, again) {
			id := "c" + strconv.Itoa(i)
			w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read"}}})
			w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
				llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Join(lines, "\n")}}},
			}})
		}
		s, n := w.scene(pointer), rapid.IntRange(1, 4).Draw(t, "run")
		sp, _ := outputOf(s, "c2")
		p := s.Dedup(sp, shownLines(s, n, sp), edit.DedupArgs{Lines: n})
		pointersHold(t, w, p, n)
		if err := w.adopt(p); err != nil {
			t.Fatal(err)
		}
		if err := w.laws(); err != nil {
			t.Fatal(err)
		}
	})
}
