package webtest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestConversation: every message is there, folded, found by its words and reached from the
// chart; a redacted page has none.
func TestConversation(t *testing.T) {
	ctx := browser(t)
	reports := inspected(t, sessionFile(t, 45))
	p := open(ctx, t, inspectPage(t, "said", reports, web.Options{}), look{1440, "light"})
	eval[bool](p, `document.querySelector(".talk").open = true`)
	p.settle()
	if n, want := eval[int](p, `document.querySelectorAll(".hits .said").length`), len(reports[0].Talk[0].Said); n != want {
		t.Errorf("want %d messages, got %d", want, n)
	}
	if n := eval[int](p, `document.querySelectorAll(".hits pre").length`); n != 0 {
		t.Errorf("want no text before a message is unfolded, got %d", n)
	}
	search := func(words string) int {
		eval[bool](p, `(() => { const i = document.querySelector(".seek input"); i.value = "`+words+`"; i.dispatchEvent(new Event("input")); return true; })()`)
		eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 300))`)
		return eval[int](p, `document.querySelectorAll(".hits .said").length`)
	}
	if n := search("TOO SHALLOW ON TWO DAYS"); n != 1 {
		t.Errorf("want the one message with these words, got %d", n)
	}
	eval[bool](p, `document.querySelector(".hits .said").open = true`)
	p.settle()
	if text := eval[string](p, `document.querySelector(".hits pre").textContent`); text != "Berths 3 and 7 were too shallow on two days." {
		t.Errorf("want the whole message, got %q", text)
	}
	// From the chart: the first Step was sent the instruction first.
	eval[bool](p, `(() => { const m = document.getElementById("main-plot"); m.focus(); m.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" })); document.getElementById("reach").click(); return true; })()`)
	p.settle()
	if text := eval[string](p, `document.querySelector(".hits .said[open] pre").textContent`); !strings.HasPrefix(text, "Part 0: find out") {
		t.Errorf("want the instruction, got %q", text)
	}
	redacted := inspectPage(t, "said-redacted", reports, web.Options{Redact: true})
	b, err := os.ReadFile(redacted)
	if err != nil || strings.Contains(string(b), "too shallow") || strings.Contains(string(b), `<details class="sheet talk"`) {
		t.Errorf("want nothing of the conversation on a redacted page: %v", err)
	}
}

// TestCutBeside shows what a compaction took out beside what came in its place.
func TestCutBeside(t *testing.T) {
	ctx := browser(t)
	report := inspected(t, sessionFile(t, 6))[0]
	whole := report.Talk[0]
	after := inspect.Talk{Segment: 2, Said: []inspect.Said{{Message: 1, Origin: "note", Parts: []inspect.SaidPart{{Kind: "text", Text: "Berth 3 was looked at."}}}}, Gone: []int{1, 3}, New: []int{1}}
	second := report.Segments[0]
	second.Number, second.Start = 2, "compaction"
	report.Segments, report.Talk = append(report.Segments, second), []inspect.Talk{whole, after}
	p := open(ctx, t, inspectPage(t, "beside", []inspect.Report{report}, web.Options{}), look{1440, "light"})
	eval[bool](p, `(() => { const s = document.getElementById("group"); s.value = "1"; s.dispatchEvent(new Event("change")); document.querySelector('[data-said="1"]').open = true; return true; })()`)
	p.settle()
	eval[bool](p, `document.querySelector('[data-said="1"] .cut').open = true`)
	p.settle()
	if left, right := eval[int](p, `document.querySelectorAll(".apart section:first-child .said").length`), eval[int](p, `document.querySelectorAll(".apart section:last-child .said").length`); left != 2 || right != 1 {
		t.Errorf("want two messages beside one, got %d beside %d", left, right)
	}
}

// TestLargeConversation opens the page of a session of 50 MB and searches it. What that takes is
// printed with -v.
func TestLargeConversation(t *testing.T) {
	if testing.Short() {
		t.Skip("a session of 50 MB is written")
	}
	ctx := browser(t)
	session := sessionFile(t, 8000)
	if info, err := os.Stat(session); err != nil || info.Size() < 45<<20 {
		t.Fatalf("want a session of about 50 MB, got %v, %v", info.Size(), err)
	}
	file := inspectPage(t, "large", inspected(t, session), web.Options{})
	at := time.Now()
	p := open(ctx, t, file, look{1440, "light"})
	t.Logf("opened and drawn: %v", time.Since(at))
	took := eval[float64](p, `(() => { const t = performance.now(); document.querySelector(".talk").open = true; return t; })()`)
	p.settle()
	t.Logf("conversation unfolded: %.0f ms", eval[float64](p, `performance.now()`)-took)
	took = eval[float64](p, `(() => { const t = performance.now(), i = document.querySelector(".seek input"); i.value = "too shallow on two days"; i.dispatchEvent(new Event("input")); return t; })()`)
	for eval[string](p, `document.querySelector(".seek .note").textContent`) == "" {
		p.settle()
	}
	t.Logf("searched: %.0f ms", eval[float64](p, `performance.now()`)-took)
	if n := eval[int](p, `document.querySelectorAll(".hits .said").length`); n != 1 {
		t.Errorf("want one message, got %d", n)
	}
	took = eval[float64](p, `(() => { const t = performance.now(); document.getElementById("reach").click(); return t; })()`)
	p.settle()
	t.Logf("reached the last Step: %.0f ms", eval[float64](p, `performance.now()`)-took)
}
