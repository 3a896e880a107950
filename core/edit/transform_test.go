package edit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// oneOutput is a session with one output.
func oneOutput(text string) *world {
	return newWorld(
		llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "bash"}}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: text}}}}},
	)
}

// shownBy returns what a plan of one edit shows.
func shownBy(p edit.Plan) string { return p.Edits[0].Replacement.(llm.ToolResult).Text() }

func TestCapProperties(t *testing.T) {
	const notice = "\n[rest: {ref}]"
	t.Run("R001-5_lines_and_bytes", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text := drawText(t)
			line, most := rapid.IntRange(1, 60).Draw(t, "line"), rapid.IntRange(1, 120).Draw(t, "bytes")
			s := oneOutput(text).scene(notice)
			sp, _ := outputOf(s, "c1")
			p := s.Cap(sp, edit.CapArgs{LineLength: line, Bytes: most})
			if p.Empty() {
				for l := range strings.SplitSeq(text, "\n") {
					if len(l) > line || len(text) > most {
						t.Fatalf("%q of %d bytes was left alone", l, len(text))
					}
				}
				return
			}
			kept, ok := strings.CutSuffix(shownBy(p), "\n[rest: "+string(p.Edits[0].Refs[0])+"]")
			if !ok {
				t.Fatalf("want the notice at the end, got %q", shownBy(p))
			}
			if len(kept) > most || !utf8.ValidString(kept) {
				t.Fatalf("want at most %d bytes of whole runes, got %q", most, kept)
			}
			whole := strings.Split(text, "\n")
			for i, l := range strings.Split(kept, "\n") {
				if !strings.HasPrefix(whole[i], l) || len(l) > line {
					t.Fatalf("line %d: want at most %d bytes from the beginning of %q, got %q", i, line, whole[i], l)
				}
			}
		})
	})
	t.Run("R001-5_tokens", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text, most := drawText(t), rapid.IntRange(1, 120).Draw(t, "tokens")
			s := oneOutput(text).scene(notice)
			sp, _ := outputOf(s, "c1")
			p := s.Cap(sp, edit.CapArgs{Tokens: most})
			if p.Empty() != (len(text) <= most) {
				t.Fatalf("%d tokens of %d: capped %v", most, len(text), !p.Empty())
			}
			if p.Empty() {
				return
			}
			kept := strings.TrimSuffix(shownBy(p), "\n[rest: "+string(p.Edits[0].Refs[0])+"]")
			head, tail, _ := strings.Cut(kept, "\n[…]\n")
			if len(kept) > most || !utf8.ValidString(kept) || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
				t.Fatalf("want a beginning and an end in %d bytes, got %q", most, kept)
			}
		})
	})
}

// The template of document 002 (R002-6), with its thousands separators.
const offload = "[Tool result stored — {bytes,} bytes from \"{tool}\".\nFirst 200 chars: {preview}...]\nUse the \"read_result\" tool with ref_id=\"{ref}\" to read specific portions."

func TestOffloadText(t *testing.T) {
	t.Run("R002-6_three_lines", func(t *testing.T) {
		text := strings.Repeat("x", 1234567)
		s := oneOutput(text).scene(offload)
		sp, _ := outputOf(s, "c1")
		p := s.Stub(sp, edit.KindOffload, edit.Beginning{Chars: 200}, "over 4,096 bytes")
		want := "[Tool result stored — 1,234,567 bytes from \"bash\".\nFirst 200 chars: " + text[:200] +
			"...]\nUse the \"read_result\" tool with ref_id=\"" + string(llm.RefOf([]byte(text))) + "\" to read specific portions."
		if got := shownBy(p); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("R002-6_preview_is_rune_safe", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			text, n := drawText(t), rapid.IntRange(0, 100).Draw(t, "preview")
			s := oneOutput(text).scene("{preview}|{ref}")
			sp, _ := outputOf(s, "c1")
			preview, _, _ := strings.Cut(shownBy(s.Stub(sp, edit.KindOffload, edit.Beginning{Chars: n}, "")), "|r")
			if want := string([]rune(text)[:min(n, utf8.RuneCountInString(text))]); preview != want {
				t.Fatalf("want the first %d characters of %q, got %q", n, text, preview)
			}
			preview, _, _ = strings.Cut(shownBy(s.Stub(sp, edit.KindOffload, edit.Beginning{Bytes: n}, "")), "|r")
			if !strings.HasPrefix(text, preview) || !utf8.ValidString(preview) || len(preview) > n || len(preview) < min(n, len(text))-utf8.UTFMax+1 {
				t.Fatalf("want the first %d bytes of %q in whole runes, got %q", n, text, preview)
			}
		})
	})
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12288: "12,288", 999999: "999,999", 1000000: "1,000,000",
		-1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456", -1234567: "-1,234,567",
	} {
		t.Run("R002-6_"+want, func(t *testing.T) {
			if got := edit.Thousands(n); got != want {
				t.Errorf("want %s, got %s", want, got)
			}
		})
	}
}

