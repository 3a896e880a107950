package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestStructure: what a person with a screen reader or a keyboard finds their way by.
func TestStructure(t *testing.T) {
	for _, k := range pageKinds {
		t.Run(k.name, func(t *testing.T) {
			page := k.render(t, ordinary, web.Options{})
			if !strings.HasPrefix(page, "<!DOCTYPE html>") {
				t.Errorf("page begins with %.40q", page)
			}
			ids, count, level := map[string]bool{}, map[string]int{}, 0
			var wanted []string
			for _, e := range elements(t, page) {
				name := e.Name.Local
				count[name]++
				if id := attribute(e, "id"); id != "" {
					if ids[id] {
						t.Errorf("id %q is there twice", id)
					}
					ids[id] = true
				}
				for _, a := range []string{"aria-labelledby", "aria-describedby", "for"} {
					wanted = append(wanted, strings.Fields(attribute(e, a))...)
				}
				if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
					now := int(name[1] - '0')
					if now > level+1 {
						t.Errorf("h%d follows h%d", now, level)
					}
					level = now
				}
				if name == "th" && attribute(e, "scope") == "" {
					t.Error("a th has no scope")
				}
			}
			for _, id := range wanted {
				if !ids[id] {
					t.Errorf("something refers to id %q, which is not there", id)
				}
			}
			if count["h1"] != 1 || count["main"] != 1 {
				t.Errorf("want one h1 and one main, got %d and %d", count["h1"], count["main"])
			}
			if count["table"] == 0 || count["table"] != count["caption"] {
				t.Errorf("want a caption for each table, got %d for %d", count["caption"], count["table"])
			}
		})
	}
}

// TestSelfContained: nothing on the page can be fetched, and the policy allows the page's
// own two scripts and style sheet alone.
func TestSelfContained(t *testing.T) {
	for _, k := range pageKinds {
		t.Run(k.name, func(t *testing.T) {
			page := k.render(t, ordinary, web.Options{})
			policy := ""
			for _, e := range elements(t, page) {
				for _, a := range e.Attr {
					if slices.Contains([]string{"src", "srcset", "data", "action", "poster", "style"}, a.Name.Local) || a.Name.Local == "href" && a.Value != "#main" ||
						strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("<%s %s=%q>: want nothing that fetches or runs", e.Name.Local, a.Name.Local, a.Value)
					}
				}
				if attribute(e, "http-equiv") == "Content-Security-Policy" {
					policy = attribute(e, "content")
				}
			}
			want := []string{"default-src 'none'; script-src", "; style-src", "; base-uri 'none'; form-action 'none'"}
			var script, style []string
			for _, m := range rawText.FindAllStringSubmatch(page, -1) {
				sum := sha256.Sum256([]byte(m[3]))
				source := " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
				switch {
				case m[2] == "style":
					style = append(style, source)
				case m[1] == "<script>":
					script = append(script, source)
				case m[1] != `<script type="application/json" id="data">` && m[1] != `<script type="application/json" id="said">`:
					t.Errorf("unknown script %s", m[1])
				}
				if m[2] == "style" && regexp.MustCompile(`url\(|@import`).MatchString(m[3]) {
					t.Error("the style sheet fetches something")
				}
			}
			if got := want[0] + strings.Join(script, "") + want[1] + strings.Join(style, "") + want[2]; got != policy || len(script) != 2 || len(style) != 1 {
				t.Errorf("policy\n  got  %s\n  want %s", policy, got)
			}
		})
	}
}

