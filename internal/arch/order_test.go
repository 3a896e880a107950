package arch

import (
	"fmt"
	"go/ast"
	"go/types"
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
