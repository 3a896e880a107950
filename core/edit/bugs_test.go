package edit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Tests of this file failed when they were written.

// storedOutput is a Round whose output a host had put into the store before the
// message was made, so that the message itself holds only a stub.
func storedOutput(w *world, body string) llm.Ref {
	ref := llm.RefOf([]byte(body))
	w.blobs[ref] = []byte(body)
	w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "read"}}})
	w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{
		llm.Stub{Ref: ref, Text: "[stored " + string(ref) + "\n" + strings.Repeat("preview ", 20) + "]", Size: len(body)},
	}}}})
	return ref
}

// Law 2: an output that came as a stub names its Ref; whatever is done about it,
// that Ref, and not one of nothing, is what the edit keeps and shows.
func TestStubOfAnOutputThatCameAsAStub(t *testing.T) {
	for name, plan := range map[string]func(edit.Scene) edit.Plan{
		"trim":   func(s edit.Scene) edit.Plan { return s.Trim(1) },
		"demote": func(s edit.Scene) edit.Plan { return s.Demote(1, edit.DemoteArgs{Stub: "[{bytes} bytes, {ref}]"}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			ref := storedOutput(w, "a very long output")
			p := plan(w.scene("[{bytes} bytes, {ref}]"))
			if len(p.Edits) != 1 {
				t.Fatalf("want one edit, got %+v", p)
			}
			stub, _ := edit.StubOf(p.Edits[0].Replacement.(llm.ToolResult))
			if p.Edits[0].Refs[0] != ref || stub.Ref != ref || stub.Size != 18 || stub.Text != "[18 bytes, "+string(ref)+"]" {
				t.Errorf("want ref %s of 18 bytes, got refs %v and %+v", ref, p.Edits[0].Refs, stub)
			}
		})
	}
	t.Run("drop", func(t *testing.T) {
		w := newWorld()
		ref := storedOutput(w, "a very long output")
		p := w.scene("[{ref}]").Drop(edit.Span{From: 1, To: 3}, edit.KindDrop, "why")
		if !strings.Contains(string(p.Blobs[0].Data), string(ref)) {
			t.Errorf("want the archive to name %s, got %s", ref, p.Blobs[0].Data)
		}
	})
}

// Law 2: content that is no UTF-8 comes back byte for byte, also if it never was
// on a wire.
func TestArchiveOfOtherBytes(t *testing.T) {
	image := llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte("\x89PNG\xff")}}
	for name, p := range map[string]llm.Part{
		"text":        llm.Text{Text: "caf\xe9"},
		"text output": llm.ToolResult{CallID: "h", Content: []llm.Part{llm.Text{Text: "caf\xe9"}}},
		"two outputs": llm.ToolResult{CallID: "h", Content: []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "\xe9"}}},
		"an image":    llm.ToolResult{CallID: "h", Content: []llm.Part{image}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "h", Name: "x"}}})
			w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "h", Content: []llm.Part{llm.Text{Text: "ok"}}}}})
			m := &w.messages[1]
			if _, ok := p.(llm.ToolResult); ok {
				m.Parts = []llm.Part{p}
			} else {
				m.Parts = append(m.Parts, p)
			}
			w.view, _ = edit.Fold(w.messages, nil)
			if err := w.adopt(w.scene("[{ref}]").Drop(edit.Span{From: 1, To: 3}, edit.KindDrop, "why")); err != nil {
				t.Fatal(err)
			}
			want := stored(m.Parts[len(m.Parts)-1])
			for _, data := range w.blobs {
				if holds(data, want) {
					return
				}
			}
			t.Errorf("want %q among what is stored, got\n%q", want, w.blobs)
		})
	}
}

