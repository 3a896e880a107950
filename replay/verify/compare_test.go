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

// The same content may be written in the forms that a message takes on the way.
func TestForms(t *testing.T) {
	message := func(content string) []byte {
		return []byte(`{"messages":[{"role":"user","content":` + content + `}]}`)
	}
	same := func(a, b string) {
		t.Helper()
		want(t, check(t, anthropic, message(a), message(b), verify.Options{}))
	}
	differ := func(a, b string) {
		t.Helper()
		if check(t, anthropic, message(a), message(b), verify.Options{}).Clean() {
			t.Fatalf("%s and %s: got no findings", a, b)
		}
	}
	same(`"a \u00e9"`, `[{"type":"text","text":"a \u00e9"}]`)
	same(`[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`)
	same(`[{"cache_control":null,"type":"text","text":"a"}]`, `"a"`)
	same(`[{"type":"image","source":{"data":"QQ=="}, "cache_control":{}}]`, `[{"type":"image","source":{"data":"QQ=="}}]`)
	same(`"a"`, `[{"type":"text","text":"a"},{"type":"text","text":" \n"}]`)
	differ(`"a \u00e9"`, `"a é"`)
	differ(`[{"type":"image","source":{"data":"QQ=="}}]`, `[{"type":"image","source":{"data":"QR=="}}]`)
	differ(`[{"type":"text","text":"a","citations":[{"x":1}]}]`, `"a"`)
}

// Images, parts without bytes, bytes that are no UTF-8, and formats of others.
func TestStoredForms(t *testing.T) {
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`
	raw := []byte(`{"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":"what is it?"}]}]}`)
	s := store{}
	ref := s.put(image)
	t.Run("image", func(t *testing.T) {
		edited := []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"[image: ref=` + ref + `]"},{"type":"text","text":"what is it?"}]}]}`)
		want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}))
		want(t, check(t, anthropic, raw, edited, verify.Options{}), "unresolved: "+ref, "uncovered: media")
	})
	old := []turn{human("one"), calls("c1"), result("c1", "two"), human("three")}
	head := `{"archive":1,"from":1,"to":4}` + "\n"
	entry := func(i int, role, kind, what string) string {
		return fmt.Sprintf(`{"message":%d,"role":%q,"origin":"o","part":0,"kind":%q,%s}`+"\n", i, role, kind, what)
	}
	for name, data := range map[string]string{
		"parts without bytes": head + entry(1, "user", "text", `"text":"one"`) +
			entry(2, "assistant", "tool_call", `"text":"look {\"at\":\"c1\"}"`) + entry(3, "tool", "tool_result", `"text":"two"`),
		"another format": head + entry(1, "user", "text", `"raw":"{\"say\":\"one\"}"`) +
			entry(2, "assistant", "tool_call", `"raw":"{\"callId\":\"c1\",\"tool\":\"look\",\"args\":{ \"at\" : \"c1\" }}"`) +
			entry(3, "tool", "tool_result", `"raw":"{\"output\":[\"two\"]}"`),
		"base64": head + entry(1, "user", "text", `"raw64":"eyJ0eXBlIjoidGV4dCIsInRleHQiOiJvbmUifQ=="`) +
			entry(2, "assistant", "tool_call", `"raw":`+quote(old[1].parts[0].bytes(anthropic))) + entry(3, "tool", "tool_result", `"text":"two"`),
	} {
		t.Run(name, func(t *testing.T) {
			edited := body(anthropic, human("[ref="+s.put(data)+"]"), old[3])
			want(t, check(t, anthropic, body(anthropic, old...), edited, verify.Options{Load: s.load}))
		})
	}
	for name, call := range map[string]string{
		"another format, other arguments": `"raw":"{\"callId\":\"c1\",\"tool\":\"look\",\"args\":{\"at\":\"c2\"}}"`,
		"another format, other id":        `"raw":"{\"callId\":\"c2\",\"tool\":\"look\",\"args\":{\"at\":\"c1\"}}"`,
	} {
		t.Run(name, func(t *testing.T) {
			data := head + entry(1, "user", "text", `"text":"one"`) + entry(3, "tool", "tool_result", `"text":"two"`) + entry(2, "assistant", "tool_call", call)
			edited := body(anthropic, human("[ref="+s.put(data)+"]"), old[3])
			want(t, check(t, anthropic, body(anthropic, old...), edited, verify.Options{Load: s.load}), "uncovered: call c1")
		})
	}
	t.Run("thinking without bytes", func(t *testing.T) {
		turns := []turn{{"assistant", []part{{kind: "thinking", text: "hm"}}}, human("on")}
		for line, found := range map[string]bool{`"text":"hm","signature":"c2ln"`: true, `"text64":"aG0=","signature":"c2ln"`: true, `"text":"hm"`: false, `"text":"hm","signature":"c2lm"`: false} {
			data := `{"archive":1,"from":1,"to":2}` + "\n" + entry(1, "assistant", "thinking", line)
			f := check(t, anthropic, body(anthropic, turns...), body(anthropic, human("[ref="+s.put(data)+"]"), turns[1]), verify.Options{Load: s.load})
			if f.Clean() != found {
				t.Fatalf("%s: got %+v, want found %v", line, f, found)
			}
		}
	})
	t.Run("no UTF-8", func(t *testing.T) {
		turns := []turn{human("one"), calls("c1"), result("c1", "BYTE two"), human("three")}
		broken := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "BYTE", "\xff\xfe")) }
		for _, stored := range []string{"\xff\xfe two", "\ufffd\ufffd two"} {
			edited := body(anthropic, replaced(turns, "c1", "[ref="+s.put(stored)+"]")...)
			want(t, check(t, anthropic, broken(body(anthropic, turns...)), edited, verify.Options{Load: s.load}))
		}
	})
}

