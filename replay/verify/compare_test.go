package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

var dialects = []string{anthropic, chat, responses, gemini}

// talk is a conversation of two questions and three rounds.
func talk() []turn {
	return []turn{
		human("where is the anchor?"),
		calls("c1"), result("c1", "line one\nline two\nline three\nline four\nline five"),
		reply("at the bow"),
		human("and the rudder?"),
		calls("c2", "c3"), result("c2", "found\nit"), result("c3", "nothing"),
		reply("at the stern"),
		human("thanks"),
	}
}

// replaced returns the conversation with the output of one call replaced.
func replaced(turns []turn, id, text string) []turn {
	out := make([]turn, len(turns))
	for i, t := range turns {
		out[i] = t
		if t.role == "tool" && t.parts[0].id == id {
			out[i] = result(id, text)
		}
	}
	return out
}

func each(t *testing.T, f func(t *testing.T, dialect string)) {
	for _, d := range dialects {
		t.Run(d, func(t *testing.T) { f(t, d) })
	}
}

func TestSame(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		f := check(t, d, body(d, talk()...), body(d, talk()...), verify.Options{})
		want(t, f)
		if f.Removed != 0 || f.Refs != 0 || len(f.Fields) != 0 || f.Parts != 13 {
			t.Fatalf("counts: got %+v, want 13 parts and nothing else", f)
		}
	})
}

func TestStub(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		s := store{}
		out := talk()[2].parts[0].text
		ref := s.put(out)
		stub := func(text string) []byte { return body(d, replaced(talk(), "c1", text)...) }
		raw := body(d, talk()...)
		o := verify.Options{Load: s.load}

		f := check(t, d, raw, stub("[output stored: ref="+ref+"]"), o)
		want(t, f)
		if f.Covered.Own != 1 || f.Removed != 1 || f.Refs != 1 {
			t.Fatalf("covered: got %+v, want one by its own Ref", f)
		}
		t.Run("preview", func(t *testing.T) {
			want(t, check(t, d, raw, stub("line one\n[…]\n[whole: ref="+ref+"]"), o))
		})
		t.Run("unknown Ref", func(t *testing.T) {
			gone := refOf("something else")
			f := check(t, d, raw, stub("[output stored: ref="+gone+"]"), o)
			want(t, f, "unresolved: "+gone+": no such blob", "uncovered: result c1")
		})
		t.Run("nothing to load from", func(t *testing.T) {
			f := check(t, d, raw, stub("[output stored: ref="+ref+"]"), verify.Options{})
			want(t, f, "unresolved: nothing to load it from", "uncovered: result c1")
		})
		t.Run("damaged blob", func(t *testing.T) {
			bad := store{ref: []byte("damaged")}
			f := check(t, d, raw, stub("[output stored: ref="+ref+"]"), verify.Options{Load: bad.load})
			want(t, f, "unresolved: "+ref+": content has the Ref "+refOf("damaged"), "uncovered: result c1")
		})
		t.Run("Ref of another output", func(t *testing.T) {
			other := s.put("nothing")
			f := check(t, d, raw, stub("[output stored: ref="+other+"]"), o)
			want(t, f, "uncovered: result c1")
			if !strings.Contains(f.Uncovered[0].Why, "names other content") {
				t.Fatalf("why: got %q", f.Uncovered[0].Why)
			}
		})
		t.Run("Refs swapped", func(t *testing.T) {
			other := s.put("nothing")
			turns := replaced(replaced(talk(), "c1", "[ref="+other+"]"), "c3", "[ref="+ref+"]")
			knows := verify.Options{Load: s.load, Covering: []verify.Cover{{Ref: ref}, {Ref: other}}}
			want(t, check(t, d, raw, body(d, turns...), o), "uncovered: result c1", "uncovered: result c3")
			want(t, check(t, d, raw, body(d, turns...), knows), "uncovered: result c1", "uncovered: result c3")
		})
		t.Run("no Ref", func(t *testing.T) {
			want(t, check(t, d, raw, stub("[cleared]"), o), "uncovered: result c1", "invented: replaces a result and names no Ref")
		})
		t.Run("no Ref, known to the caller", func(t *testing.T) {
			cover := []verify.Cover{{Ref: ref, From: 3, To: 4}}
			f := check(t, d, raw, stub("[cleared]"), verify.Options{Load: s.load, Notes: []string{"[cleared]"}, Covering: cover})
			want(t, f)
			if f.Covered.Journal != 1 {
				t.Fatalf("covered: got %+v, want one by the journal", f.Covered)
			}
		})
		t.Run("the journal's Ref is gone", func(t *testing.T) {
			cover := []verify.Cover{{Ref: refOf("lost")}}
			f := check(t, d, raw, stub("[cleared]"), verify.Options{Load: s.load, Notes: []string{"[cleared]"}, Covering: cover})
			want(t, f, "unresolved: "+refOf("lost"), "uncovered: result c1")
		})
	})
}

