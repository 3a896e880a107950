package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// A world is a random conversation and what an engine made of it.
type world struct {
	dialect string
	turns   []turn          // as the client sent it
	edited  []turn          // as it went out
	at      []int           // of every edited turn, its number in turns from 1; 0 for a note
	stubbed map[string]bool // calls whose output was replaced
	cut     int             // the first so many turns are in the archive
	ref     string          // of the archive
	store   store
}

// conversation draws rounds of parallel calls with texts between them. Every text is
// different, so that it is known which part a finding is about.
func conversation(t *rapid.T) []turn {
	n := 0
	word := func(what string) string {
		n++
		return fmt.Sprintf("%s %d %s", what, n, rapid.SampledFrom([]string{"a", "é\n\"x\"", "b\nc\nd\ne", "<&>\\"}).Draw(t, "text"))
	}
	turns := []turn{human(word("ask"))}
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0:
			turns = append(turns, reply(word("say")), human(word("ask")))
		default:
			var ids []string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				n++
				ids = append(ids, fmt.Sprint("call_", n))
			}
			c := calls(ids...)
			if rapid.Bool().Draw(t, "thinks") {
				c.parts = append([]part{{kind: "thinking", text: word("think")}}, c.parts...)
			}
			turns = append(turns, c)
			for _, id := range ids {
				turns = append(turns, result(id, word("out")))
			}
		}
	}
	return append(turns, reply(word("say")), human(word("ask")))
}

// edit draws what an engine does: some outputs become stubs, then the oldest turns an
// archive, into which the stubs go by their Refs.
func edit(t *rapid.T, dialect string) *world {
	w := &world{dialect: dialect, turns: conversation(t), stubbed: map[string]bool{}, store: store{}}
	for i, u := range w.turns {
		w.at = append(w.at, i+1)
		if u.role == "tool" && rapid.IntRange(0, 2).Draw(t, "stub") == 0 {
			p := u.parts[0]
			w.stubbed[p.id] = true
			u = result(p.id, "[output stored: ref="+w.store.put(p.text)+"]")
		}
		w.edited = append(w.edited, u)
	}
	var cuts []int
	for i, u := range w.turns {
		if u.role != "tool" {
			cuts = append(cuts, i)
		}
	}
	if w.cut = rapid.SampledFrom(cuts).Draw(t, "cut"); w.cut > 0 {
		w.ref = w.store.put(archive(dialect, w.turns, 1, w.cut+1, w.stubbed))
		note := human(fmt.Sprintf("[%d messages stored: ref=%s]", w.cut, w.ref))
		w.edited = append([]turn{note}, w.edited[w.cut:]...)
		w.at = append([]int{0}, w.at[w.cut:]...)
	}
	return w
}

func (w *world) check(t *rapid.T) verify.Findings {
	f, err := verify.Compare(w.dialect, body(w.dialect, w.turns...), body(w.dialect, w.edited...), verify.Options{Load: w.store.load})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lost returns the kinds and beginnings of the parts of turns, as findings show them.
func lost(turns ...turn) []string {
	var out []string
	for _, u := range turns {
		for _, p := range u.parts {
			out = append(out, p.kind+" "+p.id+" "+p.text)
		}
	}
	slices.Sort(out)
	return out
}

// uncovered returns the findings in the same form.
func uncovered(f verify.Findings) []string {
	var out []string
	for _, u := range f.Uncovered {
		out = append(out, string(u.Kind)+" "+u.CallID+" "+u.Text)
	}
	slices.Sort(out)
	return out
}

func equal(t *rapid.T, what string, got, want []string) {
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// Law 2: what was stored is found, all of it and nothing else.
func TestRecoverable(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			f := w.check(t)
			if !f.Clean() {
				t.Fatalf("findings of a good edit: %+v", f)
			}
			removed := 0
			for _, u := range w.turns[:w.cut] {
				removed += len(u.parts)
			}
			for _, u := range w.turns[w.cut:] {
				if u.role == "tool" && w.stubbed[u.parts[0].id] {
					removed++
				}
			}
			if c := f.Covered; f.Removed != removed || c.Own+c.Named != removed {
				t.Fatalf("counts: got %+v, want %d removed", f, removed)
			}
		})
	})
}

// A blob that is gone or damaged uncovers what only it covers.
func TestBlobsMatter(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			refs := slices.Sorted(func(yield func(string) bool) {
				for ref := range w.store {
					if !yield(ref) {
						return
					}
				}
			})
			if len(refs) == 0 {
				t.Skip("nothing was stored")
			}
			ref := rapid.SampledFrom(refs).Draw(t, "ref")
			data := w.store[ref]
			var gone []turn
			for i, u := range w.turns {
				stub := u.role == "tool" && w.stubbed[u.parts[0].id]
				switch {
				case ref == w.ref && i < w.cut: // its outputs stay stored, but nothing names them
					gone = append(gone, u)
				case stub && refOf(u.parts[0].text) == ref && (i >= w.cut || w.ref != ""):
					gone = append(gone, u)
				}
			}
			if rapid.Bool().Draw(t, "damaged") {
				w.store[ref] = append([]byte("x"), data...)
			} else {
				delete(w.store, ref)
			}
			f := w.check(t)
			equal(t, "uncovered", uncovered(f), lost(gone...))
			if len(f.Unresolved) != 1 || !strings.HasPrefix(f.Unresolved[0], ref) || len(f.Orphans)+len(f.Invented) > 0 {
				t.Fatalf("findings: got %+v, want %s unresolved and nothing else", f, ref)
			}
		})
	})
}

