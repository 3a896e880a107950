package ground

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// saysPlainly is what [Text.Says] means, by the runes of both.
func saysPlainly(text, span string) bool {
	word := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || '0' <= r && r <= '9' }
	t, s := []rune(text), []rune(span)
	for at := 0; at+len(s) <= len(t); at++ {
		end := at + len(s)
		if slices.Equal(t[at:end], s) && (at == 0 || !word(t[at-1]) || !word(t[at])) && (end == len(t) || !word(t[end]) || !word(t[end-1])) {
			return true
		}
	}
	return false
}

// spoken draws texts of few words, some within others, with separators of all sorts, so
// that spans return, and stand beside what is nearly the same.
func spoken(t *rapid.T) string {
	words := []string{"parseAll", "parseAllOf", "a_b", "lib/a.go", "core/lib/a.go", "4711", "14711", "3f2a91c0", "äparseAll", "if x == nil {", "x == nil", "https://h.example/a"}
	seps := []string{" ", "\n", "→", "/", ":", "é", "", "\"", "."}
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "words") {
		b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
		b.WriteString(rapid.SampledFrom(seps).Draw(t, "separator"))
	}
	return b.String()
}

// spokenMessage draws a message, and returns what each of its parts says.
func spokenMessage(t *rapid.T, id int) (llm.Message, []string) {
	text := spoken(t)
	switch rapid.IntRange(0, 2).Draw(t, "author") {
	case 0:
		return llm.Message{ID: llm.MessageID(id), Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: text}}}, []string{text}
	case 1:
		result := llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: text}}}
		return llm.Message{ID: llm.MessageID(id), Role: llm.RoleTool, Parts: []llm.Part{result, result}}, []string{text, text}
	}
	args := fmt.Sprintf(`{"command":%q}`, text)
	call := llm.ToolCall{CallID: "c", Name: "bash", Args: args}
	return llm.Message{ID: llm.MessageID(id), Role: llm.RoleAssistant, Parts: []llm.Part{llm.Text{Text: text}, call}}, []string{text, TextOf(call).text}
}

// TestIndexIsASearch: an index answers as a search through all parts would, and what is
// said later changes nothing about what was asked up to a part.
func TestIndexIsASearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type part struct {
			Place
			text string
		}
		var x Index
		var parts []part
		from, model := 0, false
		for id := 1; id <= rapid.IntRange(1, 8).Draw(t, "messages"); id++ {
			m, texts := spokenMessage(t, id)
			if m.Role == llm.RoleAssistant && !model {
				from = len(parts)
			}
			model = m.Role == llm.RoleAssistant
			for n, text := range texts {
				parts = append(parts, part{Place{m.ID, n}, text})
			}
			x.Add(m)
		}
		for _, span := range []string{"parseAll", "a_b", "lib/a.go", "4711", "x == nil", "3f2a91c0", "äparseAll"} {
			var want []Place
			for _, p := range parts[:from] {
				if saysPlainly(p.text, span) {
					want = append(want, p.Place)
				}
			}
			s := SpanOf(Ident, span)
			last, ok := x.Last(s)
			if ok != (len(want) > 0) || ok && last != want[len(want)-1] {
				t.Fatalf("%q: want the last of %v, got %v, %v", span, want, last, ok)
			}
			if ok && !slices.Equal(x.Sources(s, last), want) {
				t.Fatalf("%q: want %v, got %v", span, want, x.Sources(s, last))
			}
		}
	})
}

// TestTextsAreASearch: texts that are searched together say what one of them does.
func TestTextsAreASearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x Texts
		var texts []string
		for range rapid.IntRange(0, 8).Draw(t, "texts") {
			texts = append(texts, spoken(t))
			x.Add(TextOfString(texts[len(texts)-1]))
		}
		for _, span := range []string{"parseAll", "a_b", "lib/a.go", "4711", "x == nil", "3f2a91c0", "äparseAll", "→"} {
			want := slices.ContainsFunc(texts, func(text string) bool { return saysPlainly(text, span) })
			if got := x.Says(SpanOf(Ident, span)); got != want {
				t.Fatalf("%q in %q: want %v, got %v", span, texts, want, got)
			}
		}
	})
}

// FuzzSpans: whatever a model writes as arguments has spans that its call says, each once,
// and the same every time.
func FuzzSpans(f *testing.F) {
	for _, s := range []string{
		`{"file_path":"/repo/src/a.go:12","old_string":"if err != nil {\n"}`, `{"input":"*** Begin Patch\n@@ x\n-  a b c d e f\n+é"}`,
		`{"a":["\"two words\" 3f2a91c0","https://h.example/é"]}`, "no json a/b.go", `{"a":1234.5,"b":{"c":"00000000-0000-0000-0000-000000000001"}}`, "\xff{",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		call := llm.ToolCall{CallID: "c", Name: "bash", Args: args}
		spans, again, said := Spans(call), Spans(call), TextOf(call)
		seen := map[string]bool{}
		for i, s := range spans {
			if s.Text == "" || !slices.Contains(Kinds(), s.Kind) {
				t.Fatalf("a span of nothing: %v %q", s.Kind, s.Text)
			}
			if seen[s.Text] {
				t.Fatalf("%q twice", s.Text)
			}
			seen[s.Text] = true
			if !said.Says(s) {
				t.Fatalf("%v %q is not said by %q", s.Kind, s.Text, said.text)
			}
			if again[i].Kind != s.Kind || again[i].Text != s.Text {
				t.Fatalf("%q, then %q", s.Text, again[i].Text)
			}
		}
	})
}

// TestIndexIsSmall: an index and the texts that it shares are together at most twice as
// large as the texts.
func TestIndexIsSmall(t *testing.T) {
	var messages []llm.Message
	size, seed := 0, uint32(1)
	for id := 1; size < 4_000_000; id++ {
		var b strings.Builder
		for range 400 {
			seed = seed*1664525 + 1013904223 // Numerical Recipes
			fmt.Fprintf(&b, "word%d ", seed>>20)
		}
		text := b.String()
		size += len(text)
		messages = append(messages, llm.Message{ID: llm.MessageID(id), Role: llm.RoleTool, Parts: []llm.Part{
			llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: text}}},
		}})
	}
	before := alive()
	var x Index
	for _, m := range messages {
		x.Add(m)
	}
	took := alive() - before
	runtime.KeepAlive(messages)
	if x.Step() != 0 || took > int64(size) {
		t.Errorf("want at most %d bytes beside as many of text, got %d", size, took)
	}
}

// alive returns the bytes of the heap that are in use.
func alive() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc) //nolint:gosec // less than that
}

// BenchmarkIndex adds a message of 20 kB to a long history and to none: what it takes does
// not depend on the history.
func BenchmarkIndex(b *testing.B) {
	text := strings.Repeat("core/lib/a.go:12: func parseAll(x int) error { return nil }\n", 330)
	for _, n := range []int{0, 1_000} {
		b.Run(fmt.Sprintf("behind %d", n), func(b *testing.B) {
			var x Index
			add := func(id int) {
				x.Add(llm.Message{ID: llm.MessageID(id), Role: llm.RoleTool, Parts: []llm.Part{llm.Text{Text: text}}})
			}
			for id := range n {
				add(id + 1)
			}
			b.SetBytes(int64(len(text)))
			id := n
			for b.Loop() {
				id++
				add(id)
			}
		})
	}
}
