package webtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/web"
)

// rows returns the texts of a table's cells.
func rows(p *tab, selector string) [][]string {
	p.t.Helper()
	return eval[[][]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((r) => [...r.cells].map((c) => c.textContent))`, selector))
}

// tokens reads a number as the page writes it.
func tokens(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(strings.ReplaceAll(s, ",", ""), "−", "-"))
	if err != nil {
		t.Errorf("%q is not a number", s)
	}
	return n
}

// find returns the run of a policy on a window.
func find(t *testing.T, res replay.Result, policy, window string) replay.Run {
	t.Helper()
	i := slices.IndexFunc(res.Runs, func(r replay.Run) bool { return r.Policy == policy && r.Window == window })
	if i < 0 {
		t.Fatalf("no run of %s on %s", policy, window)
	}
	return res.Runs[i]
}

// TestFigures: the tables say what the runs say, for the run that the buttons choose, and the charts are of that run.
func TestFigures(t *testing.T) {
	ctx := browser(t)
	res := replayed(t, sessionFile(t, 40))[0]
	file := replayPage(t, "figures", []replay.Result{res}, web.Options{})
	p := open(ctx, t, file, look{1440, "light"})
	checkRun(t, p, find(t, res, "balanced", "100%"))
	before := eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`)

	// The window by keyboard: the radio group's next button.
	p.must(chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS(`input[name=window]:checked`))))
	p.press(kb.ArrowRight)
	p.settle()
	checkRun(t, p, find(t, res, "balanced", "50%"))
	if before == eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`) {
		t.Error("another window gave the same picture")
	}

	// The policy by mouse.
	p.must(chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS(`.card[data-policy="0"] .name`))))
	p.settle()
	first := find(t, res, res.Runs[0].Policy, "50%")
	checkRun(t, p, first)
	if got := eval[string](p, `document.getElementById("live").textContent`); !strings.Contains(got, first.Policy) {
		t.Errorf("a screen reader hears %q", got)
	}
}

// checkRun compares what is shown with a run.
func checkRun(t *testing.T, p *tab, run replay.Run) {
	t.Helper()
	eval[bool](p, `document.querySelectorAll(".figures").forEach((d) => { d.open = true; }), true`)
	p.settle()
	heads := rows(p, `[data-chart=main] thead tr`)[0]
	body := rows(p, `[data-chart=main] tbody tr`)
	if len(body) != len(run.Series) {
		t.Fatalf("%s on %s: table of %d Steps, want %d", run.Policy, run.Window, len(body), len(run.Series))
	}
	for i, row := range body {
		want := run.Series[i]
		sum := 0
		for c, head := range heads {
			n := tokens(t, row[c])
			switch head {
			case "Step":
				sum += expect(t, "Step", n, want.Step) * 0
			case "Sent":
				expect(t, "sent", n, want.Tokens)
			case "Client’s":
				expect(t, "the client's", n, want.Raw)
			default:
				sum += expect(t, head, n, want.By[head])
			}
		}
		expect(t, "the sum of contents", sum, want.Tokens)
	}
	for i, row := range rows(p, `[data-chart=cache] tbody tr`) {
		expect(t, "cache read", tokens(t, row[2]), run.Series[i].Read)
		expect(t, "cache lost", tokens(t, row[3]), run.Series[i].Lost)
	}
	edits := 0
	list := rows(p, `#edits tbody tr`)
	for _, point := range run.Series {
		for _, c := range point.Edits {
			if edits < len(list) {
				row := list[edits]
				if row[1] != c.Rule || row[2] != c.Kind || row[7] != c.Why || tokens(t, row[0]) != point.Step || tokens(t, row[4]) != c.Before || tokens(t, row[5]) != c.After {
					t.Errorf("edit %d is %v, want Step %d %+v", edits+1, row, point.Step, c)
				}
			}
			edits++
		}
	}
	expect(t, "edits listed", len(list), min(edits, 100))
	if about := eval[string](p, `document.getElementById("run").textContent`); !strings.Contains(about, run.CostUSD.String()) {
		t.Errorf("the run is said to be %q, want %s", about, run.CostUSD)
	}
	chosen := rows(p, `.group:not([hidden]) > .sheet:first-of-type tr.chosen`)
	sent := slices.Index(rows(p, `.group:not([hidden]) > .sheet:first-of-type thead tr`)[0], "Sent")
	if len(chosen) != 1 || chosen[0][0] != run.Policy || sent < 0 || tokens(t, chosen[0][sent]) != run.TokensSent {
		t.Errorf("marked row is %v, want %s with %d", chosen, run.Policy, run.TokensSent)
	}
}

// expect compares, and returns what it got.
func expect(t *testing.T, what string, got, want int) int {
	t.Helper()
	if got != want {
		t.Errorf("%s is %d, want %d", what, got, want)
	}
	return got
}