func TestFill(t *testing.T) {
	v := edit.Values{
		Ref: "rref", Source: "rsource", Tool: "bash", Bytes: 1234, Lines: 5, Tokens: 6, N: 7, Used: 8,
		Preview: "{ref} {", Text: "{n}",
	}
	const template = "{ref} {source} {tool} {bytes} {bytes,} {lines} {tokens} {n} {used} {preview} {text} {other} {"
	const want = "rref rsource bash 1234 1,234 5 6 7 8 {ref} { {n} {other} {" // what is filled in is not looked at again
	if got := edit.Fill(template, v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func failed(e edit.Edit) bool { return e.Replacement.(llm.ToolResult).IsError }

func TestOldestFirst(t *testing.T) {
	t.Run("R001-6_trim", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld()
			for range rapid.IntRange(3, 20).Draw(t, "messages") {
				w.say(drawMessage(t, w))
			}
			s, need := w.scene("[{ref}]"), rapid.IntRange(0, 300).Draw(t, "need")
			p, all := s.Trim(need), s.Trim(1<<30)
			for i, e := range p.Edits {
				if e.Span != all.Edits[i].Span || e.Part != all.Edits[i].Part || e.Before <= e.After {
					t.Fatalf("edit %d: want the oldest that gets smaller, got message %d", i, e.Span.From)
				}
				if i > 0 && e.Span.From < p.Edits[i-1].Span.From && failed(e) == failed(p.Edits[i-1]) {
					t.Fatalf("message %d after %d", e.Span.From, p.Edits[i-1].Span.From)
				}
			}
			if all.Gain() >= need && p.Gain() < need {
				t.Fatalf("want %d saved, got %d of %d", need, p.Gain(), all.Gain())
			}
			if n := len(p.Edits); n > 0 && (edit.Plan{Edits: p.Edits[:n-1]}).Gain() >= need {
				t.Fatalf("%d edits where %d are enough", n, n-1)
			}
		})
	})
	t.Run("R002-11_clear", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld()
			for range rapid.IntRange(3, 20).Draw(t, "messages") {
				w.say(drawMessage(t, w))
			}
			least, failed := rapid.IntRange(0, 60).Draw(t, "bytes"), rapid.Bool().Draw(t, "errors")
			s := w.scene("[was {bytes}]")
			p := s.Clear(edit.ClearArgs{Permille: 500, Bytes: least, Errors: failed})
			cleared := map[place]bool{}
			for _, e := range p.Edits {
				cleared[place{e.Span.From, e.Part}] = true
			}
			for _, sp := range s.Outputs() {
				n := len(edit.Stored(sp.Result))
				want := sp.Item < len(w.messages)/2 && n >= least && (failed || !sp.Result.IsError) && s.Stub(sp, "", edit.Beginning{}, "").Gain() > 0
				if cleared[place{sp.ID, sp.Part}] != want {
					t.Fatalf("output %d of %d messages, %d bytes, error %v: want cleared %v", sp.Item, len(w.messages), n, sp.Result.IsError, want)
				}
			}
		})
	})
}

