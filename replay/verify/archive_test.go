package verify_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

func TestArchive(t *testing.T) {
	turns := talk()
	each(t, func(t *testing.T, d string) {
		s := store{}
		ref := s.put(archive(d, turns, 1, 5, nil))
		note := human("[4 earlier messages are stored: ref=" + ref + "]")
		rest := turns[4:]
		raw := body(d, turns...)
		cut := func(first turn) []byte { return body(d, append([]turn{first}, rest...)...) }

		f := check(t, d, raw, cut(note), verify.Options{Load: s.load})
		want(t, f)
		if f.Covered.Named != 4 || f.Removed != 4 {
			t.Fatalf("covered: got %+v, want four in the archive", f)
		}
		t.Run("nothing stands there", func(t *testing.T) {
			f := check(t, d, raw, body(d, rest...), verify.Options{Load: s.load})
			want(t, f, "uncovered: where is the anchor", "uncovered: call c1", "uncovered: result c1", "uncovered: at the bow")
		})
		t.Run("summary, Ref in the journal", func(t *testing.T) {
			o := verify.Options{Load: s.load, Notes: []string{"We found the anchor."}, Covering: []verify.Cover{{Ref: ref, From: 1, To: 5}}}
			f := check(t, d, raw, cut(human("We found the anchor.")), o)
			want(t, f)
			if f.Covered.Journal != 4 {
				t.Fatalf("covered: got %+v, want four by the journal", f.Covered)
			}
		})
		t.Run("archive of other messages", func(t *testing.T) {
			o := verify.Options{Load: s.load, Notes: []string{"Summary."}, Covering: []verify.Cover{{Ref: ref, From: 3, To: 5}}}
			f := check(t, d, raw, cut(human("Summary.")), o)
			want(t, f, "unresolved: want one of [3,5)", "uncovered: where", "uncovered: c1", "uncovered: c1", "uncovered: bow")
		})
		t.Run("summary that nobody knows", func(t *testing.T) {
			o := verify.Options{Load: s.load, Covering: []verify.Cover{{Ref: ref, From: 1, To: 5}}}
			want(t, check(t, d, raw, cut(human("We found it.")), o), "invented: We found it.")
		})
		t.Run("entry missing", func(t *testing.T) {
			lines := strings.SplitAfter(archive(d, turns, 1, 5, nil), "\n")
			for i, lost := range []string{"where is the anchor", "c1", "line one", "at the bow"} {
				bad := s.put(strings.Join(lines[:i+1], "") + strings.Join(lines[i+2:], ""))
				f := check(t, d, raw, cut(human("[ref="+bad+"]")), verify.Options{Load: s.load})
				want(t, f, "uncovered: "+lost)
			}
		})
		t.Run("entry of another byte", func(t *testing.T) {
			bad := s.put(strings.Replace(archive(d, turns, 1, 5, nil), "at the bow", "at the bov", 1))
			f := check(t, d, raw, cut(human("[ref="+bad+"]")), verify.Options{Load: s.load})
			want(t, f, "uncovered: at the bow")
		})
		t.Run("earlier archives and outputs inside", func(t *testing.T) {
			old := s.put(archive(d, turns, 1, 5, map[string]bool{"c1": true}))
			out := s.put(turns[2].parts[0].text)
			inner := archive(d, turns, 5, 10, nil)
			_, entries, _ := strings.Cut(inner, "\n")
			outer := s.put(`{"archive":1,"from":1,"to":10}` + "\n" + `{"archive":"` + old + `","from":1,"to":5}` + "\n" + entries + `{"note":"[ref=` + old + `]"}` + "\n")
			edited := body(d, human("[ref="+outer+"]"), turns[9])
			f := check(t, d, raw, edited, verify.Options{Load: s.load})
			want(t, f)
			for _, lost := range []string{old, out} {
				kept := s[lost]
				delete(s, lost)
				f := check(t, d, raw, edited, verify.Options{Load: s.load})
				s[lost] = kept
				if len(f.Unresolved) != 1 || !strings.HasPrefix(f.Unresolved[0], lost) {
					t.Fatalf("unresolved: got %q, want %s", f.Unresolved, lost)
				}
				if wantLost := map[string]int{old: 4, out: 1}[lost]; len(f.Uncovered) != wantLost {
					t.Fatalf("uncovered: got %d, want %d", len(f.Uncovered), wantLost)
				}
			}
		})
		t.Run("one entry covers one part", func(t *testing.T) {
			twice := append([]turn{human("go on"), reply("yes")}, append([]turn{human("go on"), reply("yes")}, rest...)...)
			one := s.put(archive(d, twice, 1, 3, nil))
			f := check(t, d, body(d, twice...), body(d, append([]turn{human("[ref=" + one + "]")}, rest...)...), verify.Options{Load: s.load})
			want(t, f, "uncovered: go on", "uncovered: yes")
			two := s.put(archive(d, twice, 1, 5, nil))
			want(t, check(t, d, body(d, twice...), body(d, append([]turn{human("[ref=" + two + "]")}, rest...)...), verify.Options{Load: s.load}))
		})
		t.Run("a person's words in the model's name", func(t *testing.T) {
			bad := s.put(strings.Replace(archive(d, turns, 1, 5, nil), `"role":"user"`, `"role":"assistant"`, 1))
			f := check(t, d, raw, cut(human("[ref="+bad+"]")), verify.Options{Load: s.load})
			want(t, f, "uncovered: where is the anchor")
		})
		t.Run("a person's words as an output", func(t *testing.T) {
			bad := s.put(strings.Replace(archive(d, turns, 1, 5, nil), `"kind":"text"`, `"kind":"tool_result"`, 1))
			f := check(t, d, raw, cut(human("[ref="+bad+"]")), verify.Options{Load: s.load})
			want(t, f, "uncovered: where is the anchor")
		})
	})
}