func TestPointers(t *testing.T) {
	lines := "alpha\nbeta\ngamma\ndelta"
	turns := []turn{
		human("read both"), calls("c1"), result("c1", "head\n"+lines+"\ntail"),
		calls("c2"), result("c2", "new\n"+lines+"\nend\n"), human("so?"),
	}
	each(t, func(t *testing.T, d string) {
		s := store{}
		source := s.put("head\n" + lines + "\ntail")
		own := s.put("new\n" + lines + "\nend\n")
		raw := body(d, turns...)
		shown := func(text string) verify.Findings {
			return check(t, d, raw, body(d, replaced(turns, "c2", text)...), verify.Options{Load: s.load})
		}
		f := shown("new\n[4 lines as in " + source + "]\nend\n")
		want(t, f)
		if f.Covered.Expanded != 1 {
			t.Fatalf("covered: got %+v, want one by expansion", f.Covered)
		}
		f = shown("new\n[4 lines as in ref=" + source + "; whole: ref=" + own + "]\nend\n")
		want(t, f)
		if f.Covered.Own != 1 {
			t.Fatalf("covered: got %+v, want one by its own Ref", f.Covered)
		}
		for name, text := range map[string]string{
			"wrong number":    "new\n[3 lines as in " + source + "]\nend\n",
			"line left out":   "[4 lines as in " + source + "]\nend\n",
			"line added":      "new\n[4 lines as in " + source + "]\nend\nmore\n",
			"end left out":    "new\n[4 lines as in " + source + "]",
			"not these lines": "new\n[4 lines as in " + s.put("alpha\nbeta\ngamma\nother") + "]\nend\n",
			"no number":       "new\n[lines as in " + source + "]\nend\n",
		} {
			t.Run(name, func(t *testing.T) { want(t, shown(text), "uncovered: result c2") })
		}
	})
}

