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

	"golang.org/x/tools/txtar"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// endingOf reads how the session in a file ended.
func endingOf(t *testing.T, s *sessionfile.Session) inspect.End {
	t.Helper()
	o, err := inspectFlags{top: 1}.options()
	if err != nil {
		t.Fatal(err)
	}
	report, err := inspect.Session(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return report.End
}

// sameTable holds a table between two marks of a page against what it should be.
func sameTable(t *testing.T, file, mark, table string) {
	t.Helper()
	name := filepath.Join(repo, "docs", file)
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	between := regexp.MustCompile(`(?s)(<!-- ` + mark + ` -->\n)(.*?)(<!-- end -->)`)
	found := between.FindSubmatch(page)
	if found == nil {
		t.Fatalf("%s has no table %q", file, mark)
	}
	if string(found[2]) == table {
		return
	}
	if *update {
		if err := os.WriteFile(name, []byte(strings.Replace(string(page), string(found[0]), string(found[1])+table+string(found[3]), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s has\n%s\nwant (go test ./cmd/plimsoll -update)\n%s", file, found[2], table)
}

// TestEndings: a made session of each format that can record how it ended says so, and the page
// about it is what inspect says.
func TestEndings(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "died.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	table := strings.Builder{}
	table.WriteString("| format | session | ended | `inspect` begins with |\n| --- | --- | --- | --- |\n")
	for _, file := range archive.Files {
		name := filepath.Join(t.TempDir(), file.Name)
		if err := os.WriteFile(name, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := formats.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		e := endingOf(t, s)
		if e.Failed == nil {
			t.Errorf("%s: want its failure, got %+v", file.Name, e)
			continue
		}
		title, _, _ := strings.Cut(file.Name, ".")
		title = strings.TrimPrefix(strings.TrimPrefix(title, string(s.Format)), "-")
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", s.Format, cmp.Or(strings.ReplaceAll(title, "-", " "), ended(e)), ended(e), strings.ReplaceAll(e.Text(), "|", `\|`))
	}
	sameTable(t, "endings.md", "made", table.String())
}

// ended is the end in a word, as the list of sessions has it.
func ended(e inspect.End) string {
	if e.How == inspect.EndRefused {
		return e.Failed.Class
	}
	return e.How
}

// TestEndingsOfCorpus: likewise of every session of the corpus.
func TestEndingsOfCorpus(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recorded sessions to inspect")
	}
	table := strings.Builder{}
	table.WriteString("| file | ended | `inspect` begins with |\n| --- | --- | --- |\n")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		s, err := formats.Open(path)
		if err != nil || strings.HasSuffix(string(s.Format), "-request") {
			return nil //nolint:nilerr // no session; the readers' own tests know which are
		}
		e := endingOf(t, s)
		says := e.Text()
		if e.How == inspect.EndAnswered {
			says = ""
		}
		name, err := filepath.Rel(root, path)
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", console.Shorten(filepath.ToSlash(name), 64), cmp.Or(ended(e), "no conversation"), strings.ReplaceAll(says, "|", `\|`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sameTable(t, "endings.md", "recorded", table.String())
}