func TestDamagedArchive(t *testing.T) {
	turns := talk()
	good := archive(anthropic, turns, 1, 5, nil)
	for name, c := range map[string]struct{ data, why string }{
		"version":       {strings.Replace(good, `"archive":1`, `"archive":2`, 1), "version, want 1, got 2"},
		"span":          {strings.Replace(good, `"to":5`, `"to":1`, 1), "span, want messages"},
		"cut off":       {good[:len(good)-9], "line 5"},
		"other span":    {strings.Replace(good, `"message":3`, `"message":7`, 1), "line 4: message 7, want one of [1,5)"},
		"unknown field": {strings.Replace(good, `"origin"`, `"orign"`, 1), "line 2"},
		"wide nest":     {good + `{"archive":"` + refOf("x") + `","from":1,"to":9}`, "archive of [1,9), want one within [1,5)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			note := human("[ref=" + s.put(c.data) + "]")
			f := check(t, anthropic, body(anthropic, turns...), body(anthropic, append([]turn{note}, turns[4:]...)...), verify.Options{Load: s.load})
			if len(f.Unresolved) != 1 || !strings.Contains(f.Unresolved[0], c.why) {
				t.Fatalf("unresolved: got %q, want %q", f.Unresolved, c.why)
			}
			if len(f.Uncovered) != 4 {
				t.Fatalf("uncovered: got %d, want 4", len(f.Uncovered))
			}
		})
	}
	t.Run("nested is no archive", func(t *testing.T) {
		s := store{}
		inner := s.put("no archive")
		note := human("[ref=" + s.put(good+`{"archive":"`+inner+`","from":1,"to":2}`) + "]")
		f := check(t, anthropic, body(anthropic, turns...), body(anthropic, append([]turn{note}, turns[4:]...)...), verify.Options{Load: s.load})
		want(t, f, "unresolved: "+inner+": want an archive")
	})
}
