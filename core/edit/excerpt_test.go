package edit_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// shownOf returns what a cap that shows ends leaves of a text; whole is true if it is all.
func shownOf(text string, a edit.CapArgs) (shown string, whole bool) {
	a.Ends = true
	s := oneOutput(text).scene("|{ref}")
	sp, _ := outputOf(s, "c1")
	p := s.Cap(sp, a)
	if p.Empty() {
		return text, true
	}
	shown = shownBy(p)
	return shown[:strings.LastIndex(shown, "|")], false
}

func rows(n int, row func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i+1) + "\n")
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	plain := func(i int) string { return fmt.Sprintf("step %d of the build is done", i) }
	build := func(i int) string {
		switch i {
		case 70:
			return "main.go:7:2: warning: x is not used"
		case 100, 140, 141:
			return fmt.Sprintf("main.go:%d:9: error: y is not declared", i)
		case 150:
			return "0 errors, no warnings in this package"
		}
		return plain(i)
	}
	code := strings.Repeat("aB3/", 900)
	for _, c := range []struct {
		name, text string
		bytes      int
		want       string
	}{
		{"both ends and what went wrong", rows(200, build), 700, `step 1 of the build is done
step 2 of the build is done
step 3 of the build is done
step 4 of the build is done
step 5 of the build is done
step 6 of the build is done
step 7 of the build is done
[… 91 lines, 8 to 98 …]
step 99 of the build is done
main.go:100:9: error: y is not declared
step 101 of the build is done
step 102 of the build is done
step 103 of the build is done
[… 91 lines, 104 to 194 …]
step 195 of the build is done
step 196 of the build is done
step 197 of the build is done
step 198 of the build is done
step 199 of the build is done
step 200 of the build is done`},
		{
			"a long line does not take the place of others", "first\n" + strings.Repeat("x", 4000) + "\n" + rows(20, plain) + "last", 800,
			"first\n" + strings.Repeat("x", 132) + " […3803 bytes…] " + strings.Repeat("x", 65) + "\n" + rows(20, plain) + "last",
		},
		{"one endless line", strings.Repeat("é", 2000), 200, strings.Repeat("é", 60) + " […3822 bytes…] " + strings.Repeat("é", 29)},
		{
			"a data URL", "before\n<img src=\"data:image/png;base64," + code + "\">\nafter\n" + strings.Repeat("\n", 2000), 2100,
			"before\n<img src=\"[image/png, 2.7 kB in base64]\">\nafter\n",
		},
		{"base64 of a known format", `{"data": ` + "iVBORw0KGgo" + code + "\n" + rows(40, plain), 500, `{"data": [image/png, 2.7 kB in base64]`},
		{"no text", "\x1f\x8b\x08\x00" + strings.Repeat("\x01", 5000), 500, "[application/gzip, 5.0 kB: no text]"},
		{"a table", "name,size,when\n" + rows(99, func(i int) string { return fmt.Sprintf("\"a,%d\",%d,now", i, i) }), 300, "[a table of 3 columns and, below its header, 99 rows]\nname,size,when\n\"a,1\",1,now\n"},
		{"a table of Markdown", "| a | b |\n|---|--:|\n" + rows(99, func(i int) string { return fmt.Sprintf("| %d | x |", i) }), 200, "[a table of 2 columns and, below its header, 99 rows]\n| a | b |\n|---|--:|\n| 1 | x |\n"},
		{"a table of tabs", "a\tb\n" + rows(99, func(i int) string { return fmt.Sprintf("%d\tx", i) }), 200, "[a table of 2 columns and, below its header, 99 rows]\na\tb\n1\tx\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, whole := shownOf(c.text, edit.CapArgs{Bytes: c.bytes})
			if whole || len(got) > c.bytes {
				t.Fatalf("%d bytes, whole %v", len(got), whole)
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("a text that is about errors", func(t *testing.T) {
		text := rows(1000, func(i int) string {
			if i%10 == 0 {
				return "if err := " + strings.Repeat("f", i/10) + "(); err != nil { return the error }"
			}
			return plain(i)
		})
		got, _ := shownOf(text, edit.CapArgs{Bytes: 6000})
		if n := strings.Count(got, "[… "); n > 4 {
			t.Errorf("%d gaps in\n%s", n, got)
		}
	})
	t.Run("what fits stays", func(t *testing.T) {
		if _, whole := shownOf("a\nb\n", edit.CapArgs{Bytes: 4, LineLength: 1}); !whole {
			t.Error("it was cut")
		}
	})
	t.Run("no room", func(t *testing.T) {
		if got, _ := shownOf(rows(40, plain), edit.CapArgs{Bytes: 9}); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

func TestExcerptOfJSON(t *testing.T) {
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprintf(`{"id":%d,"title":"Nr. %d says \"ü\" and much more than is needed here","tags":["a","b"],"deep":{"x":{"y":[1,2]}}}`, i, i))
	}
	text := `{"total":300,"next":null,"items":[` + strings.Join(list, ",") + `],"note":"` + strings.Repeat("n", 900) + `"}`
	for _, c := range []struct {
		bytes int
		want  string
	}{
		{1200, `[JSON by its shape; … is what is left out]
{
 "total": 300,
 "next": null,
 "items": [
  {"id": 0,"title": "Nr. 0 says \"ü\" and much more than is needed here","tags": ["a","b"],"deep": {"x": {"y": [1,2]}}},
  {"id": 1,"title": "Nr. 1 says \"ü\" and much more than is needed here","tags": ["a","b"],"deep": {"x": {"y": [1,2]}}},
  {"id": 2,"title": "Nr. 2 says \"ü\" and much more than is needed here","tags": ["a","b"],"deep": {"x": {"y": [1,2]}}},
  {"id": 3,"title": "Nr. 3 says \"ü\" and much more than is needed here","tags": ["a","b"],"deep": {"x": {"y": [1,2]}}}
  … 296 more of 300 elements
 ],
 "note": "` + strings.Repeat("n", 80) + `…900 bytes"
}`},
		{300, `[JSON by its shape; … is what is left out]
{
 "total": 300,
 "next": null,
 "items": [
  {"id": 0,"title": "Nr. 0 says \"ü\" and mu…51 bytes","tags": [… 2 elements],"deep": {… 1 key}}
  … 299 more of 300 elements
 ],
 "note": "nnnnnnnnnnnnnnnnnnnnnnnn…900 bytes"
}`},
	} {
		if got, _ := shownOf(text, edit.CapArgs{Bytes: c.bytes}); got != c.want || len(got) > c.bytes {
			t.Errorf("got %d of %d bytes\n%s\nwant\n%s", len(got), c.bytes, got, c.want)
		}
	}
	if got, _ := shownOf(text[1:], edit.CapArgs{Bytes: 300}); strings.Contains(got, "JSON") {
		t.Errorf("it is none: %s", got)
	}
}

// drawOutput returns an output of any kind, so that all ways to show one are gone.
func drawOutput(t *rapid.T) string {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "1 error", "Error: no such file", "warning: old", "über 漢字 🚢", "x,y,z", "a\tb", "|a|b|", "|-|-|", "\x00"}),
		rapid.Custom(func(t *rapid.T) string { return strings.Repeat("é ", rapid.IntRange(0, 300).Draw(t, "length")) }),
		rapid.Just("data:image/png;base64,"+strings.Repeat("aB3/", 80)+","),
	)
	if rapid.Bool().Draw(t, "json") {
		return jsonOf(t, 3)
	}
	one := rapid.SliceOfN(line, 1, 4).Draw(t, "kinds")
	lines := rapid.SliceOfN(rapid.SampledFrom(one), 1, 80).Draw(t, "lines")
	return strings.Join(lines, "\n")
}

