package edit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// TestKinds: a kind that is declared is one of Kinds, so that whoever lists them (a redacted page, for one) knows it.
func TestKinds(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "edit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, k := range edit.Kinds() {
		known[string(k)] = true
	}
	declared := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Kind" {
			return true
		}
		declared++
		if lit := spec.Values[0].(*ast.BasicLit); !known[strings.Trim(lit.Value, `"`)] {
			t.Errorf("%s is not one of Kinds", spec.Names[0].Name)
		}
		return true
	})
	if declared != len(known) {
		t.Errorf("%d kinds declared, %d listed", declared, len(known))
	}
}
