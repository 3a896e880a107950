package builtin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A question about an output. What answers it is the first match of a pattern that begins with
// what the question names.
type question struct {
	about  string // the kind of output
	ref    string
	text   string
	key    string         // a text of the output
	fact   *regexp.Regexp // what is said of it
	answer string
}

// A kind of output, and how to ask about it: every match of fact is a question, its first
// group what is asked about, its second the answer.
type kind struct {
	name string
	fact string
	ask  string
	text string
}

// run runs a command in a folder and returns what it puts out.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if len(out) == 0 {
		t.Fatalf("%s %q: want an output, got none: %v", name, args, err)
	}
	return string(out)
}

// outputs are those of the project's own tools: tests, a linter, a build, JSON in lines and in
// one line.
func outputs(t *testing.T) []kind {
	t.Helper()
	dir := t.TempDir()
	var faulty strings.Builder
	faulty.WriteString("package faulty\n\nimport \"fmt\"\n\n")
	for i := range 800 {
		fmt.Fprintf(&faulty, "func f%d() { fmt.Printf(\"%%d\\n\", \"value %d\") }\n\n", i, i*7919)
	}
	for name, text := range map[string]string{"go.mod": "module faulty\n", "faulty.go": faulty.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := run(t, "..", "go", "list", "-json=ImportPath,Name,Doc,GoFiles,Imports,TestGoFiles,XTestGoFiles", "./...")
	var packed bytes.Buffer
	for dec := json.NewDecoder(strings.NewReader(list)); dec.More(); {
		var one json.RawMessage
		if err := dec.Decode(&one); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&packed, one); err != nil {
			t.Fatal(err)
		}
	}
	return []kind{
		{"tests", `(PASS: Test\w+) (\(\d+\.\d\ds\))\n`, "How long did it take, that is marked %s?", run(t, "..", "go", "test", "-v", "./core/turn", "./core/llm", "./core/cache", "./core/budget", "./core/policy", "./wire", "./store")},
		{"linter", `(\d+:\d+): (fmt.Printf format %d has arg "value \d+" of wrong type \w+)`, "What is wrong at faulty.go:%s?", run(t, dir, "go", "vet", ".")},
		{"build", `(\.go:\d+:\d+): (can inline [\w.()*]+)\n`, "What does the compiler say at %s?", run(t, "..", "go", "build", "-gcflags=-m", "./core/edit", "./core/meter", "./core/turn")},
		{"JSON", `("ImportPath": "[^"]+"),\s+("Name": "\w+")`, "What is the name of the package with %s?", list},
		{"JSON in one line", `("ImportPath":"[^"]+"),("Name":"\w+")`, "What is the name of the package with %s?", packed.String()},
	}
}

// questions draws some about each output, by a seed.
func questions(t *testing.T, s *shelf, seed uint64) []question {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 14))
	var out []question
	for _, k := range outputs(t) {
		ref := s.put(k.text)
		facts := regexp.MustCompile(k.fact).FindAllStringSubmatch(k.text, -1)
		t.Logf("%-17s %8d bytes %5d facts", k.name, len(k.text), len(facts))
		picked := 0
		for _, i := range r.Perm(len(facts)) {
			f := facts[i]
			if strings.Count(k.text, f[1]) != 1 && k.name != "JSON" || picked == 6 {
				continue
			}
			picked++
			out = append(out, question{
				about: k.name, ref: ref, text: fmt.Sprintf(k.ask, f[1]), key: f[1], answer: f[2],
				fact: regexp.MustCompile(regexp.QuoteMeta(f[1]) + `[^\x00]{0,20}?` + regexp.QuoteMeta(f[2])),
			})
		}
		if picked != 6 {
			t.Fatalf("%s: want 6 questions, got %d", k.name, picked)
		}
	}
	return out
}

// reader is a model that answers q from the bytes that it was sent, and from nothing else: it
// knows the form of a fact, and searches where it has the tools.
func reader(q question) *model {
	form := regexp.MustCompile(regexp.QuoteMeta(q.key) + `[,:]?\s*(?:\d+  )?\s*(\([\d.s]+\)|fmt\.Printf[^\n<]+|can inline [\w.()*]+|"Name": ?"\w+")`)
	m := &model{}
	m.reply = func(r llm.Request) llm.Response {
		seen := textOf(r)
		_, seen, _ = strings.Cut(seen, "\n\n") // behind what is needed
		if got := form.FindString(seen); got != "" {
			return says("<extract>" + got + "</extract>")
		}
		if len(r.Tools) > 0 && len(r.Messages) == 1 {
			return calls("tool_output_cache_grep", "ref_id", q.ref, "pattern", q.key, "after", 1)
		}
		return says("<extract>NO RELEVANT DATA FOUND</extract>")
	}
	return m
}

func TestQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	s := newShelf()
	const room = 8000
	k := kitOf(t, policy.ToolOutput).Within(builtin.Limits{Question: room})
	count, err := token.NewCounter("pieces", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := questions(t, s, 1)
	for _, c := range []struct {
		mode  string
		model bool
		least int // answers of 30
	}{{"auto", true, 30}, {"full-chunked", true, 30}, {"read-grep", true, 30}, {"auto", false, 27}, {"truncate", false, 0}} {
		t.Run(fmt.Sprintf("R000-21_%s_model=%v", c.mode, c.model), func(t *testing.T) {
			right, asked, strategies := 0, 0, map[string]int{}
			for _, q := range all {
				var asks builtin.Model
				m := reader(q)
				if c.model {
					asks = m
				}
				a := get(t, k, s, asks, "handle", q.ref, "extract", q.text, "mode", c.mode)
				_, strategy, _ := strings.Cut(a.Text, "strategy=")
				strategies[strategy[:strings.IndexAny(strategy, ";]")]]++
				if q.fact.MatchString(a.Text) {
					right++
				} else if c.mode != "truncate" {
					t.Logf("%s: %s: want %s", q.about, q.text, q.answer)
				}
				asked += len(m.asked)
				for _, r := range m.asked {
					if n := count.Text(textOf(r)) + count.Tools(r.Tools); n > room {
						t.Errorf("want questions of %d tokens at most, got %d", room, n)
					}
				}
			}
			t.Logf("%d of %d answered, %d questions put, by %v", right, len(all), asked, strategies)
			if right < c.least {
				t.Errorf("want at least %d of %d answered, got %d", c.least, len(all), right)
			}
		})
	}
}