func jsonOf(t *rapid.T, depth int) string {
	value := func() any { return rapid.StringN(0, 40, -1).Draw(t, "text") }
	var any func(depth int) any
	any = func(depth int) (v interface{}) {
		switch n := rapid.IntRange(0, 12).Draw(t, "members"); {
		case depth == 0 || n == 0:
			return value()
		case rapid.Bool().Draw(t, "list"):
			var list []interface{}
			for range n {
				list = append(list, any(depth-1))
			}
			return list
		default:
			object := map[string]interface{}{}
			for range n {
				object[rapid.StringN(0, 9, -1).Draw(t, "key")] = any(depth - 1)
			}
			return object
		}
	}
	b, err := json.Marshal([]interface{}{any(depth)})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestExcerptIsBounded is what a policy may rely on, for any output and any figures: what
// is shown is within the bytes and tokens of the cap, is text if the output is, and is the
// same again.
func TestExcerptIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawOutput(t)
		a := edit.CapArgs{Bytes: rapid.IntRange(0, 700).Draw(t, "bytes"), Tokens: rapid.IntRange(0, 700).Draw(t, "tokens")}
		if rapid.Bool().Draw(t, "lines") {
			a.LineLength = rapid.IntRange(1, 60).Draw(t, "line length")
		}
		shown, whole := shownOf(text, a)
		if again, _ := shownOf(text, a); again != shown {
			t.Fatalf("law 4: %q, then %q", shown, again)
		}
		if a.Bytes > 0 && len(shown) > a.Bytes || a.Tokens > 0 && len(shown) > a.Tokens || len(shown) > len(text) {
			t.Fatalf("%d bytes of %d are shown, want at most %+v: %q", len(shown), len(text), a, shown)
		}
		if utf8.ValidString(text) && !utf8.ValidString(shown) {
			t.Fatalf("%q is shown of %q", shown, text)
		}
		if over := a.Bytes > 0 && len(text) > a.Bytes || a.Tokens > 0 && len(text) > a.Tokens; over == whole && a.LineLength == 0 {
			t.Fatalf("%d bytes, cap %+v, shown whole %v", len(text), a, whole)
		}
	})
}