// TestChartByKeyboard: the chart is a slider of Steps that says what is there.
func TestChartByKeyboard(t *testing.T) {
	ctx := browser(t)
	res := replayed(t, sessionFile(t, 40))[0]
	run := find(t, res, "balanced", "50%")
	p := open(ctx, t, replayPage(t, "slider", []replay.Result{res}, web.Options{}), look{1440, "dark"})
	p.must(chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS(`.windows .pill:nth-of-type(2) span`)), chromedp.Focus(chromedp.CSS("#main-plot"))))
	p.settle()
	now := func() int {
		return tokens(t, eval[string](p, `document.getElementById("main-plot").getAttribute("aria-valuenow")`))
	}
	for _, step := range []struct {
		key  string
		want int
	}{
		{kb.Home, 1}, {kb.ArrowRight, 2}, {kb.PageUp, 12}, {kb.ArrowLeft, 11}, {kb.PageDown, 1}, {kb.ArrowLeft, 1}, {kb.End, len(run.Series)},
	} {
		p.press(step.key)
		expect(t, "the Step", now(), step.want)
	}
	p.press(kb.Home)
	p.press("n")
	edited := slices.IndexFunc(run.Series, func(q replay.Point) bool { return len(q.Edits) > 0 && q.Step > 1 })
	if edited < 0 {
		t.Fatal("no edit in the run: the test shows nothing")
	}
	point := run.Series[edited]
	expect(t, "the Step with the next edit", now(), point.Step)
	said := eval[string](p, `document.getElementById("main-plot").getAttribute("aria-valuetext")`)
	tip := eval[string](p, `document.querySelector(".tip:not([hidden])")?.textContent ?? ""`)
	for _, text := range []string{said, tip} {
		if !strings.Contains(text, point.Edits[0].Rule) {
			t.Errorf("what is said of an edit is %q, want its rule %s", text, point.Edits[0].Rule)
		}
	}
	legend := rows(p, "#legend tr.sum")[0]
	expect(t, "the legend's sum", tokens(t, legend[1]), point.Tokens)
	p.must(chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#edits tbody tr:last-child button"))))
	edits := rows(p, "#edits tbody tr")
	expect(t, "the Step of the edit that has the focus", now(), tokens(t, edits[len(edits)-1][0]))
	p.must(chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#main-plot"))))
	whole := eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`)
	p.press("+")
	p.settle()
	if whole == eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`) {
		t.Error("plus does not zoom")
	}
	p.press(kb.Escape)
	p.settle()
	if whole != eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`) {
		t.Error("Escape does not show all again")
	}
}

// TestTheme: the button turns the page and what is drawn on it.
func TestTheme(t *testing.T) {
	ctx := browser(t)
	p := open(ctx, t, replayPage(t, "theme", replayed(t, sessionFile(t, 12)), web.Options{}), look{800, "light"})
	state := func() [2]string {
		return [2]string{eval[string](p, `getComputedStyle(document.body).backgroundColor`), eval[string](p, `document.querySelector("#main-plot canvas").toDataURL()`)}
	}
	light := state()
	p.must(chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("#theme"))))
	p.settle()
	dark := state()
	if light[0] == dark[0] || light[1] == dark[1] {
		t.Error("the theme's button changes nothing")
	}
	for _, fault := range eval[[]string](p, audit) {
		t.Error(fault)
	}
}

// TestHostile: texts of a session come onto the page as texts, through the script too.
func TestHostile(t *testing.T) {
	ctx := browser(t)
	res := replayed(t, sessionFile(t, 12))[0]
	const bad = `<img src=x onerror="window.hacked=1"></script><script>window.hacked=2</script>`
	res.Session, res.Model = bad, bad
	for i := range res.Runs {
		res.Runs[i].Policy = bad + strconv.Itoa(i%6)
		for k := range res.Runs[i].Series {
			res.Runs[i].Series[k].Final = bad
			res.Runs[i].Series[k].Edits = []replay.Change{{Rule: bad, Kind: bad, Why: bad, Count: 1}}
		}
	}
	p := open(ctx, t, replayPage(t, "hostile", []replay.Result{res, res}, web.Options{Title: bad}), look{1440, "light"})
	p.must(chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS("#main-plot"))))
	p.press(kb.Home)
	eval[bool](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
	p.settle()
	if got := eval[int](p, `window.hacked ?? 0`); got != 0 {
		t.Errorf("a text of the session ran (%d)", got)
	}
	if got := eval[int](p, `document.querySelectorAll("img, script").length`); got != 3 {
		t.Errorf("%d pictures and scripts, want the page's own 3 scripts", got)
	}
	if got := rows(p, "#edits tbody tr")[0][1]; got != bad {
		t.Errorf("the rule is shown as %q", got)
	}
}

// TestPaper: printing turns the page light and back.
func TestPaper(t *testing.T) {
	ctx := browser(t)
	p := open(ctx, t, replayPage(t, "paper", replayed(t, sessionFile(t, 12)), web.Options{}), look{1440, "dark"})
	eval[bool](p, `addEventListener("beforeprint", () => { window.printed = document.documentElement.dataset.theme; }), true`)
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.must(err)
	p.must(chromedp.Do(p.ctx, chromedp.EmulateViewport(720, 1000))) // about A4 less margins
	p.settle()
	if wide := eval[int](p, `document.documentElement.scrollWidth`); wide > 720 {
		t.Errorf("the printed page is %d wide, want at most 720", wide)
	}
	p.shoot("paper")
	_, err = chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	p.must(err)
	before := eval[string](p, `getComputedStyle(document.body).backgroundColor`)
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
	p.must(err)
	if !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("not a PDF: %.20q", pdf)
	}
	if got := eval[string](p, `window.printed ?? "nothing"`); got != "light" {
		t.Errorf("the printed theme is %s, want light", got)
	}
	if got := eval[string](p, `getComputedStyle(document.body).backgroundColor`); got != before {
		t.Errorf("after printing the background is %s, want %s as before", got, before)
	}
}