func TestAtFindsWhatIsShown(t *testing.T) {
	w := oneOutput("text")
	s := w.scene("")
	if sp, ok := s.At(2, 0); !ok || sp.Tool != "bash" || sp.ID != 2 || sp.Tokens != 4 || sp.Result.CallID != "c1" {
		t.Errorf("want the output of c1, got %+v (%v)", sp, ok)
	}
	if sp, ok := s.At(1, 0); ok {
		t.Errorf("want no output in message 1, got %+v", sp)
	}
	if err := w.adopt(s.Drop(edit.Span{From: 1, To: 3}, edit.KindDrop, "")); err != nil {
		t.Fatal(err)
	}
	if sp, ok := w.scene("").At(2, 0); ok {
		t.Errorf("want an archived output not found, got %+v", sp)
	}
}

func TestApplyLeavesItsViewAlone(t *testing.T) {
	w := oneOutput("text")
	w.view.Append(llm.Message{ID: 3, Origin: llm.Human}) // there is room behind its end now
	w.messages = append(w.messages, llm.Message{ID: 3, Origin: llm.Human})
	note := func(text string) edit.View {
		e := edit.Edit{ID: 1, Op: edit.Insert, Span: edit.Span{From: 4, To: 4}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: text})}}
		v, err := w.view.Apply(e, w.messages)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, two := note("one"), note("two")
	w.view.Append(llm.Message{ID: 4, Origin: llm.Human})
	if one.Items[3].Message.Text() != "one" || two.Items[3].Message.Text() != "two" || w.view.Items[3].IsNote() {
		t.Errorf("want three views with ends of their own, got %+v, %+v and %+v", one.Items[3], two.Items[3], w.view.Items[3])
	}
}

func TestLines(t *testing.T) {
	const run = "one line\nanother line\na third line"
	dedup := func(x *edit.Lines) edit.Plan {
		s := oneOutput(strings.Repeat("padding\n", 9) + run).scene("[]")
		s.Messages = append([]llm.Message{}, s.Messages...)
		sp, _ := outputOf(s, "c1")
		return s.Dedup(sp, x, edit.DedupArgs{Lines: 3})
	}
	x := edit.NewLines(3)
	if !dedup(x).Empty() {
		t.Error("an empty index knows a run")
	}
	x.Add(2, 0, run)
	if dedup(x).Empty() {
		t.Error("a run that was added is not known")
	}
	x.Forget(2, 0)
	x.Forget(2, 0)
	if !dedup(x).Empty() {
		t.Error("a run that was forgotten is known")
	}
	x.Add(2, 0, "one line\nanother line") // shorter than any run
	if !dedup(x).Empty() {
		t.Error("a run that is too short is known")
	}
}

func TestGainIsEnoughIfBothHold(t *testing.T) {
	for _, tt := range []struct {
		gain          edit.Gain
		before, after int
		want          bool
	}{
		{edit.Gain{}, 10, 10, false},
		{edit.Gain{}, 10, 11, false},
		{edit.Gain{}, 10, 9, true},
		{edit.Gain{Tokens: 60}, 100, 41, false},
		{edit.Gain{Tokens: 60}, 100, 40, true},
		{edit.Gain{Permille: 150}, 1000, 851, false},
		{edit.Gain{Permille: 150}, 1000, 850, true},
		{edit.Gain{Tokens: 60, Permille: 150}, 1000, 900, false},
		{edit.Gain{Tokens: 60, Permille: 150}, 100, 50, false},
	} {
		if got := tt.gain.Enough(tt.before, tt.after); got != tt.want {
			t.Errorf("%+v from %d to %d: want %v, got %v", tt.gain, tt.before, tt.after, tt.want, got)
		}
	}
}

// The line of a Ref behind a placeholder makes no preview of it.
func TestFormOfRefLine(t *testing.T) {
	ref := llm.RefOf([]byte("output"))
	for text, want := range map[string]edit.Form{
		"[cleared]":                                  edit.Bare,
		"[cleared]" + "\nref=" + string(ref):         edit.Bare,
		"[cleared]" + "\nref=" + string(ref) + "\n":  edit.Preview,
		"first line\n[cut]":                          edit.Preview,
		"first line\n[cut]" + "\nref=" + string(ref): edit.Preview,
	} {
		r := llm.ToolResult{Content: []llm.Part{llm.Stub{Ref: ref, Text: text}}}
		if got := edit.FormOf(r); got != want {
			t.Errorf("%q: form, want %d, got %d", text, want, got)
		}
	}
}
