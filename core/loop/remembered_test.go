package loop_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

//go:embed testdata/first.txt
var first string

//go:embed testdata/second.txt
var second string

//go:embed testdata/third.txt
var third string

//go:embed testdata/fourth.txt
var fourth string

//go:embed testdata/ordinary.txt
var ordinary string

// A planted fact is to be found in the prompt of iteration 100.
type planted struct {
	kind  string
	words []string // all of them in one line
}

// in says whether a text has the fact.
func (p planted) in(text string) bool {
	for line := range strings.Lines(strings.ToLower(text)) {
		if !slices.ContainsFunc(p.words, func(w string) bool { return !strings.Contains(line, strings.ToLower(w)) }) {
			return true
		}
	}
	return false
}

// story returns the outputs of 99 iterations, and the facts in the first 60.
func story(t *testing.T, text string) (outputs []string, facts []planted) {
	t.Helper()
	usual := strings.Split(ordinary, "\n==\n")[1:]
	outputs = make([]string, 99)
	for i := range outputs {
		outputs[i] = fmt.Sprintf("Round %d. ", i+1) + usual[i%len(usual)]
	}
	for entry := range strings.SplitSeq(text, "\n== ") {
		head, text, _ := strings.Cut(entry, "\n")
		if strings.HasPrefix(head, "#") {
			continue
		}
		numbered, words, _ := strings.Cut(head, ":")
		number, kind, _ := strings.Cut(numbered, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n > 60 {
			t.Fatalf("number of %q: %v", head, err)
		}
		fact := planted{kind: kind}
		for w := range strings.SplitSeq(words, "|") {
			fact.words = append(fact.words, strings.TrimSpace(w))
		}
		if outputs[n-1] = text; !fact.in(strings.Join(strings.Fields(text), " ")) {
			t.Errorf("%q: want its words in the text", head)
		}
		facts = append(facts, fact)
	}
	for i, text := range outputs {
		outputs[i] = log(i) + text
	}
	return outputs, facts
}

// log is what tools print before an agent says something.
func log(n int) string {
	return fmt.Sprintf("```\n$ go test ./...\nok  \tharbor/internal/m%d\t0.%03ds\n2026-03-01 10:00:00 INFO listening on :8080\nFAIL: TestA%d (retrying)\n```\n", n, n*7%1000, n)
}

// TestRemembered prints how many of the planted facts the prompt of iteration 100 has, by
// the summary in code, by plain truncation to the same tokens, and by the template of the
// program that the document describes. The stories say when they were written; nothing was
// fitted to the third and the fourth.
func TestRemembered(t *testing.T) {
	for _, s := range []struct{ name, text string }{{"first", first}, {"second", second}, {"third", third}, {"fourth", fourth}} {
		t.Run(s.name, func(t *testing.T) {
			outputs, facts := story(t, s.text)
			m := start(t, loop.Config{})
			for _, out := range outputs {
				iterate(t, m, loop.Output{Text: out})
			}
			head, tail := cutTo(strings.Join(outputs[:m.Context().Folded()], "\n"), 2000)
			counts := func(text string) map[string]int {
				n := map[string]int{}
				for _, f := range facts {
					if f.in(text) {
						n[f.kind]++
						n["all"]++
					}
				}
				return n
			}
			planted := map[string]int{"all": len(facts)}
			for _, f := range facts {
				planted[f.kind]++
			}
			code := counts(begin(t, m).Prompt.Text)["all"]
			t.Logf("%-20s %9s %9s %9s %9s %9s", "", "decision", "failed", "file", "next", "all")
			for _, w := range []struct {
				name  string
				found map[string]int
			}{
				{"planted", planted},
				{"summary in code", counts(begin(t, m).Prompt.Text)},
				{"oldest 2,000 tokens", counts(head)},
				{"newest 2,000 tokens", counts(tail)},
				{"origin's template", counts(template(outputs))},
			} {
				n := w.found
				t.Logf("%-20s %9d %9d %9d %9d %9d", w.name, n["decision"], n["failed"], n["file"], n["next"], n["all"])
				if w.name != "planted" && w.name != "summary in code" && n["all"] >= code {
					t.Errorf("want more than by %s, %d, got %d", w.name, n["all"], code)
				}
			}
		})
	}
}

// cutTo returns the beginning and the end of a text, of so many tokens each.
func cutTo(text string, tokens int) (head, tail string) {
	count := chars4().Text
	n := len(text)
	for count(text[:n]) > tokens {
		n--
	}
	from := 0
	for count(text[from:]) > tokens {
		from++
	}
	return text[:n], text[from:]
}

// template is what the program that the document describes remembers without a model: a
// fold adds a line of marks, and every tenth iteration keeps the last ten marks of the
// window and 300 characters of what was there.
func template(outputs []string) string {
	var summary string
	var window [][]string
	for i, out := range outputs {
		var marks []string
		for line := range strings.Lines(out) {
			if _, rest, ok := strings.Cut(line, "<progress>"); ok {
				mark, _, _ := strings.Cut(rest, "</progress>")
				marks = append(marks, mark)
			}
		}
		if window = append(window, marks); len(window) > 5 {
			if len(window[0]) > 0 {
				summary = strings.TrimPrefix(summary+fmt.Sprintf("\nIteration %d: %s", i-4, strings.Join(window[0], ", ")), "\n")
			} else {
				summary = strings.TrimPrefix(summary+fmt.Sprintf("\nIteration %d: Made progress (score: 0.30)", i-4), "\n")
			}
			window = window[1:]
		}
		if (i+1)%10 == 0 {
			all := slices.Concat(window...)
			lines := []string{fmt.Sprintf("Progress summary after %d iterations:", i+1), "Accomplishments:"}
			for _, m := range all[max(0, len(all)-10):] {
				lines = append(lines, "- "+m)
			}
			lines = append(lines, "Recent average progress: 0.30", "Previous: "+summary[:min(len(summary), 300)])
			summary = strings.Join(lines, "\n")
		}
	}
	recent := ""
	for _, out := range outputs[len(outputs)-3:] {
		recent += out[:min(len(out), 1000)] + "\n"
	}
	return summary + "\n" + recent
}
