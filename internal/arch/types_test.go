package arch

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"sort"
	"strings"
	"testing"
)

// A typed is a package of the module with what the type checker knows of its shipped files.
type typed struct {
	unit *unit
	pkg  *types.Package
	info *types.Info
}

// A checker type-checks packages of the module from what module has read. The standard library is read from its source; what other modules
// have is not: a package of theirs is empty, and what follows from it is not known. The pure core needs none of them.
type checker struct {
	path  string // of the module
	fset  *token.FileSet
	units map[string]*unit // by import path
	done  map[string]*typed
	std   types.Importer
}

func newChecker(modulePath string, units []*unit) *checker {
	c := &checker{path: modulePath, fset: token.NewFileSet(), units: map[string]*unit{}, done: map[string]*typed{}}
	if len(units) > 0 {
		c.fset = units[0].fset
	}
	c.std = importer.ForCompiler(token.NewFileSet(), "source", nil)
	for _, u := range units {
		c.units[c.importPath(u)] = u
	}
	return c
}

// importPath returns how other packages import a unit.
func (c *checker) importPath(u *unit) string {
	if u.path == rootName {
		return c.path
	}
	return c.path + "/" + u.path
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	if u, ok := c.units[name]; ok {
		return c.check(u).pkg, nil
	}
	first, _, _ := strings.Cut(name, "/")
	if !strings.Contains(first, ".") {
		return c.std.Import(name)
	}
	return stranger(name), nil
}

// stranger returns an empty package in place of one of another module. Its name is what its path ends in, but for a version.
func stranger(name string) *types.Package {
	base := path.Base(name)
	if strings.HasPrefix(base, "v") && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(name))
	}
	p := types.NewPackage(name, strings.TrimPrefix(base, "go-"))
	p.MarkComplete()
	return p
}

// check type-checks the shipped files of a unit, once. Faults are those of strangers: the compiler finds the others.
func (c *checker) check(u *unit) *typed {
	name := c.importPath(u)
	if t, ok := c.done[name]; ok {
		return t
	}
	t := &typed{unit: u, info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	c.done[name] = t
	var files []*ast.File
	for _, s := range u.shipped() {
		files = append(files, s.ast)
	}
	config := types.Config{Importer: c, Error: func(error) {}}
	t.pkg, _ = config.Check(name, u.fset, files, t.info)
	return t
}

// all type-checks units and returns them in their order.
func (c *checker) all(units []*unit) []*typed {
	sort.Slice(units, func(i, j int) bool { return units[i].path < units[j].path })
	var out []*typed
	for _, u := range units {
		if len(u.shipped()) > 0 {
			out = append(out, c.check(u))
		}
	}
	return out
}

func TestStranger(t *testing.T) {
	for name, want := range map[string]string{
		"github.com/spf13/cobra": "cobra", "charm.land/lipgloss/v2": "lipgloss", "github.com/goccy/go-yaml": "yaml",
	} {
		if got := stranger(name).Name(); got != want {
			t.Errorf("%s: name, want %s, got %s", name, want, got)
		}
	}
}