// A line that is missing in an archive uncovers one part.
func TestEntriesMatter(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			if w.cut == 0 {
				t.Skip("nothing was archived")
			}
			lines := strings.SplitAfter(string(w.store[w.ref]), "\n")
			var parts []turn
			for _, u := range w.turns[:w.cut] {
				for _, p := range u.parts {
					parts = append(parts, turn{u.role, []part{p}})
				}
			}
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "line")
			bad := w.store.put(strings.Join(slices.Delete(lines, i+1, i+2), ""))
			w.edited[0] = human("[stored: ref=" + bad + "]")
			f := w.check(t)
			equal(t, "uncovered", uncovered(f), lost(parts[i]))
			if len(f.Unresolved)+len(f.Orphans)+len(f.Invented) > 0 {
				t.Fatalf("findings: got %+v, want nothing else", f)
			}
		})
	})
}

// A part that is altered is lost and invented; one that is left out is lost.
func TestPartsMatter(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			var texts []int // whole texts that are shown as they came
			for i, u := range w.edited {
				if w.at[i] > 0 && u.parts[0].kind == "text" {
					texts = append(texts, i)
				}
			}
			i := rapid.SampledFrom(texts).Draw(t, "text")
			old := w.edited[i]
			invented := 0
			if rapid.Bool().Draw(t, "alter") {
				w.edited[i] = turn{old.role, []part{{kind: "text", text: old.parts[0].text + "!"}}}
				invented = 1
			} else {
				w.edited = slices.Delete(slices.Clone(w.edited), i, i+1)
			}
			f := w.check(t)
			equal(t, "uncovered", uncovered(f), lost(old))
			if len(f.Invented) != invented || len(f.Orphans)+len(f.Unresolved) > 0 {
				t.Fatalf("findings: got %+v, want %d invented", f, invented)
			}
		})
	})
}

// Law 3: a result that leaves without its call, or a call without its result, is found.
func TestPairsMatter(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			var results []int
			for i, u := range w.edited {
				if u.role == "tool" {
					results = append(results, i)
				}
			}
			if len(results) == 0 {
				t.Skip("no results")
			}
			i := rapid.SampledFrom(results).Draw(t, "result")
			id := w.edited[i].parts[0].id
			if rapid.Bool().Draw(t, "twice") {
				w.edited = slices.Insert(slices.Clone(w.edited), i, w.edited[i])
			} else {
				w.edited = slices.Delete(slices.Clone(w.edited), i, i+1)
			}
			if f := w.check(t); len(f.Orphans) != 1 || !strings.Contains(f.Orphans[0], id+",") && !strings.HasSuffix(f.Orphans[0], id) {
				t.Fatalf("orphans: got %q, want one of %s", f.Orphans, id)
			}
		})
	})
}

// A Checker that has seen other bodies says what a new one says.
func TestRemembering(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		rapid.Check(t, func(t *rapid.T) {
			w := edit(t, d)
			c, err := verify.NewChecker(d)
			if err != nil {
				t.Fatal(err)
			}
			o := verify.Options{Load: w.store.load}
			for range rapid.IntRange(1, 12).Draw(t, "calls") {
				raw := w.turns[:rapid.IntRange(1, len(w.turns)).Draw(t, "raw")]
				edited := w.edited[:rapid.IntRange(1, len(w.edited)).Draw(t, "edited")]
				if rapid.Bool().Draw(t, "untouched") {
					edited = raw
				}
				a, b := body(d, raw...), body(d, edited...)
				got, err := c.Compare(a, b, o)
				if err != nil {
					t.Fatal(err)
				}
				want, err := verify.Compare(d, a, b, o)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
					t.Fatalf("got %+v\nwant %+v", got, want)
				}
			}
		})
	})
}

func FuzzCompare(f *testing.F) {
	for i, d := range dialects {
		f.Add(byte(i), body(d, talk()...), body(d, talk()[4:]...))
	}
	f.Add(byte(0), []byte(`{"messages":[{"role":"user","content":"a"}]}`), []byte(`{"messages":[{"role":"user","content":"\ud800"}],"tools":[1]}`))
	f.Fuzz(func(t *testing.T, n byte, raw, edited []byte) {
		d := dialects[int(n)%len(dialects)]
		load := func(ref string) ([]byte, error) { return nil, fmt.Errorf("nothing is stored") }
		c, err := verify.NewChecker(d)
		if err != nil {
			t.Fatal(err)
		}
		first, err := c.Compare(raw, edited, verify.Options{Load: load})
		if err != nil {
			return
		}
		again, err := c.Compare(raw, edited, verify.Options{Load: load})
		if err != nil || fmt.Sprint(first) != fmt.Sprint(again) {
			t.Fatalf("second time: got %+v, %v, want %+v", again, err, first)
		}
		same, err := c.Compare(raw, raw, verify.Options{Load: load})
		if err != nil || len(same.Uncovered)+len(same.Invented)+len(same.Unresolved)+same.Removed > 0 {
			t.Fatalf("with itself: got %+v, %v", same, err)
		}
		if _, err := c.Missing(raw, verify.ReadSession(edited, "claude-code"), nil); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzArchive(f *testing.F) {
	f.Add([]byte(archive(anthropic, talk(), 1, 5, map[string]bool{"c1": true})))
	f.Add([]byte(`{"archive":1,"from":1,"to":2}` + "\n" + `{"note":"x"}`))
	raw := body(anthropic, talk()...)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := store{}
		edited := body(anthropic, human("[ref="+s.put(string(data))+"]"), talk()[9])
		got, err := verify.Compare(anthropic, raw, edited, verify.Options{Load: s.load})
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Covered; got.Removed != 10 || len(got.Uncovered)+c.Named+c.Own+c.Expanded+c.Journal != 10 {
			t.Fatalf("got %+v, want each of 10 parts covered or not", got)
		}
	})
}