// Some providers use the same ids in every round.
func TestReusedIDs(t *testing.T) {
	turns := []turn{
		human("a"), calls("c0"), result("c0", "first\noutput"), human("b"), calls("c0"), result("c0", "second\noutput"), human("c"),
	}
	s := store{}
	archived := s.put(archive(chat, turns, 1, 4, nil))
	own := s.put("second\noutput")
	edited := []turn{human("[ref=" + archived + "]"), turns[3], turns[4], result("c0", "[ref="+own+"]"), turns[6]}
	f := check(t, chat, body(chat, turns...), body(chat, edited...), verify.Options{Load: s.load})
	want(t, f)
	if f.Covered.Own != 1 || f.Covered.Named != 3 {
		t.Fatalf("covered: got %+v, want one own and three named", f.Covered)
	}
	t.Run("the same call twice", func(t *testing.T) {
		turns := append(append([]turn{}, turns[:3]...), turns[4:]...)
		edited := []turn{human("[ref=" + archived + "]"), turns[3], result("c0", "[ref="+own+"]"), turns[5]}
		want(t, check(t, chat, body(chat, turns...), body(chat, edited...), verify.Options{Load: s.load}))
	})
}

// One Checker may be asked about other bodies, and with other knowledge.
func TestCheckerTwice(t *testing.T) {
	s := store{}
	turns := talk()
	cover := []verify.Cover{{Ref: s.put(archive(anthropic, turns, 1, 5, nil)), From: 1, To: 5}}
	raw, edited := body(anthropic, turns...), body(anthropic, append([]turn{human("Summary.")}, turns[4:]...)...)
	c, err := verify.NewChecker(anthropic)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(raw, edited []byte, o verify.Options) verify.Findings {
		t.Helper()
		o.Load, o.Notes = s.load, []string{"Summary."}
		f, err := c.Compare(raw, edited, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want(t, compare(raw, edited, verify.Options{}), "uncovered: where", "uncovered: c1", "uncovered: c1", "uncovered: bow")
	want(t, compare(raw, edited, verify.Options{Covering: cover}))
	want(t, compare(raw, raw, verify.Options{}))
	turns[9] = human("thankz") // as long as before
	other := body(anthropic, turns...)
	want(t, compare(raw, other, verify.Options{}), "uncovered: thanks", "invented: thankz")
	want(t, compare(other, other, verify.Options{}))
	want(t, compare(other, raw, verify.Options{}), "uncovered: thankz", "invented: thanks")
}

// What a message holds beside its parts is kept around them.
func TestFrames(t *testing.T) {
	raw := []byte(`{"messages":[{"role":"user","content":"a","tag":"x"},{"role":"user","content":"b","tag":"x"},{"role":"user","content":"c"}]}`)
	entry := func(id int, text string) string {
		return fmt.Sprintf(`{"message":%d,"role":"user","origin":"human","part":0,"kind":"text","raw":%q}`+"\n", id, quote(text))
	}
	head, one, two := `{"archive":1,"from":1,"to":3}`+"\n", entry(1, "a"), entry(2, "b")
	frame := func(id int, tag string) string {
		return fmt.Sprintf(`{"message":%d,"frame":["{\"role\":\"user\",\"content\":",",\"tag\":\"%s\"}"]}`+"\n", id, tag)
	}
	frame64 := `{"message":2,"frame64":["eyJyb2xlIjoidXNlciIsImNvbnRlbnQiOg==","LCJ0YWciOiJ4In0="]}` + "\n"
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"both":       {head + frame(1, "x") + one + frame(2, "x") + two, nil},
		"base64":     {head + frame(1, "x") + one + frame64 + two, nil},
		"one":        {head + frame(1, "x") + one + two, []string{"uncovered: message 1 part 1: opaque"}},
		"other":      {head + frame(1, "x") + one + frame(2, "y") + two, []string{"uncovered: message 1 part 1: opaque"}},
		"not inside": {head + frame(1, "x") + one + two + frame(3, "x"), []string{"unresolved: line 5: message 3", "uncovered: a", "uncovered: tag", "uncovered: b", "uncovered: tag"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			edited := []byte(`{"messages":[{"role":"user","content":"[ref=` + s.put(c.archive) + `]"},{"role":"user","content":"c"}]}`)
			want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}), c.want...)
		})
	}
}

// What is lost takes no entry that another part needs.
func TestLostTakesNothing(t *testing.T) {
	raw := []byte(`{"messages":[{"role":"user","content":"a","tag":"zzz"},{"role":"user","content":"zzz"},{"role":"user","content":"b"}]}`)
	turns := []turn{human("a"), human("zzz")}
	s := store{}
	ref := s.put(archive(anthropic, turns, 1, 3, nil))
	edited := []byte(`{"messages":[{"role":"user","content":"[ref=` + ref + `]"},{"role":"user","content":"b"}]}`)
	f := check(t, anthropic, raw, edited, verify.Options{Load: s.load})
	want(t, f, "uncovered: opaque")
	if f.Covered.Named != 2 {
		t.Fatalf("covered: got %+v, want both texts", f.Covered)
	}
}
