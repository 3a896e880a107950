package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/web"
)

// loopPage returns the page of a loop.
func loopPage(t *testing.T, l web.Loop, o web.Options) string {
	t.Helper()
	var b strings.Builder
	if err := web.WriteLoop(&b, l, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// filledLoop is a loop whose strings are all set by text.
func filledLoop(text func(path string) string) web.Loop {
	var l web.Loop
	fill(reflect.ValueOf(&l).Elem(), "Loop", text)
	return l
}

// longLoop has n iterations whose prompts grow.
func longLoop(n int) web.Loop {
	l := web.Loop{ID: "1-1", Goal: "Do\nall <b>steps</b>.", State: "ended: goal_complete"}
	for i := range n {
		l.Iterations = append(l.Iterations, web.LoopIteration{
			Number: i + 1, Agent: "codex", Milliseconds: 1500, Prompt: 100 + i, Score: 500, Marks: []string{fmt.Sprint("step ", i+1)},
			Sections: []web.LoopSection{{"goal", 40}, {"recent", 50 + i}, {"state", 10}},
		})
	}
	l.Summaries = []web.LoopSummary{{Iteration: 6, Text: "first\nsummary"}, {Iteration: 10, Model: "p/m", Failed: "no connection"}}
	l.Spent = []web.LoopSpent{{What: "agents", Calls: 3, Input: 1000, Output: 20, Cost: catalog.Dollars(2_000_000_000_000)}}
	return l
}

// The page has what its readers find their way by, fetches nothing and has no script: its
// policy allows its own style sheet alone.
func TestLoopPage(t *testing.T) {
	page := loopPage(t, longLoop(12), web.Options{Generated: time.Unix(0, 0)})
	h1, policy, rects, titles := 0, "", 0, map[string]bool{}
	for _, e := range elements(t, page) {
		switch e.Name.Local {
		case "h1":
			h1++
		case "script", "img", "link", "iframe", "object":
			t.Errorf("want no %s", e.Name.Local)
		case "rect":
			rects++
		case "th":
			if attribute(e, "scope") == "" {
				t.Error("a th has no scope")
			}
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "src" || a.Name.Local == "href" && a.Value != "#main" {
				t.Errorf("<%s %s=%q>: want nothing that fetches or runs", e.Name.Local, a.Name.Local, a.Value)
			}
			if a.Name.Local == "id" && titles[a.Value] {
				t.Errorf("id %q is there twice", a.Value)
			}
			titles[attribute(e, "id")] = true
		}
		if attribute(e, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(e, "content")
		}
	}
	style := rawText.FindAllStringSubmatch(page, -1)
	if len(style) != 1 {
		t.Fatalf("want one style sheet, got %d", len(style))
	}
	sum := sha256.Sum256([]byte(style[0][3]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy\n  got  %s\n  want %s", policy, want)
	}
	if h1 != 1 || rects != 12*4 {
		t.Errorf("want a title, and for each iteration its score and three sections, got %d and %d", h1, rects)
	}
	for _, text := range []string{"1970-01-01", "Do\nall &lt;b&gt;steps&lt;/b&gt;.", "after iteration 10, by p/m", "failed: no connection", "first\nsummary", "step 12", ">0.500<", ">$2.00<", ">1,000<"} {
		if !strings.Contains(page, text) {
			t.Errorf("want %q on the page", text)
		}
	}
}

// A loop of any length is a chart of the same size; one without iterations has none.
func TestLoopChart(t *testing.T) {
	page := loopPage(t, longLoop(3000), web.Options{})
	if n := strings.Count(page, "<rect "); n > 4*250 || !strings.Contains(page, "A column is 12 iterations") {
		t.Errorf("want 250 columns at most, got %d bars", n)
	}
	if page := loopPage(t, web.Loop{ID: "1-1"}, web.Options{}); strings.Contains(page, "<svg") || !strings.Contains(page, "Loop 1-1") {
		t.Error("want a page without a chart")
	}
}

// Nothing that an agent, a model or a person wrote becomes markup, or moves what stands there.
func TestLoopHostile(t *testing.T) {
	for _, payload := range []string{
		`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `</style><style>`, `</pre></details>`, `{{.}}`,
		"\x00\x07\x1b[31m\u009b", "\u202egnp.exe\u202c", "a\u2028b", "\xff\xfe\xc0", strings.Repeat("long ", 10_000), strings.Repeat("ä", 4000),
	} {
		t.Run(fmt.Sprintf("%.20q", payload), func(t *testing.T) {
			page := loopPage(t, filledLoop(func(string) string { return payload }), web.Options{Title: payload})
			for _, e := range elements(t, page) {
				if name := e.Name.Local; name == "script" || name == "img" {
					t.Errorf("want no %s", name)
				}
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" {
						t.Errorf("<%s> has %s=%q", e.Name.Local, a.Name.Local, a.Value)
					}
				}
			}
			for i, r := range page {
				if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
					t.Fatalf("%U stands on the page at %.60q", r, page[max(0, i-30):])
				}
			}
		})
	}
	if page := loopPage(t, web.Loop{Goal: strings.Repeat("ä", 4000)}, web.Options{}); !strings.Contains(html.UnescapeString(page), strings.Repeat("ä", 4000)) {
		t.Error("want a long line of the goal whole")
	}
}

// With Redact no text, name or path is on the page, and all figures are.
func TestLoopRedact(t *testing.T) {
	planted := 0
	l := filledLoop(func(string) string { planted++; return fmt.Sprintf("canary%dx", planted) })
	open, page := loopPage(t, l, web.Options{}), loopPage(t, l, web.Options{Redact: true, Title: "canary"})
	if planted < 10 || strings.Count(open, "canary") < 10 {
		t.Errorf("want the texts on the open page, got %d of %d", strings.Count(open, "canary"), planted)
	}
	if i := strings.Index(page, "canary"); i >= 0 {
		t.Errorf("a text survives: %.100s", page[i-50:])
	}
	if !strings.Contains(page, "agent 1") || !strings.Contains(page, "redacted") {
		t.Error("want agents by number, and that it is redacted")
	}
}
