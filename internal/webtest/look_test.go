package webtest

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/web"
)

//go:embed audit.js
var audit string

// TestLooks opens each page at three widths in both themes. Nothing may be wrong for people
// who see badly or have a small screen, nothing may be said on the console or asked of anybody.
func TestLooks(t *testing.T) {
	ctx := browser(t)
	session := sessionFile(t, 45)
	results := replayed(t, session)
	pages := map[string]string{
		"replay":   replayPage(t, "replay", results, web.Options{}),
		"redacted": replayPage(t, "redacted", append(slices.Clone(results), replay.Result{Session: "x", NotRun: "y"}), web.Options{Redact: true}),
		"inspect":  inspectPage(t, "inspect", inspected(t, session), web.Options{}),
	}
	for name, file := range pages {
		for _, l := range looks() {
			t.Run(name+"/"+l.String(), func(t *testing.T) { check(t, open(ctx, t, file, l), name+"-"+l.String()) })
		}
	}
}

// TestRecorded does the same with a session that somebody had.
func TestRecorded(t *testing.T) {
	session := recorded(t)
	ctx := browser(t)
	pages := map[string]string{
		"recorded-replay":  replayPage(t, "recorded-replay", replayed(t, session), web.Options{}),
		"recorded-inspect": inspectPage(t, "recorded-inspect", inspected(t, session), web.Options{}),
	}
	for name, file := range pages {
		for _, l := range looks() {
			t.Run(name+"/"+l.String(), func(t *testing.T) { check(t, open(ctx, t, file, l), name+"-"+l.String()) })
		}
	}
}

// check looks at a page as it opens, and again with all that is folded away.
func check(t *testing.T, p *tab, name string) {
	for _, fault := range eval[[]string](p, audit) {
		t.Error(fault)
	}
	p.shoot(name)
	eval[bool](p, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
	p.settle()
	for _, fault := range eval[[]string](p, audit) {
		t.Error("unfolded: " + fault)
	}
	if !eval[bool](p, `document.querySelectorAll("canvas").length >= 2`) {
		t.Error("no charts")
	}
}

// reach is what the focus is on: the number that wanted gave it, and whether one sees it.
const reach = `(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return "end";
  const visible = [e, e.nextElementSibling, e.parentElement].some((x) => {
    const s = x && getComputedStyle(x);
    return s && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2;
  });
  const box = e.getBoundingClientRect();
  return e.place + (visible ? "" : " unseen: " + e.outerHTML.slice(0, 80)) + (box.bottom <= 0 || box.top >= innerHeight ? " outside: " + e.outerHTML.slice(0, 80) : "");
})()`

// wanted numbers what must be reached, of radio buttons the one that is pressed.
const wanted = `window.wanted = [...document.querySelectorAll("a[href], button:enabled, select, summary, [tabindex='0'], input:not([type=radio]), input[type=radio]:checked:enabled")]
  .filter((e) => e.checkVisibility() && e.getClientRects().length), window.wanted.map((e, i) => e.place = i)`

// TestKeyboard: Tab reaches whatever can be used, one sees where one is, and goes on to the end.
func TestKeyboard(t *testing.T) {
	ctx := browser(t)
	session := sessionFile(t, 30)
	for name, file := range map[string]string{
		"replay":  replayPage(t, "keyboard-replay", replayed(t, session), web.Options{}),
		"inspect": inspectPage(t, "keyboard-inspect", inspected(t, session), web.Options{}),
	} {
		for _, width := range []int64{360, 1440} {
			t.Run(fmt.Sprintf("%s/%d", name, width), func(t *testing.T) {
				p := open(ctx, t, file, look{width, "light"})
				missing := map[int]bool{}
				for _, i := range eval[[]int](p, wanted) {
					missing[i] = true
				}
				if len(missing) < 8 {
					t.Fatalf("only %d elements can be used", len(missing))
				}
				for range len(missing) + 20 {
					p.press(kb.Tab)
					got := eval[string](p, reach)
					if got == "end" {
						break
					}
					place, fault, _ := strings.Cut(got, " ")
					if fault != "" {
						t.Error(fault)
					}
					i, err := strconv.Atoi(place)
					if err != nil {
						t.Fatal(err)
					}
					delete(missing, i)
				}
				for i := range missing {
					t.Errorf("Tab does not reach %s", eval[string](p, fmt.Sprintf(`window.wanted[%d].outerHTML.slice(0, 90)`, i)))
				}
			})
		}
	}
}