func TestInvented(t *testing.T) {
	each(t, func(t *testing.T, d string) {
		s := store{}
		ref := s.put(talk()[2].parts[0].text)
		raw := body(d, talk()...)
		with := func(i int, extra ...turn) []byte {
			turns := append([]turn{}, talk()[:i]...)
			return body(d, append(append(turns, extra...), talk()[i:]...)...)
		}
		o := verify.Options{Load: s.load}
		want(t, check(t, d, raw, with(10, human("do more")), o), "invented: do more")
		want(t, check(t, d, raw, with(10, human("[see ref="+ref+"]")), o))
		want(t, check(t, d, raw, with(10, human("be quick")), verify.Options{Notes: []string{"be quick\n"}}))
		want(t, check(t, d, raw, with(4, reply("at the bow")), o), "invented: at the bow")
		want(t, check(t, d, raw, with(4, calls("c9"), result("c9", "[ref="+ref+"]")), o),
			"invented: call c9", "invented: answers no call of the raw body")

		t.Run("changed text", func(t *testing.T) {
			turns := talk()
			turns[0] = human("where is the Anchor?")
			want(t, check(t, d, raw, body(d, turns...), o), "uncovered: the anchor", "invented: the Anchor")
		})
		t.Run("in another's name", func(t *testing.T) {
			turns := talk()
			turns[8] = human("at the stern")
			want(t, check(t, d, raw, body(d, turns...), o), "uncovered: at the stern", "invented: at the stern")
		})
		t.Run("changed arguments", func(t *testing.T) {
			turns := talk()
			turns[1].parts[0].text = `{"at": "c1"}`
			want(t, check(t, d, raw, body(d, turns...), o), "uncovered: call c1", "invented: call c1")
		})
		t.Run("out of order", func(t *testing.T) {
			turns := talk()
			turns[0], turns[4] = turns[4], turns[0]
			f := check(t, d, raw, body(d, turns...), o)
			if f.Clean() || len(f.Invented) == 0 || !strings.Contains(strings.Join(f.Invented, ""), "out of order") {
				t.Fatalf("invented: got %q, want an order that does not hold", f.Invented)
			}
		})
		t.Run("tool", func(t *testing.T) {
			more := []byte(strings.Replace(string(raw), `"tools":[`, `"tools":[{"name":"extra"},`, 1))
			want(t, check(t, d, raw, more, o), "invented: is no tool of the client")
			want(t, check(t, d, raw, more, verify.Options{Tools: []string{"extra"}}))
			want(t, check(t, d, more, raw, o), "uncovered: tool")
		})
		t.Run("system prompt", func(t *testing.T) {
			longer := bodyOf(d, systemText+"\n\nWhat was said: little.", talk()...)
			want(t, check(t, d, raw, longer, verify.Options{Notes: []string{"What was said: little."}}))
			want(t, check(t, d, raw, longer, o), "invented: What was said")
			other := bodyOf(d, "You look.", talk()...)
			want(t, check(t, d, raw, other, o), "uncovered: You look things up", "invented: You look.")
		})
		t.Run("field", func(t *testing.T) {
			f := check(t, d, raw, []byte(strings.Replace(string(raw), `"model":"m"`, `"model":"n","stream":true`, 1)), o)
			want(t, f)
			if fmt.Sprint(f.Fields) != "[model stream]" {
				t.Fatalf("fields: got %v, want model and stream", f.Fields)
			}
		})
	})
	t.Run("error flag of a stub", func(t *testing.T) {
		s := store{}
		ref := s.put(talk()[2].parts[0].text)
		raw := body(anthropic, talk()...)
		edited := body(anthropic, replaced(talk(), "c1", "[ref="+ref+"]")...)
		edited = []byte(strings.Replace(string(edited), `]","is_error":false`, `]","is_error":true`, 1))
		want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}), "invented: other members")
	})
}

// What is the client's own is not taken for the engine's.
func TestClientsWords(t *testing.T) {
	s := store{}
	word := refOf("never stored")
	turns := talk()
	turns[2] = result("c1", "the id is "+word+"\n"+strings.Repeat("more\n", 9))
	own := s.put(turns[2].parts[0].text)
	raw := body(anthropic, turns...)
	f := check(t, anthropic, raw, body(anthropic, replaced(turns, "c1", "the id is "+word+"\n[whole: ref="+own+"]")...), verify.Options{Load: s.load})
	want(t, f)
	if f.Refs != 1 {
		t.Fatalf("refs: got %d, want 1", f.Refs)
	}
	f = check(t, anthropic, raw, body(anthropic, replaced(turns, "c1", "the id is "+word)...), verify.Options{Load: s.load})
	want(t, f, "uncovered: result c1", "invented: names no Ref")
	near := func(text string) verify.Findings {
		edited := body(anthropic, replaced(turns, "c1", "[whole: "+own+"] "+text)...)
		return check(t, anthropic, raw, edited, verify.Options{Load: s.load})
	}
	other := refOf("never said")
	want(t, near("("+other+")"), "unresolved: "+other)
	for _, text := range []string{"x" + other, other + "a", other[:26], strings.ToUpper(other), other + "_", "é" + other, "s" + other[1:], other[:26] + "1"} {
		want(t, near(text))
	}
}
