package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// How large DESIGN.md may get, so that it is read to its end, in any terminal.
const (
	designPage     = "DESIGN.md"
	maxDesignBytes = 30_000
	maxDesignLine  = 140 // characters
	plannedHeading = "## 13. Planned"
)

var (
	fence     = regexp.MustCompile("(?ms)^```.*?^```$")
	quoted    = regexp.MustCompile("`([^`]+)`")
	qualified = regexp.MustCompile(`^([a-z][a-z0-9]*)\.[A-Z]\w*(?:\.[A-Z]\w*)?$`)
	pathLike  = regexp.MustCompile(`^[a-z][\w-]*(?:/[\w.-]+)+/?$`)
	fileName  = regexp.MustCompile(`^[\w-]+\.(?:md|go)$`)
)

// A claims says which names of a page can be looked up, and which of them exist.
type claims struct {
	packages map[string]bool // of the lattice, by path: what there may be
	declared map[string]bool // exported names as pkg.Name and pkg.Type.Member, and the names of packages
	exists   func(path string) bool
}

// check reports whether a name in back quotes is one that can be looked up, and whether it exists.
func (c claims) check(name string) (known, exists bool) {
	name, _, _ = strings.Cut(strings.Join(strings.Fields(name), " "), "(")
	if m := qualified.FindStringSubmatch(name); m != nil && c.declared[m[1]] {
		return true, c.declared[name]
	}
	first, _, deep := strings.Cut(name, "/")
	switch {
	case c.packages[strings.TrimSuffix(name, "/")], fileName.MatchString(name):
		return true, c.exists(name)
	case deep && pathLike.MatchString(name) && (c.packages[first] || c.exists(first) || c.below(first)) && !strings.Contains(name, "NAME"):
		return true, c.exists(name)
	}
	return false, false
}

// below reports whether the lattice has something below a folder.
func (c claims) below(folder string) bool {
	for p := range c.packages {
		if strings.HasPrefix(p, folder+"/") {
			return true
		}
	}
	return false
}

// faults returns what a text names in back quotes and is not there; or is there, if it is planned.
func (c claims) faults(page, text string, planned bool) []string {
	var faults []string
	for _, m := range quoted.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		switch known, exists := c.check(m[1]); {
		case known && !exists && !planned:
			faults = append(faults, fmt.Sprintf("%s: %s, want a name that exists, or that it stands under what is planned", page, m[1]))
		case known && exists && planned:
			faults = append(faults, fmt.Sprintf("%s: %s stands under what is planned, and exists", page, m[1]))
		}
	}
	return faults
}

// sizes returns what of a page is too long.
func sizes(page string, text []byte) []string {
	var faults []string
	if len(text) > maxDesignBytes {
		faults = append(faults, fmt.Sprintf("%s: want at most %d bytes, got %d: move detail to where a reader looks for it", page, maxDesignBytes, len(text)))
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if chars := utf8.RuneCount(bytes.TrimRight(line, "\n")); chars > maxDesignLine {
			faults = append(faults, fmt.Sprintf("%s:%d: want at most %d characters, got %d", page, n, maxDesignLine, chars))
		}
	}
	return faults
}

// declaredIn returns the exported names of packages.
func declaredIn(units []*unit) map[string]bool {
	out := map[string]bool{}
	for _, u := range units {
		for _, s := range u.shipped() {
			pkg := s.ast.Name.Name
			out[pkg] = true
			for _, d := range s.ast.Decls {
				for _, name := range namesOf(d) {
					out[pkg+"."+name] = true
				}
			}
		}
	}
	return out
}

// namesOf returns what a declaration declares: names, methods and fields as Type.Member.
func namesOf(d ast.Decl) []string {
	var out []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{ofReceiver(d.Recv) + "." + d.Name.Name}
		}
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out = append(out, n.Name)
				}
			case *ast.TypeSpec:
				out = append(out, s.Name.Name)
				for _, m := range membersOf(s.Type) {
					out = append(out, s.Name.Name+"."+m)
				}
			}
		}
	}
	return out
}

