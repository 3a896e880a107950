package arch

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// number is an id of a requirement or the number of a law.
var number = regexp.MustCompile(`\bR00[0-9]-[0-9]+|\b[Ll]aws? [0-9]`)

// plainDocs finds ids of requirements and numbers of laws in what `go doc` shows. Whoever uses the library does not know them: the comment
// says the thing itself.
func plainDocs(u *unit) []string {
	var faults []string
	for _, s := range u.shipped() {
		for _, g := range documentation(s.ast) {
			if g == nil {
				continue
			}
			if got := number.FindString(g.Text()); got != "" {
				faults = append(faults, fmt.Sprintf("%s: documentation, want the thing itself, got the number %q", u.at(g.Pos()), got))
			}
		}
	}
	return faults
}

// documentation returns the comments of a file that `go doc` shows; some are nil.
func documentation(f *ast.File) []*ast.CommentGroup {
	out := []*ast.CommentGroup{f.Doc}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(ofReceiver(d.Recv))) {
				out = append(out, d.Doc)
			}
		case *ast.GenDecl:
			if specs := ofSpecs(d.Specs); len(specs) > 0 {
				out = append(append(out, d.Doc), specs...)
			}
		}
	}
	return out
}

// ofSpecs returns the comments on the exported names among some declarations; nil if there are none.
func ofSpecs(specs []ast.Spec) []*ast.CommentGroup {
	var out []*ast.CommentGroup
	for _, s := range specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				out = append(append(out, s.Doc, s.Comment), ofType(s.Type)...)
			}
		case *ast.ValueSpec:
			if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
				out = append(out, s.Doc, s.Comment)
			}
		}
	}
	return out
}

// ofType returns the comments on the exported fields of a struct, and on the methods of an interface.
func ofType(t ast.Expr) []*ast.CommentGroup {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	var out []*ast.CommentGroup
	for _, f := range fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			out = append(append(out, f.Doc, f.Comment), ofType(f.Type)...)
		}
	}
	return out
}

// ofReceiver names the type of a receiver.
func ofReceiver(l *ast.FieldList) string {
	t := l.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	name, _ := t.(*ast.Ident)
	return name.Name
}

// public accepts the packages that other modules can import.
func public(u *unit) bool {
	shipped := u.shipped()
	return len(shipped) > 0 && shipped[0].ast.Name.Name != "main" && !strings.Contains("/"+u.path+"/", "/internal/")
}

func TestPlainDocs(t *testing.T) { hold(t, plainDocs, public) }

func TestPlainDocsCatches(t *testing.T) {
	catch(t, plainDocs, []sample{
		{name: "plain", text: "// Package x is one.\npackage x\n\n// A is a number.\nconst A = 1\n"},
		{name: "package", text: "// Package x keeps law 1.\npackage x\n", want: `"law 1"`},
		{name: "constant", text: "package x\n\nconst A = 1 // R000-14\n", want: "R000-14"},
		{name: "constant that is not exported", text: "package x\n\nconst a = 1 // R000-14\n"},
		{name: "group", text: "package x\n\n// Of laws 1 and 2.\nconst (\n\ta = 1\n\tA = 2\n)\n", want: "laws 1"},
		{name: "field", text: "package x\n\ntype A struct {\n\tB int // R001-1\n\tc int // R001-2\n}\n", want: "R001-1"},
		{name: "method", text: "package x\n\ntype A int\n\n// B is law 3.\nfunc (a *A) B() {}\n", want: "law 3"},
		{name: "method of what is not exported", text: "package x\n\ntype a int\n\n// B is law 3.\nfunc (a a) B() {}\n"},
		{name: "interface", text: "package x\n\ntype A interface {\n\t// B is R001-2.\n\tB()\n}\n", want: "R001-2"},
		{name: "test", file: "core/x/x_test.go", text: "// Package x keeps law 1.\npackage x\n"},
		{name: "inside a function", text: "package x\n\n// A is one.\nfunc A() {\n\t_ = 1 // R001-2\n}\n"},
	})
}