// TestSameInputSameBytes: a page depends on its input alone, and the date is in it only if
// it was given.
func TestSameInputSameBytes(t *testing.T) {
	for _, k := range pageKinds {
		t.Run(k.name, func(t *testing.T) {
			once := k.render(t, ordinary, web.Options{})
			for range 5 { // maps are walked in another order each time
				if k.render(t, ordinary, web.Options{}) != once {
					t.Fatal("the same input gave other bytes")
				}
			}
			dated := k.render(t, ordinary, web.Options{Title: "A night", Generated: time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", 3600))})
			if !strings.Contains(dated, "2026-03-01 22:30 UTC") || !strings.Contains(dated, "<h1>A night</h1>") {
				t.Error("title or date are not on the page")
			}
		})
	}
}

// TestHostile: texts of a session are texts on the page, whatever they are.
func TestHostile(t *testing.T) {
	payloads := []string{
		`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `javascript:alert(1)`, `" onmouseover="alert(1)`, `' autofocus onfocus='alert(1)`,
		`<!--<script>`, `]]>`, `{{.}}`, "\x00\x07\x1b[31m\u009b", "\u202egnp.exe\u202c \u2066x\u2069 \u200f", "a\u2028b\u2029c", "\xff\xfe\xc0", strings.Repeat("long ", 10_000),
	}
	for _, k := range pageKinds {
		plain := len(elements(t, k.render(t, ordinary, web.Options{})))
		for _, payload := range payloads {
			t.Run(fmt.Sprintf("%s/%.20q", k.name, payload), func(t *testing.T) {
				n := 0
				page := k.render(t, func(string) string { n++; return payload + " " + fmt.Sprint(n%3) }, web.Options{Title: payload})
				scripts, others, plots := 0, 0, 0
				for _, e := range elements(t, page) {
					switch e.Name.Local {
					case "script":
						scripts++
					case "img", "iframe", "a", "object":
						others++
					case "svg":
						plots++
					}
					for _, a := range e.Attr {
						if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "autofocus" || a.Name.Local == "src" {
							t.Errorf("<%s> has %s=%q", e.Name.Local, a.Name.Local, a.Value)
						}
					}
				}
				wanted := 3
				if k.name == "inspect" {
					wanted++ // what was said
				}
				if scripts != wanted || others != 1 || plots != k.plots {
					t.Errorf("want %d scripts, the one link of the page and %d plots, got %d, %d others and %d plots", wanted, k.plots, scripts, others, plots)
				}
				for i, r := range page {
					if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
						t.Fatalf("%U stands on the page at %.60q", r, page[max(0, i-30):])
					}
				}
				if len(page) > 1_000_000 {
					t.Errorf("page has %d bytes", len(page))
				}
				if plain == 0 {
					t.Error("no elements")
				}
			})
		}
	}
}

// TestRedact: of what a session, its paths or its tools are called nothing survives, in
// whichever field it stands. The same texts are on the page that is not redacted.
func TestRedact(t *testing.T) {
	for _, k := range pageKinds {
		t.Run(k.name, func(t *testing.T) {
			canaries := map[string]string{}
			plant := func(path string) string {
				canary := fmt.Sprintf("canary%dx", len(canaries))
				canaries[canary] = path
				return canary
			}
			open := k.render(t, plant, web.Options{})
			seen := 0
			for canary := range canaries {
				if strings.Contains(open, canary) {
					seen++
				}
			}
			if seen < 20 {
				t.Errorf("want the texts on the open page, found %d of %d", seen, len(canaries))
			}
			canaries = map[string]string{}
			page := k.render(t, plant, web.Options{Redact: true, Title: "canary of the title"})
			for canary, path := range canaries {
				if strings.Contains(page, canary) {
					t.Errorf("%s survives", path)
				}
			}
			if strings.Contains(page, "canary") {
				t.Errorf("a canary survives: %.200s", page[strings.Index(page, "canary")-100:])
			}
			if !strings.Contains(page, "session 1") || !strings.Contains(page, "redacted") {
				t.Error("the page does not say that it is redacted, or names no session")
			}
		})
	}
}

// TestRedactedCopies: no string of the copies themselves is one of the session, shown or not. A field
// that is added to a Result or a Report and not thought of here fails this test.
func TestRedactedCopies(t *testing.T) {
	n := 0
	plant := func(path string) string { n++; return fmt.Sprintf("canary%dx of %s", n, path) }
	results, reports, err := web.Redacted(filledResults(plant), filledReports(plant))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{results, reports} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`canary[^"]*`).FindAllString(string(b), -1) {
			t.Errorf("%s survives", m)
		}
	}
	if n < 100 {
		t.Errorf("only %d texts were planted", n)
	}
}