// membersOf returns the fields of a struct, or the methods of an interface.
func membersOf(t ast.Expr) []string {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	var out []string
	for _, f := range fields.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// pageClaims makes the claims that a page of this module is held to.
func pageClaims(t *testing.T, units []*unit) claims {
	t.Helper()
	c := claims{packages: map[string]bool{}, declared: declaredIn(units)}
	for p := range mustParse(t, lattice).packages {
		c.packages[p] = p != rootName
	}
	c.exists = func(name string) bool {
		_, err := os.Stat(filepath.Join(moduleRoot, filepath.FromSlash(name)))
		return err == nil
	}
	return c
}

func readPage(t *testing.T, page string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, page))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDesign holds DESIGN.md to its size and to the code: what it names exists, what it plans does not, and no package is missing.
func TestDesign(t *testing.T) {
	text, units := readPage(t, designPage), module(t)
	is, planned, ok := strings.Cut(string(text), plannedHeading)
	if !ok {
		t.Fatalf("%s: want the heading %q", designPage, plannedHeading)
	}
	c := pageClaims(t, units)
	faults := append(sizes(designPage, text), c.faults(designPage, is, false)...)
	faults = append(faults, c.faults(designPage, planned, true)...)
	for _, u := range units {
		if name := floor(u.path); len(u.sources) > 0 && !strings.Contains(is, name) {
			faults = append(faults, fmt.Sprintf("%s: want a line about %s, got none", designPage, name))
		}
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// TestContributing holds the map of CONTRIBUTING.md to the folders.
func TestContributing(t *testing.T) {
	const page = "CONTRIBUTING.md"
	text, units := string(readPage(t, page)), module(t)
	faults := pageClaims(t, units).faults(page, text, false)
	for _, u := range units {
		name := floor(u.path)
		if first, _, deep := strings.Cut(name, "/"); deep && first != "internal" && first != "cmd" && first != "examples" {
			name = first
		}
		if name != rootName && !strings.Contains(text, "`"+name+"/`") {
			faults = append(faults, fmt.Sprintf("%s: want the folder %s/ in the map, got none", page, name))
		}
	}
	for _, f := range faults {
		t.Error(f)
	}
}

func TestDesignCatches(t *testing.T) {
	units := []*unit{
		snippet(t, "core/x/x.go", "package x\n\ntype T struct{ A int }\n\nfunc (t *T) B() {}\n\nconst C = 1\n\ntype I interface{ D() }\n"),
	}
	files := map[string]bool{"core": true, "core/x": true, "core/x/x.go": true, "here.md": true}
	c := claims{
		packages: map[string]bool{"core/x": true, "core/later": true, "later": true, "agent/loop": true},
		declared: declaredIn(units),
		exists:   func(name string) bool { return files[path.Clean(name)] },
	}
	for name, want := range map[string]struct{ known, exists bool }{
		"x.T": {true, true}, "x.T.A": {true, true}, "x.T.B": {true, true}, "x.T.B(1)": {true, true}, "x.C": {true, true}, "x.I.D": {true, true},
		"x.Gone": {true, false}, "x.T.Gone": {true, false}, "core/x": {true, true}, "core/x/": {true, true}, "core/x/x.go": {true, true},
		"core/gone": {true, false}, "core/later": {true, false}, "later": {true, false}, "agent/loop": {true, false}, "here.md": {true, true}, "gone.md": {true, false},
		"io.Reader": {}, "chars/4": {}, "balanced": {}, "order: reference": {}, "plimsoll.yaml": {}, "T.A": {},
	} {
		if known, exists := c.check(name); known != want.known || exists != want.exists {
			t.Errorf("%s: known and exists, want %v, got %v %v", name, want, known, exists)
		}
	}
	text := "`x.T` and `x.Gone`, `core/\nlater`\n```\n`x.Fenced`\n```\n"
	if got := c.faults("p", text, false); len(got) != 1 || !strings.Contains(got[0], "x.Gone") {
		t.Errorf("what is named: want one fault about x.Gone, got %q", got)
	}
	if got := c.faults("p", text, true); len(got) != 1 || !strings.Contains(got[0], "x.T ") {
		t.Errorf("what is planned: want one fault about x.T, got %q", got)
	}
	long := strings.Repeat("é", maxDesignLine)
	if got := sizes("p", []byte(long+"\n"+long+"é\n")); len(got) != 1 || !strings.Contains(got[0], "p:2:") {
		t.Errorf("a long line: want one fault on line 2, got %q", got)
	}
	if got := sizes("p", bytes.Repeat([]byte("\n"), maxDesignBytes+1)); len(got) != 1 || !strings.Contains(got[0], "30001") {
		t.Errorf("a long page: want one fault, got %q", got)
	}
}
