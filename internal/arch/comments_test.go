package arch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pageName = regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z0-9]\.md\b`)
	chapter  = regexp.MustCompile(`§|\bresearch/`)
)

// foreignPages are files that other programs write or read; a comment may tell of them.
const foreignPages = "AGENTS.md CLAUDE.md GEMINI.md .aider.chat.history.md INDEX.md"

// pointsInside finds comments that send their reader to something that is not in the repository: to a page that is not there, or to a chapter
// of one. A page is named by its path in the module, or from the package's folder.
func pointsInside(exists func(page string) bool) rule {
	return func(u *unit) []string {
		var faults []string
		for _, s := range u.sources {
			for _, g := range s.ast.Comments {
				for _, c := range g.List {
					for _, page := range pageName.FindAllString(c.Text, -1) {
						if !slices.Contains(strings.Fields(foreignPages), page) && !exists(page) && !exists(path.Join(u.path, page)) {
							faults = append(faults, fmt.Sprintf("%s: comment, want a page of this repository, got %s", u.at(c.Pos()), page))
						}
					}
					if at := chapter.FindString(c.Text); at != "" {
						faults = append(faults, fmt.Sprintf("%s: comment, want no paper from outside this repository, got %q", u.at(c.Pos()), at))
					}
				}
			}
		}
		return faults
	}
}

// inModule reports whether a page is in the module.
func inModule(page string) bool {
	_, err := os.Stat(filepath.Join(moduleRoot, filepath.FromSlash(page)))
	return err == nil
}

func TestCommentsPointInside(t *testing.T) { hold(t, pointsInside(inModule), everywhere) }

func TestCommentsPointInsideCatches(t *testing.T) {
	catch(t, pointsInside(func(page string) bool { return page == "docs/here.md" }), []sample{
		{name: "here", text: "package x\n\n// A is as docs/here.md says.\nconst A = 1\n"},
		{name: "gone", text: "package x\n\n// A is as docs/gone.md says.\nconst A = 1\n", want: "got docs/gone.md"},
		{name: "in a test", file: "core/x/x_test.go", text: "package x\n\nfunc f() {\n\t_ = 1 // gone.md\n}\n", want: "got gone.md"},
		{name: "another program's", text: "package x\n\n// A marks AGENTS.md.\nconst A = 1\n"},
		{name: "a chapter", text: "package x\n\n// A is of §3.\nconst A = 1\n", want: `got "§"`},
		{name: "a folder", text: "package x\n\n// A is of research/proxy.\nconst A = 1\n", want: `got "research/"`},
	})
}