// holds reports whether a blob is want, or an archive with a line that has it.
func holds(blob, want []byte) bool {
	if string(blob) == string(want) {
		return true
	}
	for line := range strings.Lines(string(blob)) {
		var e struct {
			Raw64  []byte `json:"raw64"`
			Text   string `json:"text"`
			Text64 []byte `json:"text64"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && (string(e.Raw64) == string(want) || e.Text == string(want) || string(e.Text64) == string(want)) {
			return true
		}
	}
	return false
}

// Law 2: a summary that stood beside an archive can be read back after that
// archive went into another one.
func TestMergedArchiveKeepsTheNotesOfTheEarlierOne(t *testing.T) {
	w := newWorld()
	for range 4 {
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat("words ", 20)}}})
	}
	summary := edit.NoteOf(llm.Text{Text: "They talked about <words>."})
	summary.Flags = llm.FlagSummary
	first := w.scene("[{ref}]").Archive(edit.Span{From: 1, To: 3}, edit.KindSummarise, []llm.Message{summary}, nil)
	if err := w.adopt(first); err != nil {
		t.Fatal(err)
	}
	if err := w.adopt(w.scene("[{ref}]").Drop(edit.Span{From: 1, To: 4}, edit.KindDrop, "why")); err != nil {
		t.Fatal(err)
	}
	s, err := w.shelf()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.notes) != 1 || s.notes[0] != summary.Text() {
		t.Errorf("want the summary %q to be stored, got notes %q", summary.Text(), s.notes)
	}
}

// The package comment gives the form of each line of an archive, and their order.
func TestArchiveHasTheDocumentedForm(t *testing.T) {
	w := newWorld()
	say := func(text string) {
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}})
	}
	adopt := func(p edit.Plan) edit.Edit {
		if err := w.adopt(p); err != nil {
			t.Fatal(err)
		}
		return w.journal[len(w.journal)-1]
	}
	say("one")
	say("two")
	inner := adopt(w.scene("[{ref}]").Drop(edit.Span{From: 1, To: 2}, edit.KindDrop, "why")).Refs[0]
	adopt(edit.Plan{Edits: []edit.Edit{{
		Op: edit.Insert, Span: edit.Span{From: 3, To: 3}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "mind <this>"})},
	}}})
	say("three")
	say("four")
	got := string(w.blobs[adopt(w.scene("[{ref}]").Drop(edit.Span{From: 1, To: 4}, edit.KindDrop, "why")).Refs[0]])
	want := join([]string{
		`{"archive":1,"from":1,"to":4}`,
		fmt.Sprintf(`{"archive":"%s","from":1,"to":2}`, inner),
		`{"message":2,"role":"user","origin":"human","part":0,"kind":"text","text":"two"}`,
		`{"note":"mind <this>"}`,
		`{"message":3,"role":"user","origin":"human","part":0,"kind":"text","text":"three"}`,
	})
	// The note on the inner archive may be there as well.
	got = strings.Replace(got, fmt.Sprintf("{\"note\":\"[%s]\"}\n", inner), "", 1)
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// An archive says which of the outputs in it one of our tools has given back.
func TestArchiveTellsOwnAnswers(t *testing.T) {
	w := newWorld(
		llm.AssistantText("", llm.ToolCall{CallID: "c1", Name: "read"}, llm.ToolCall{CallID: "c2", Name: "page"}),
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: "theirs"}}}, llm.ToolResult{CallID: "c2", Content: []llm.Part{llm.Text{Text: "ours"}}},
		}},
		llm.AssistantText("done"), llm.AssistantText("and done"),
	)
	s := w.scene("[{ref}]")
	s.Own = func(tool string) bool { return tool == "page" }
	p := s.Drop(edit.Span{From: 1, To: 4}, edit.KindDrop, "why")
	got := string(p.Blobs[0].Data)
	for _, want := range []string{`"part":0,"kind":"tool_result","text":"theirs"`, `"part":1,"kind":"tool_result","own":"page","text":"ours"`} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
}

// Law 3: nothing may bring a call or a result into the view that the transcript
// does not pair.
func TestCheckRefusesCallsFromNowhere(t *testing.T) {
	w := newWorld()
	w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "hello"}}})
	ref := []llm.Ref{llm.RefOf([]byte("hello"))}
	for _, p := range []llm.Part{llm.ToolCall{CallID: "x"}, llm.ToolResult{CallID: "x"}, llm.Thinking{Text: "x"}} {
		for name, e := range map[string]edit.Edit{
			"instead of a text":     {Op: edit.Replace, Span: edit.Span{From: 1, To: 2}, Replacement: p, Refs: ref},
			"in the note":           {Op: edit.Insert, Span: edit.Span{From: 2, To: 2}, Notes: []llm.Message{edit.NoteOf(p)}},
			"in an archive's place": {Op: edit.Archive, Span: edit.Span{From: 1, To: 2}, Notes: []llm.Message{edit.NoteOf(p)}, Refs: ref},
		} {
			t.Run(fmt.Sprintf("%s %s", edit.KindOf(p), name), func(t *testing.T) {
				if err := edit.Check(e, w.messages, &w.turns); err == nil {
					t.Error("want an error, got nil")
				}
			})
		}
	}
	t.Run("a note with the id of a message", func(t *testing.T) {
		n := edit.NoteOf(llm.Text{Text: "x"})
		n.ID = 1
		if err := edit.Check(edit.Edit{Op: edit.Insert, Span: edit.Span{From: 2, To: 2}, Notes: []llm.Message{n}}, w.messages, &w.turns); err == nil {
			t.Error("want an error, got nil")
		}
	})
}

// Law 2: what takes content out of the view says where it is.
func TestCheckRefusesEditsWithoutARef(t *testing.T) {
	w := newWorld()
	w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "hello"}}})
	for _, e := range []edit.Edit{
		{Op: edit.Replace, Span: edit.Span{From: 1, To: 2}, Replacement: llm.Stub{Text: "gone"}},
		{Op: edit.Archive, Span: edit.Span{From: 1, To: 2}},
	} {
		if err := edit.Check(e, w.messages, &w.turns); err == nil {
			t.Errorf("%s: want an error, got nil", e.Op)
		}
	}
}

// Law 4: an edit means the same when it is applied to a view and when the view
// is made from scratch.
func TestInsertWithASection(t *testing.T) {
	w := newWorld()
	e := edit.Edit{
		ID: 1, Op: edit.Insert, Span: edit.Span{From: 1, To: 1}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "x"})},
		Sections: []llm.Section{{Name: "s", Text: "x"}},
	}
	if edit.Check(e, w.messages, &w.turns) != nil {
		return // an Insert need not be allowed sections
	}
	v, err := w.view.Apply(e, w.messages)
	if err != nil {
		t.Fatal(err)
	}
	again, err := edit.Fold(w.messages, []edit.Edit{e})
	if err != nil || !reflect.DeepEqual(v.Sections, again.Sections) {
		t.Errorf("applied: sections %v, from scratch: %v (%v)", v.Sections, again.Sections, err)
	}
}

// Archive keeps its hands off the slices it is given.
func TestArchiveDoesNotWriteIntoItsArguments(t *testing.T) {
	w := newWorld()
	for range 3 {
		w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "hello"}}})
	}
	section := func(name string) llm.Section { return llm.Section{Name: name, Kind: llm.SectionSummary} }
	old := w.scene("").Archive(edit.Span{From: 1, To: 2}, edit.KindSummarise, nil, []llm.Section{section("old")})
	if err := w.adopt(old); err != nil {
		t.Fatal(err)
	}
	mine := []llm.Section{section("new"), section("mine")}
	w.scene("").Archive(edit.Span{From: 1, To: 3}, edit.KindSummarise, nil, mine[:1])
	if mine[1].Name != "mine" {
		t.Errorf("want the caller's section, got %+v", mine[1])
	}
}

// What DropUntil plans saves what was asked for, the note in its place included,
// if that can be saved at all.
func TestDropUntilSavesWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(3, 20).Draw(t, "messages") {
			w.say(drawMessage(t, w))
		}
		s := w.scene("[{n} {ref}]")
		need := rapid.IntRange(1, total(w.view)).Draw(t, "need")
		p := s.DropUntil(need, edit.KindTruncate, "why")
		all := s.Drop(edit.Span{From: 1, To: s.Keep}, edit.KindTruncate, "why")
		if all.Gain() >= need && p.Gain() < need {
			t.Fatalf("want %d saved, got %d where %d can be", need, p.Gain(), all.Gain())
		}
	})
}

// The same for a batch that may archive.
func TestDemoteSavesWhatIsNeeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(3, 20).Draw(t, "messages") {
			w.say(drawMessage(t, w))
		}
		s := w.scene("[{n} {ref}]")
		need := rapid.IntRange(1, total(w.view)).Draw(t, "need")
		a := edit.DemoteArgs{Preview: 300, Stub: "[{ref}]", Archive: "[{n} {ref}]"}
		p, all := s.Demote(need, a), s.Demote(1<<30, a)
		if all.Gain() >= need && p.Gain() < need {
			t.Fatalf("want %d saved, got %d where %d can be", need, p.Gain(), all.Gain())
		}
	})
}

// An edit names each Ref once, and a plan carries each blob once.
func TestRefsAreNamedOnce(t *testing.T) {
	run := strings.Repeat("a line of some length that is shown twice\n", 5)
	w := newWorld()
	for _, id := range []string{"c1", "c2"} {
		w.say(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read"}}})
		w.say(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: run + id + "\n" + run}}}}})
	}
	s := w.scene("[{source}]")
	sp, _ := outputOf(s, "c2")
	p := s.Dedup(sp, shownLines(s, 3, sp), edit.DedupArgs{Lines: 3})
	if len(p.Edits) != 1 {
		t.Fatalf("want one edit, got %+v", p)
	}
	if refs, blobs := p.Edits[0].Refs, p.Blobs; len(refs) != 2 || len(blobs) != 2 {
		t.Errorf("want the output's own ref and its source's, got %v and %d blobs", refs, len(blobs))
	}
}

// No input panics.
func TestNothingPanics(t *testing.T) {
	w := newWorld()
	storedOutput(w, "output")
	w.say(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "hello"}}})
	s := w.scene("[{ref} {preview}]")
	beyond := s
	beyond.Keep = 99
	beyond.Pinned = func(m llm.Message) bool { return m.ID == 99 }
	sp, _ := outputOf(s, "c1")
	bare := edit.Edit{ID: 1, Op: edit.Replace, Span: edit.Span{From: 3, To: 4}, Replacement: llm.Stub{Text: "gone"}}
	for name, call := range map[string]func(){
		"drop before the beginning": func() { beyond.Drop(edit.Span{From: 0, To: 3}, "", "") },
		"drop far before it":        func() { beyond.Drop(edit.Span{From: -5, To: 3}, "", "") },
		"drop beyond the end":       func() { beyond.Drop(edit.Span{From: 1, To: 9}, "", "") },
		"drop backwards":            func() { beyond.Drop(edit.Span{From: 4, To: 1}, "", "") },
		"drop all with keep beyond": func() { beyond.DropUntil(1<<30, "", "") },
		"no such part":              func() { s.At(2, 7) },
		"a part before the first":   func() { s.At(2, -1) },
		"a negative preview":        func() { s.Stub(sp, "", edit.Beginning{Chars: -1, Bytes: -1}, "") },
		"check a negative part": func() {
			_ = edit.Check(edit.Edit{Op: edit.Replace, Span: edit.Span{From: 3, To: 4}, Part: -1}, w.messages, &w.turns)
		},
		"fold a part that is not there": func() {
			_, _ = edit.Fold(w.messages, []edit.Edit{{ID: 1, Op: edit.Replace, Span: edit.Span{From: 3, To: 4}, Part: 7}})
		},
		"fold an archive beyond the end": func() {
			_, _ = edit.Fold(w.messages, []edit.Edit{{ID: 1, Op: edit.Archive, Span: edit.Span{From: 2, To: 99}}})
		},
		"archive an edit without a ref": func() {
			v, _ := edit.Fold(w.messages, []edit.Edit{bare})
			s := s
			s.View = v
			s.Drop(edit.Span{From: 3, To: 4}, "", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v", p)
				}
			}()
			call()
		})
	}
}
