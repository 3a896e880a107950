package arch

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// moduleRoot is where the module starts, seen from this package.
const moduleRoot = "../.."

// rootName is what the tables call the package at the module's root, whose path inside the module is empty.
const rootName = "plimsoll"

// A source is one parsed Go file.
type source struct {
	path string // inside the module, with slashes
	ast  *ast.File
	test bool // a _test.go file
	made bool // generated, by the standard "Code generated" line
	size int  // lines
}

// A unit is the Go files of one folder.
type unit struct {
	path    string // inside the module, with slashes; rootName at the root
	fset    *token.FileSet
	sources []*source
}

// at prints a position as path:line.
func (u *unit) at(pos token.Pos) string {
	p := u.fset.Position(pos)
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// shipped are the files that become part of a program: no tests.
func (u *unit) shipped() []*source {
	var out []*source
	for _, s := range u.sources {
		if !s.test {
			out = append(out, s)
		}
	}
	return out
}

// imports are the import paths of the shipped files, sorted, each with the position of its first use.
func (u *unit) imports() []use {
	seen := map[string]bool{}
	var out []use
	for _, s := range u.shipped() {
		for _, spec := range s.ast.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil || seen[p] {
				continue
			}
			seen[p] = true
			out = append(out, use{path: p, at: u.at(spec.Pos())})
		}
	}
	slices.SortFunc(out, func(a, b use) int { return strings.Compare(a.path, b.path) })
	return out
}

// A use is one import by one package.
type use struct{ path, at string }

// add parses one file into the unit. Files that are never part of a build (//go:build ignore) are left out.
func (u *unit) add(name string, text []byte) error {
	parsed, err := parser.ParseFile(u.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ignored(parsed) {
		return nil
	}
	u.sources = append(u.sources, &source{
		path: name,
		ast:  parsed,
		test: strings.HasSuffix(name, "_test.go"),
		made: ast.IsGenerated(parsed),
		size: u.fset.File(parsed.FileStart).LineCount(),
	})
	return nil
}

// ignored reports whether a file says //go:build ignore.
func ignored(f *ast.File) bool {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			return false
		}
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil && expr.String() == "ignore" {
				return true
			}
		}
	}
	return false
}

// module reads every package of the module, sorted by path. It walks the folders itself: files that a test opens belong to what `go test`
// looks at when it decides whether a result is still good, files that a child process opens do not.
func module(t *testing.T) []*unit {
	t.Helper()
	units := map[string]*unit{}
	err := filepath.WalkDir(moduleRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(name, d.Name())
		}
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		rel, err := filepath.Rel(moduleRoot, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		return unitFor(units, rel).add(rel, text)
	})
	if err != nil {
		t.Fatalf("arch: read the module: %v", err)
	}
	var out []*unit
	for _, u := range units {
		if len(u.sources) > 0 {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *unit) int { return strings.Compare(a.path, b.path) })
	return out
}

// skipFolder leaves out what the go command leaves out: hidden folders, fixtures, other modules.
func skipFolder(name, base string) error {
	if name == moduleRoot {
		return nil
	}
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// unitFor finds or makes the unit of a file.
func unitFor(units map[string]*unit, file string) *unit {
	dir := path.Dir(file)
	if dir == "." {
		dir = rootName
	}
	if units[dir] == nil {
		units[dir] = &unit{path: dir, fset: token.NewFileSet()}
	}
	return units[dir]
}

// modulePath reads the module's import path from go.mod.
func modulePath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "go.mod"))
	if err != nil {
		t.Fatalf("arch: read go.mod: %v", err)
	}
	for line := range bytes.Lines(text) {
		if name, ok := strings.CutPrefix(string(line), "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	t.Fatal("arch: read go.mod: module line, want one, got none")
	return ""
}

// snippet makes a package of one file from a test's text.
func snippet(t *testing.T, file, text string) *unit {
	t.Helper()
	units := map[string]*unit{}
	u := unitFor(units, file)
	if err := u.add(file, []byte(text)); err != nil {
		t.Fatalf("arch: parse the snippet: %v", err)
	}
	return u
}

// A rule finds the faults of one package, one line each.
type rule func(u *unit) []string

// hold applies a rule to every package of the module that the filter accepts.
func hold(t *testing.T, r rule, filter func(u *unit) bool) {
	t.Helper()
	for _, u := range module(t) {
		if !filter(u) {
			continue
		}
		for _, fault := range r(u) {
			t.Error(fault)
		}
	}
}

// everywhere accepts each package.
func everywhere(*unit) bool { return true }

// inCore accepts the pure packages.
func inCore(u *unit) bool { return strings.HasPrefix(u.path, "core/") }

// A sample is source with one known fault, or none.
type sample struct {
	name string
	file string // core/x/x.go if empty
	text string
	want string // part of the one fault to be found; empty: nothing may be found
}

// catch feeds samples to a rule.
func catch(t *testing.T, r rule, samples []sample) {
	t.Helper()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			if s.file == "" {
				s.file = "core/x/x.go"
			}
			got := r(snippet(t, s.file, s.text))
			if s.want == "" {
				if len(got) != 0 {
					t.Fatalf("want no fault, got %q", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], s.want) {
				t.Fatalf("want one fault with %q, got %q", s.want, got)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Run("finds this package", func(t *testing.T) {
		for _, u := range module(t) {
			if u.path == "internal/arch" {
				return
			}
		}
		t.Fatal("internal/arch not among the packages read")
	})
	t.Run("leaves out ignored files", func(t *testing.T) {
		if u := snippet(t, "core/x/gen.go", "//go:build ignore\n\npackage main\n"); len(u.sources) != 0 {
			t.Fatalf("want no file, got %d", len(u.sources))
		}
	})
	t.Run("keeps files of other platforms", func(t *testing.T) {
		if u := snippet(t, "core/x/x.go", "//go:build windows\n\npackage x\n"); len(u.sources) != 1 {
			t.Fatalf("want one file, got %d", len(u.sources))
		}
	})
	t.Run("counts lines", func(t *testing.T) {
		if u := snippet(t, "core/x/x.go", "package x\n\nvar a = 1\n"); u.sources[0].size != 3 {
			t.Fatalf("want 3 lines, got %d", u.sources[0].size)
		}
	})
}
