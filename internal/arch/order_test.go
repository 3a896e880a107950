package arch

import (
	"fmt"
	"go/ast"
	gotoken "go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// orderMark begins, in the doc.go of a package, the list of its files, from those that know nothing of the others to those that use them.
const orderMark = "# Files"

// How much one type may have in a package that states the order of its files, so that no state and no list of methods grows without end.
const (
	mostFields  = 20
	mostMethods = 40
)

// TestFileOrder holds packages to the order of files that their doc.go states: a file uses what it or an earlier one declares, as a floor
// stands on those below. A package that states none is not judged.
func TestFileOrder(t *testing.T) {
	units := module(t)
	c := newChecker(modulePath(t), units)
	judged := 0
	for _, u := range units {
		order := statedOrder(u)
		if order == nil {
			continue
		}
		judged++
		typed := c.check(u)
		for _, fault := range slices.Concat(outOfOrder(typed, order), tooLarge(typed)) {
			t.Error(fault)
		}
	}
	if judged == 0 {
		t.Error("no package states the order of its files, want core/engine and core/meter to")
	}
}

// statedOrder returns the files that a package lists, in their order; nil: it lists none.
func statedOrder(u *unit) []string {
	for _, s := range u.shipped() {
		if filepath.Base(s.path) != "doc.go" || s.ast.Doc == nil {
			continue
		}
		_, list, ok := strings.Cut(s.ast.Doc.Text(), orderMark)
		if !ok {
			return nil
		}
		var order []string
		for line := range strings.Lines(list) {
			if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, "\t") && strings.HasSuffix(name, ".go") {
				order = append(order, name)
			}
		}
		return order
	}
	return nil
}

// outOfOrder returns the references to later files, one for each pair of files and name, and the files that are not in the list.
func outOfOrder(t *typed, order []string) []string {
	u := t.unit
	var faults []string
	for _, s := range u.shipped() {
		if base := filepath.Base(s.path); base != "doc.go" && !slices.Contains(order, base) {
			faults = append(faults, fmt.Sprintf("%s: not in the list of files in doc.go, want it where it belongs", s.path))
		}
	}
	seen := map[string]bool{}
	for id, obj := range t.info.Uses {
		if obj.Pkg() != t.pkg || !obj.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(u.fset.Position(id.Pos()).Filename), filepath.Base(u.fset.Position(obj.Pos()).Filename)
		key := from + " " + to + " " + obj.Name()
		if slices.Index(order, to) > slices.Index(order, from) && !seen[key] {
			seen[key] = true
			faults = append(faults, fmt.Sprintf("%s: %s is declared in %s, which comes later, want it in an earlier file (the order stands in doc.go)", u.at(id.Pos()), obj.Name(), to))
		}
	}
	slices.Sort(faults)
	return faults
}

// tooLarge returns the types with too many fields or methods of their own.
func tooLarge(t *typed) []string {
	var faults []string
	methods := map[*types.TypeName]int{}
	for _, s := range t.unit.shipped() {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if obj, ok := t.info.Defs[f.Name].(*types.Func); ok && receiver(obj) != nil {
					methods[receiver(obj)]++
				}
			}
		}
	}
	for _, name := range t.pkg.Scope().Names() {
		obj, ok := t.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if s, ok := obj.Type().Underlying().(*types.Struct); ok && s.NumFields() > mostFields {
			faults = append(faults, fmt.Sprintf("%s: %s has %d fields, want at most %d", t.unit.at(obj.Pos()), name, s.NumFields(), mostFields))
		}
		if n := methods[obj]; n > mostMethods {
			faults = append(faults, fmt.Sprintf("%s: %s has %d methods, want at most %d", t.unit.at(obj.Pos()), name, n, mostMethods))
		}
	}
	return faults
}

// TestFileOrderCatches feeds the rule a package that breaks it in each way.
func TestFileOrderCatches(t *testing.T) {
	methods := "type many struct{}\n"
	for i := range mostMethods + 1 {
		methods += fmt.Sprintf("func (many) m%d() {}\n", i)
	}
	fields := "type wide struct {\n"
	for i := range mostFields + 1 {
		fields += fmt.Sprintf("\tf%d int\n", i)
	}
	fields += "}\n"
	const doc = "// Package x is listed.\n//\n// # Files\n//\n//\ta.go  first\n//\tb.go  second\npackage x\n"
	for _, c := range []struct {
		name, a, b, more string
		want             []string
	}{
		{"in order", "func low() {}", "func high() { low() }", "", nil},
		{"a call that points back", "func low() { high() }", "func high() {}", "", []string{"high is declared in b.go"}},
		{"a field that points back", "type t struct{ u u }\nfunc (t t) f() int { return t.u.n }", "type u struct{ n int }", "", []string{"u is declared in b.go", "n is declared in b.go"}},
		{"a file that is not listed", "", "", "func other() {}", []string{"not in the list of files"}},
		{"too many methods", methods, "", "", []string{"many has 41 methods"}},
		{"too many fields", fields, "", "", []string{"wide has 21 fields"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			units := map[string]*unit{}
			u := unitFor(units, "core/x/x.go")
			u.fset = gotoken.NewFileSet()
			files := map[string]string{"core/x/doc.go": doc, "core/x/a.go": "package x\n" + c.a, "core/x/b.go": "package x\n" + c.b}
			if c.more != "" {
				files["core/x/c.go"] = "package x\n" + c.more
			}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if err := u.add(name, []byte(files[name])); err != nil {
					t.Fatal(err)
				}
			}
			typed := newChecker("m", []*unit{u}).check(u)
			got := slices.Concat(outOfOrder(typed, statedOrder(u)), tooLarge(typed))
			if len(got) != len(c.want) {
				t.Fatalf("want %d faults, got %q", len(c.want), got)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("want %q, got %q", want, got[i])
				}
			}
		})
	}
}