// TestRedactKeeps: words that everyone uses, and numbers, are what a shared report is for.
func TestRedactKeeps(t *testing.T) {
	res := long(9)
	res.Model, res.Runs[0].TokensSent, res.Runs[0].Note = "gpt-4o", 7_654_321, "buffer and so on"
	res.Format, res.Runs[2].Estimator = "gemini-cli", "max(model,chars/4)"
	res.Runs[2].Irreducible = []replay.Irreducible{{Step: 2, Floor: 900, Limit: 800, Parts: map[string]int{"newest_round": 321}}}
	res.Runs[2].EndedAtStep, res.Runs[2].EndReason = 3, "context"
	res.Runs[17].Series[3].Edits[0].Why = "because of /etc/passwd"
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{res}, web.Options{Redact: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gpt-4o", "7,654,321", "cache-compact", "Window 50%", "gemini-cli", "max(model,chars/4)", "321 newest round", "Ended at Step 3 (context guard enforced)", `"stub"`, `"batch"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is gone", want)
		}
	}
	for _, not := range []string{"passwd", "long.jsonl", "demoted in"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("%s is there", not)
		}
	}
}

// TestInputStays: writing a page changes nothing of what it is about.
func TestInputStays(t *testing.T) {
	results, reports := filledResults(ordinary), filledReports(ordinary)
	if err := web.WriteReplay(&strings.Builder{}, results, web.Options{Redact: true}); err != nil {
		t.Fatal(err)
	}
	if err := web.WriteInspect(&strings.Builder{}, reports, web.Options{Redact: true}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(results, filledResults(ordinary)) || !reflect.DeepEqual(reports, filledReports(ordinary)) {
		t.Error("the input was changed")
	}
}

// TestEmpty: there is a page even where there is nothing to show.
func TestEmpty(t *testing.T) {
	var b strings.Builder
	err := errors.Join(
		web.WriteReplay(&b, nil, web.Options{}), web.WriteInspect(&b, nil, web.Options{}),
		web.WriteInspect(&b, []inspect.Report{{Session: "a"}}, web.Options{}),
		web.WriteReplay(&b, []replay.Result{replay.Unreadable("broken.jsonl", errors.New("it is a picture")), {Session: "b", Steps: 1}}, web.Options{}),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"There is nothing to show", "holds no conversation", "it is a picture", "Not run: the file could not be read"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("pages do not say %q", want)
		}
	}
}

