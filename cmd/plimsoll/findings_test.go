package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// unread stands for a verdict that nobody has given yet.
const unread = "?"

// TestFindingsOfCorpus holds docs/findings.md, where a person has said of each finding whether it
// is true and of use, against what is printed: of each there is a verdict, and none says that it is
// false.
func TestFindingsOfCorpus(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded sessions to inspect")
	}
	page, err := os.ReadFile(filepath.Join(repo, "docs", "findings.md"))
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\| .* \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1) {
		verdicts[row[1]+" "+row[2]] = row[3]
	}
	var table strings.Builder
	table.WriteString("| file | rule | finding | read |\n| --- | --- | --- | --- |\n")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		for _, f := range findingsOf(t, path) {
			file := console.Shorten(filepath.ToSlash(name), 50)
			verdict := cmp.Or(verdicts[file+" "+f.Rule], unread)
			if verdict == unread || strings.Contains(verdict, "false") {
				t.Errorf("%s, %s: want a verdict that it is true, got %q: %s", file, f.Rule, verdict, f.Text)
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", file, f.Rule, f.Text, verdict)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sameTable(t, "findings.md", "findings", table.String())
}

// findingsOf returns what inspect says about a session, if a file is one.
func findingsOf(t *testing.T, path string) []inspect.Finding {
	t.Helper()
	s, err := formats.Open(path)
	if err != nil || strings.HasSuffix(string(s.Format), "-request") {
		return nil
	}
	o, err := inspectFlags{top: inspect.DefaultTop}.options()
	if err != nil {
		t.Fatal(err)
	}
	report, err := inspect.Session(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return advice.Of(report, replayOf(t.Context(), s, ""))
}
