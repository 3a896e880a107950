package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

const (
	typedWithin = "<system-reminder>\nThe user sent a new message while you were working:\nStop — & <b>now</b>.\n</system-reminder>"
	afterTyped  = "\n<system-reminder>Tidy up.</system-reminder>\n"
)

// withinBody is a request in which the first of two results has some content.
func withinBody(content string) []byte {
	return fmt.Appendf(nil, `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"d","name":"f","input":{}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":%s},{"type":"tool_result","tool_use_id":"d","content":"other"}]}]}`, content)
}

// An output with a person's words at its end is two parts: what stands for the output leads to
// it, and the words are still there, wherever they stand.
func TestWordsWithinResult(t *testing.T) {
	st := store{}
	stub := "[stored: ref=" + st.put("out\nof it") + "]"
	for name, was := range map[string]string{
		"string":          quote("out\nof it\n\n" + typedWithin),
		"reminder behind": quote("out\nof it\n" + typedWithin + afterTyped),
		"block":           `[{"type":"text","text":` + quote("out\nof it\n"+typedWithin) + `}]`,
		"own block":       `[{"type":"text","text":` + quote("out\nof it") + `},{"type":"text","text":` + quote(typedWithin) + `}]`,
	} {
		tail := typedWithin
		if name == "reminder behind" {
			tail += afterTyped
		}
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct{ name, is, lost string }{
				{"untouched", was, ""},
				{"in the string", quote(stub + "\n" + tail), ""},
				{"in a block", `[{"type":"text","text":` + quote(stub) + `},{"type":"text","text":` + quote(tail) + `}]`, ""},
				{"words lost", quote(stub), "The user sent"},
				{"output lost", quote("[gone]\n" + tail), "result c"},
			} {
				f, err := verify.Compare(anthropic, withinBody(was), withinBody(c.is), verify.Options{Load: st.load})
				if err != nil {
					t.Fatal(err)
				}
				if c.lost == "" && !f.Clean() || len(f.Orphans) > 0 {
					t.Errorf("%s: got %+v", c.name, f)
				}
				if c.lost != "" && (len(f.Uncovered) != 1 || !strings.Contains(f.Uncovered[0].String(), c.lost)) {
					t.Errorf("%s: want %q lost, got %v", c.name, c.lost, f.Uncovered)
				}
			}
		})
	}
}

// Where the round of an output has gone the words may stay, in a message of their own.
func TestWordsBesideArchive(t *testing.T) {
	st := store{}
	raw := withinBody(quote("out\n\n" + typedWithin))
	words := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(quote(typedWithin)) // as nobody has to escape them
	said := `{"role":"user","content":[{"type":"text","text":` + words + `}]}`
	f, err := verify.Compare(anthropic, raw, []byte(`{"messages":[{"role":"user","content":"go"},`+said+`]}`), verify.Options{Load: st.load})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range f.Uncovered {
		if u.Kind == verify.Text {
			t.Errorf("the words are there, got %s", u)
		}
	}
	if len(f.Uncovered) != 4 {
		t.Errorf("want two calls and two results gone, got %v", f.Uncovered)
	}
}

// What a tool prints is its output, also where it quotes a client.
func TestNoWordsWithinResult(t *testing.T) {
	for _, text := range []string{typedWithin, "out " + typedWithin + " and more", "out\nThe user sent a new message while you were working:\nStop.", "out <b>The user sent the following message:</b>"} {
		st := store{}
		stub := "[stored: ref=" + st.put(text) + "]"
		f, err := verify.Compare(anthropic, withinBody(quote(text)), withinBody(quote(stub)), verify.Options{Load: st.load})
		if err != nil || !f.Clean() {
			t.Errorf("%s: got %+v, %v", text, f, err)
		}
	}
}