// TestWriteError: an error of the writer comes back.
func TestWriteError(t *testing.T) {
	if err := web.WriteReplay(full{}, nil, web.Options{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestSize: 3,000 Steps under six policies on three windows, of which each content changes
// at each Step, stay a file that can be sent by mail.
func TestSize(t *testing.T) {
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{long(3000)}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3_500_000 {
		t.Errorf("page has %d bytes", b.Len())
	}
}

// TestFigures: what the script gets is what the runs say.
func TestFigures(t *testing.T) {
	res := long(40)
	var b strings.Builder
	if err := web.WriteReplay(&b, []replay.Result{res}, web.Options{}); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Contents, Texts []string
		Groups          []struct {
			Raw  string
			Runs []struct {
				N  int
				By []struct {
					C int
					T string
				}
				Read  string
				Cost  string
				Marks [][7]int
			}
		}
	}
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(b.String())
	if err := json.Unmarshal([]byte(m[1]), &data); err != nil {
		t.Fatal(err)
	}
	for r, run := range data.Groups[0].Runs {
		want := res.Runs[r].Series
		read, raw, cost := unpack(t, run.Read, run.N), unpack(t, data.Groups[0].Raw, run.N), unpack(t, run.Cost, run.N)
		spent := 0
		for i, p := range want {
			spent += int(p.CostUSD.Pico / 1_000_000)
			if read[i] != p.Read || raw[i] != p.Raw || cost[i] != spent {
				t.Fatalf("run %d, Step %d: read, raw, cost are %d, %d, %d, want %d, %d, %d", r, i+1, read[i], raw[i], cost[i], p.Read, p.Raw, spent)
			}
		}
		for _, part := range run.By {
			for i, tokens := range unpack(t, part.T, run.N) {
				if name := data.Contents[part.C]; tokens != want[i].By[name] {
					t.Fatalf("run %d, Step %d: %s is %d, want %d", r, i+1, name, tokens, want[i].By[name])
				}
			}
		}
		if len(run.Marks) != 14 || data.Texts[run.Marks[1][3]] != "demoted in a batch" || run.Marks[1][0] != 4 {
			t.Errorf("marks are %v", run.Marks)
		}
	}
}

// A page about one segment says each thing once; with two, what the session is as a whole
// stands beside what its first segment is.
func TestOneSegment(t *testing.T) {
	segment := inspect.Segment{Number: 1, Start: "root", Steps: []inspect.Step{{Tokens: 10}}}
	for _, c := range []struct {
		segments []inspect.Segment
		facts    int
		names    int
	}{
		{[]inspect.Segment{segment}, 8, 0},
		{[]inspect.Segment{segment, {Number: 2, Start: "root"}}, 16, 1},
	} {
		var b strings.Builder
		if err := web.WriteInspect(&b, []inspect.Report{{Session: "quay.jsonl", Segments: c.segments}}, web.Options{}); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if got := strings.Count(page, "<dt>"); got != c.facts {
			t.Errorf("%d segments: want %d facts, got %d", len(c.segments), c.facts, got)
		}
		if got := strings.Count(page, ">quay.jsonl, segment 1</h2>"); got != c.names {
			t.Errorf("%d segments: the file's name stands %d times above its first one", len(c.segments), got)
		}
	}
}

// A cache break at the very beginning is not at byte 0 of no message.
func TestBreakAtTheBeginning(t *testing.T) {
	place := func(at inspect.Place) string {
		var b strings.Builder
		report := inspect.Report{Session: "quay.jsonl", CacheBreaks: []inspect.Break{{Cause: "idle", At: at}}}
		if err := web.WriteInspect(&b, []inspect.Report{report}, web.Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const want = ">the beginning</td>"
	if !strings.Contains(place(inspect.Place{What: "section"}), want) {
		t.Error("byte 0 of no message: want the beginning")
	}
	if strings.Contains(place(inspect.Place{What: "message", Message: 3, Line: 7}), want) {
		t.Error("byte 0 of a message is not the beginning")
	}
}

// unpack reads a series as the script does.
func unpack(t *testing.T, s string, n int) []int {
	t.Helper()
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var out []int
	value, u, shift := 0, 0, 0
	for _, c := range s {
		d := strings.IndexRune(digits, c)
		if d < 0 {
			t.Fatalf("digit %q", c)
		}
		u |= d & 31 << shift
		if shift += 5; d&32 != 0 {
			continue
		}
		if u&1 == 1 {
			u = -u + 1 // the sign is the lowest bit
		}
		value += u / 2
		out, u, shift = append(out, value), 0, 0
	}
	for len(out) < n {
		out = append(out, value)
	}
	return out
}

// TestVendored: the charting library is the one that its README names.
func TestVendored(t *testing.T) {
	readme, err := os.ReadFile("assets/uplot/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\S+) \| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(readme), -1)
	if len(rows) != 3 {
		t.Fatalf("README names %d files", len(rows))
	}
	for _, row := range rows {
		b, err := os.ReadFile("assets/uplot/" + row[1])
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != row[2] {
			t.Errorf("%s is not the file that README names", row[1])
		}
	}
}

// TestEscaped: what is shown is what was said.
func TestEscaped(t *testing.T) {
	page := pageKinds[0].render(t, func(string) string { return `if a < b && c > "d" { 🧵 }` }, web.Options{})
	if !strings.Contains(html.UnescapeString(page), `if a < b && c > "d" { 🧵 }`) || strings.Contains(page, `a < b &&`) {
		t.Error("the text is not on the page as a text")
	}
}