// TestExcerptAccountsForLines reads an excerpt as a model would: every line that it shows is
// the line of that number, and those it says are left out are all others.
func TestExcerptAccountsForLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 120).Draw(t, "lines")
		lines := make([]string, n)
		for i := range lines {
			lines[i] = strings.Repeat("word ", rapid.IntRange(0, 8).Draw(t, "words")) + rapid.SampledFrom([]string{"", "error", "warning"}).Draw(t, "what") + strconv.Itoa(i)
		}
		text := strings.Join(lines, "\n")
		stored := rapid.Bool().Draw(t, "stored")
		shown := ""
		room := rapid.IntRange(100, 600).Draw(t, "bytes")
		if stored {
			head, tail := rapid.IntRange(0, len(text)).Draw(t, "head"), rapid.IntRange(0, len(text)).Draw(t, "tail")
			shown = storedExcerpt(t, text, edit.Ends{Ref: llm.RefOf([]byte(text)), Head: text[:head], Tail: text[len(text)-tail:]}, room)
		} else {
			shown, _ = shownOf(text, edit.CapArgs{Bytes: room})
		}
		if shown == "" || !strings.Contains(shown, "\n") {
			return // no room for a line, or one that is shortened
		}
		next := 0
		for _, line := range strings.Split(shown, "\n") {
			var from, to, count int
			if _, err := fmt.Sscanf(line, "[… %d lines, %d to %d …]", &count, &from, &to); err == nil {
				if from != next+1 || to-from+1 != count {
					t.Fatalf("%s after line %d in\n%s", line, next, shown)
				}
				next = to
				continue
			}
			if _, err := fmt.Sscanf(line, "[… line %d …]", &from); err == nil {
				if from != next+1 {
					t.Fatalf("%s after line %d in\n%s", line, next, shown)
				}
				next = from
				continue
			}
			if next >= n || line != lines[next] && !strings.Contains(line, " bytes…] ") && !strings.HasPrefix(lines[next], line) {
				t.Fatalf("line %d: got %q of\n%s", next+1, line, shown)
			}
			next++
		}
		if next != n {
			t.Fatalf("%d of %d lines are accounted for in\n%s", next, n, shown)
		}
	})
}

// storedExcerpt returns what is shown of an output of which the host read the ends.
func storedExcerpt(t *rapid.T, text string, ends edit.Ends, room int) string {
	w := oneOutput("x")
	w.messages[1].Parts[0] = llm.ToolResult{CallID: "c1", Content: []llm.Part{
		llm.Stub{Ref: ends.Ref, Text: "[stored]", Size: len(text), Lines: edit.CountLines(text), Tokens: len(text)},
	}}
	s := w.scene("|{ref}")
	s.Ends = ends
	sp, ok := outputOf(s, "c1")
	if !ok {
		t.Fatal("no output")
	}
	p := s.Cap(sp, edit.CapArgs{Bytes: room, Ends: true})
	if p.Empty() {
		return text
	}
	shown := shownBy(p)
	if shown = shown[:strings.LastIndex(shown, "|")]; len(shown) > room {
		t.Fatalf("%d bytes are shown, want at most %d", len(shown), room)
	}
	return shown
}
