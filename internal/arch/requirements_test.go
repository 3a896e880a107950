package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// requirementsPage lists every requirement with its state.
const requirementsPage = "docs/requirements.md"

// requirementsOf is how many requirements each source document was broken down into.
const requirementsOf = "R000:29 R001:25 R002:31 R003:17 R004:16"

var (
	requirementID  = regexp.MustCompile(`R00[0-9]-[0-9]+`)
	requirementRow = regexp.MustCompile("^\\| (R00[0-9]-[0-9]+) \\| [^|]+ \\| (?:tested: `([^`]+)`|planned: ([^|`]+)) \\|$")
)

// A requirement is a row of the page.
type requirement struct {
	id     string
	tested string // the name of a test, or what several begin with; empty: planned
}

// readRequirements reads the rows of a page. Faults are one line each.
func readRequirements(page []byte) (rows []requirement, faults []string) {
	n := 0
	for line := range bytes.Lines(page) {
		n++
		text := strings.TrimSpace(string(line))
		if !strings.HasPrefix(text, "| R0") {
			continue
		}
		m := requirementRow.FindStringSubmatch(text)
		if m == nil {
			faults = append(faults, fmt.Sprintf("%s:%d: want | ID | what | tested: `NAME` or planned: AREA |, got %s", requirementsPage, n, text))
			continue
		}
		rows = append(rows, requirement{m[1], m[2]})
	}
	var want, got []string
	for _, field := range strings.Fields(requirementsOf) {
		document, count, _ := strings.Cut(field, ":")
		for i := 1; fmt.Sprint(i-1) != count; i++ {
			want = append(want, fmt.Sprintf("%s-%d", document, i))
		}
	}
	for _, r := range rows {
		got = append(got, r.id)
	}
	if len(faults) == 0 && !slices.Equal(want, got) {
		faults = append(faults, fmt.Sprintf("%s: want the ids %s to %s, each once and in order, got %q", requirementsPage, want[0], want[len(want)-1], got))
	}
	return rows, faults
}

// A testName is a name that a test or a scenario may have, and where.
type testName struct{ name, at string }

// testNames are the texts in tests that have an id of a requirement and are no message: behind an id in a message stands a colon. Packages
// that hold suites for others, and the files of scenarios, have such names too.
func testNames(units []*unit, scenarios []string) []testName {
	var out []testName
	for _, u := range units {
		for _, s := range u.sources {
			if !s.test && !strings.HasSuffix(u.path, "test") {
				continue
			}
			ast.Inspect(s.ast, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != gotoken.STRING {
					return true
				}
				if text, err := strconv.Unquote(lit.Value); err == nil && isTestName(text) {
					out = append(out, testName{text, u.at(lit.Pos())})
				}
				return true
			})
		}
	}
	for _, file := range scenarios {
		if name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)); isTestName(name) {
			out = append(out, testName{name, file})
		}
	}
	return out
}

func isTestName(text string) bool {
	if strings.ContainsAny(text, "\n%") {
		return false
	}
	found := false
	for _, at := range requirementID.FindAllStringIndex(text, -1) {
		found = found || !strings.HasPrefix(text[at[1]:], ":")
	}
	return found
}

// requirementFaults compares the page with the names of tests.
func requirementFaults(rows []requirement, names []testName) []string {
	var faults []string
	known := map[string]bool{}
	for _, r := range rows {
		known[r.id] = true
		switch {
		case r.tested == "":
		case !slices.Contains(requirementID.FindAllString(r.tested, -1), r.id):
			faults = append(faults, fmt.Sprintf("%s: %s, want a test with this id in its name, got %s", requirementsPage, r.id, r.tested))
		case !slices.ContainsFunc(names, func(n testName) bool { return strings.HasPrefix(n.name, r.tested) }):
			faults = append(faults, fmt.Sprintf("%s: %s, want the name of a test, or what names begin with, got %s, which none has", requirementsPage, r.id, r.tested))
		}
	}
	for _, n := range names {
		for _, id := range requirementID.FindAllString(n.name, -1) {
			if !known[id] {
				faults = append(faults, fmt.Sprintf("%s: %s in the name %q: want an id of %s", n.at, id, n.name, requirementsPage))
			}
		}
	}
	return faults
}

// TestRequirements holds the page of requirements to the tests, and the other way round.
func TestRequirements(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleRoot, filepath.FromSlash(requirementsPage)))
	if err != nil {
		t.Fatal(err)
	}
	rows, faults := readRequirements(page)
	for _, f := range append(faults, requirementFaults(rows, testNames(module(t), scenarioFiles(t)))...) {
		t.Error(f)
	}
}

// scenarioFiles are the files below all testdata folders of the module.
func scenarioFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(moduleRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" {
				return nil
			}
			return skipFolder(name, d.Name())
		}
		if strings.Contains(filepath.ToSlash(name), "/testdata/") {
			out = append(out, filepath.ToSlash(strings.TrimPrefix(name, moduleRoot+string(filepath.Separator))))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRequirementsCatches(t *testing.T) {
	names := []testName{{"R000-1_counts", "a_test.go:1"}, {"suite/R000-2 R000-3", "b_test.go:2"}}
	for _, s := range []struct {
		name string
		rows []requirement
		want string // part of the one fault; empty: none
	}{
		{"all is well", []requirement{{"R000-1", "R000-1_counts"}, {"R000-2", "suite/R000-2"}, {"R000-3", ""}}, ""},
		{"no such test", []requirement{{"R000-1", "R000-1_sums"}, {"R000-2", ""}, {"R000-3", ""}}, "R000-1_sums, which none has"},
		{"a test of something else", []requirement{{"R000-1", "suite/R000-2"}, {"R000-2", ""}, {"R000-3", ""}}, "want a test with this id"},
		{"an id that nobody knows", []requirement{{"R000-1", ""}, {"R000-2", ""}}, `b_test.go:2: R000-3 in the name`},
	} {
		t.Run(s.name, func(t *testing.T) {
			got := requirementFaults(s.rows, names)
			if s.want == "" && len(got) > 0 || s.want != "" && (len(got) != 1 || !strings.Contains(got[0], s.want)) {
				t.Errorf("want %q, got %q", s.want, got)
			}
		})
	}
	for text, want := range map[string]bool{"R000-1_a": true, "law 2: R000-1": true, "R000-1: want %d": false, "R000-1: want it": false, "got %d of R000-1": false, "nothing": false} {
		if got := isTestName(text); got != want {
			t.Errorf("%q is a name: want %v, got %v", text, want, got)
		}
	}
	if _, faults := readRequirements([]byte("| R000-1 | what | tested |\n")); len(faults) != 1 || !strings.Contains(faults[0], "requirements.md:1") {
		t.Errorf("a row without a state: got %q", faults)
	}
	if _, faults := readRequirements([]byte("| R000-1 | what | planned: loop |\n")); len(faults) != 1 || !strings.Contains(faults[0], "R004-16") {
		t.Errorf("a page of one row: got %q", faults)
	}
}
