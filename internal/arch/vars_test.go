package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
	"testing"
)

// mutators are functions that change their first argument in place.
const mutators = `
	builtin: clear copy delete
	slices: Sort SortFunc SortStableFunc Reverse Delete DeleteFunc Compact CompactFunc Insert Replace
	sort: Ints Slice SliceStable Sort Stable Strings
	maps: Copy DeleteFunc Insert
`

// variables finds package-level variables that are, or could become, state. Allowed are sentinels (ErrX = errors.New), embedded files,
// assertions (var _ I = T{}) and unexported tables that nothing in the package changes.
//
// It resolves names with the type checker, so a local variable of the same name is no fault. Imports are not loaded: what they hold does
// not matter here. A table handed to another function, or copied into another variable, is not followed.
func variables(changing map[string][]string) rule {
	return func(u *unit) []string {
		w := &varWalk{u: u, changing: changing, info: resolve(u)}
		for _, s := range u.shipped() {
			for _, d := range s.ast.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
					w.declared(g, importNames(s.ast))
				}
			}
		}
		for _, s := range u.shipped() {
			w.imports = importNames(s.ast)
			ast.Inspect(s.ast, w.visit)
		}
		return w.faults
	}
}

// resolve type-checks a package as far as its own names go.
func resolve(u *unit) *types.Info {
	info := &types.Info{
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	var files []*ast.File
	for _, s := range u.shipped() {
		files = append(files, s.ast)
	}
	conf := types.Config{Importer: emptyImporter{}, Error: func(error) {}}
	_, _ = conf.Check(u.path, u.fset, files, info) // errors are expected: imports are empty
	return info
}

// An emptyImporter knows every package and nothing of what is in it.
type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// A varWalk looks at one package.
type varWalk struct {
	u        *unit
	changing map[string][]string
	info     *types.Info
	imports  map[string]string
	faults   []string
}

func (w *varWalk) fault(n ast.Node, format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf("%s: core variable, %s", w.u.at(n.Pos()), fmt.Sprintf(format, args...)))
}

// declared judges a package-level declaration.
func (w *varWalk) declared(g *ast.GenDecl, imports map[string]string) {
	for _, s := range g.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || isAssertion(spec) || isEmbed(g.Doc) || isEmbed(spec.Doc) {
			continue
		}
		if mentions(spec, imports, "sync") {
			w.fault(spec, "want no state, got %s of package sync", spec.Names[0].Name)
			continue
		}
		for i, name := range spec.Names {
			if name.IsExported() && !isSentinel(spec, i, imports) {
				w.fault(name, "want a sentinel (ErrX = errors.New), an embedded file or an unexported table, got %s", name.Name)
			}
		}
	}
}

// isAssertion reports whether a declaration is var _ I = ....
func isAssertion(spec *ast.ValueSpec) bool {
	return len(spec.Names) == 1 && spec.Names[0].Name == "_" && spec.Type != nil
}

// isEmbed reports whether a declaration's comment is a //go:embed line.
func isEmbed(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// isSentinel reports whether the i-th name of a declaration is ErrX = errors.New(...).
func isSentinel(spec *ast.ValueSpec, i int, imports map[string]string) bool {
	if !strings.HasPrefix(spec.Names[i].Name, "Err") || i >= len(spec.Values) {
		return false
	}
	call, ok := spec.Values[i].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "New" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && imports[pkg.Name] == "errors"
}

// mentions reports whether a declaration uses a package.
func mentions(spec *ast.ValueSpec, imports map[string]string, pkg string) bool {
	found := false
	ast.Inspect(spec, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] == pkg {
				found = true
			}
		}
		return !found
	})
	return found
}

// visit looks for changes to package-level variables.
func (w *varWalk) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, left := range n.Lhs {
				w.changed(left, "assigned")
			}
		}
	case *ast.IncDecStmt:
		w.changed(n.X, "assigned")
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			w.changed(n.Key, "assigned")
			w.changed(n.Value, "assigned")
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.changed(n.X, "its address taken")
		}
	case *ast.CallExpr:
		w.call(n)
	case *ast.SelectorExpr:
		w.method(n)
	}
	return true
}

// call looks for functions that change their argument.
func (w *varWalk) call(n *ast.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	pkg, name := "builtin", ""
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		if _, ok := w.info.Uses[fun].(*types.Builtin); ok {
			name = fun.Name
		}
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			pkg, name = w.imports[x.Name], fun.Sel.Name
		}
	}
	for _, m := range w.changing[pkg] {
		if m == name {
			w.changed(n.Args[0], "changed by "+name)
		}
	}
}

// method looks for methods that take the variable's address.
func (w *varWalk) method(n *ast.SelectorExpr) {
	s := w.info.Selections[n]
	if s == nil || s.Kind() != types.MethodVal {
		return
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return
	}
	if _, byPointer := sig.Recv().Type().(*types.Pointer); byPointer {
		w.changed(n.X, "a pointer method called")
	}
}

// changed records a fault if an expression is a package-level variable or a part of one.
func (w *varWalk) changed(e ast.Expr, how string) {
	name := rootOf(e)
	if name == nil {
		return
	}
	v, ok := w.info.Uses[name].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return
	}
	w.fault(name, "want %s never changed after its declaration, got it %s", name.Name, how)
}

// rootOf finds the variable that an expression such as a[i].b or *a leads to.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func TestVariables(t *testing.T) {
	hold(t, variables(mustTable(t, mutators)), inCore)
}

func TestVariablesCatches(t *testing.T) {
	with := func(decl, body string) string {
		return "package x\n\nimport (\n\"errors\"\n\"slices\"\n\"sync\"\n)\n\n" + decl + "\n\nfunc f() {\n" + body + "\n}\n"
	}
	const table = "var table = map[string]int{\"a\": 1}"
	catch(t, variables(mustTable(t, mutators)), []sample{
		{name: "sentinel", text: with(`var ErrGone = errors.New("gone")`, "")},
		{name: "assertion", text: with("type T struct{}\n\nvar _ error = T{}", "")},
		{name: "table", text: with(table, "_ = table[\"a\"]")},
		{name: "table in a group", text: with("var (\n\ta = 1\n\tb = []int{2}\n)", "_ = a + b[0]")},
		{name: "embedded file", text: "package x\n\nimport _ \"embed\"\n\n//go:embed x.json\nvar Data []byte\n"},
		{name: "local of the same name", text: with(table, "table := map[string]int{}; table[\"b\"] = 2; delete(table, \"b\")")},
		{name: "value method", text: with("type T int\n\nfunc (T) read() {}\n\nvar one T = 1", "one.read()")},
		{name: "exported table", text: with("var Table = []int{1}", ""), want: "got Table"},
		{name: "exported error made otherwise", text: with("var ErrGone = gone{}", ""), want: "got ErrGone"},
		{name: "exported nil error", text: with("var ErrGone error", ""), want: "got ErrGone"},
		{name: "pool", text: with("var pool sync.Pool", ""), want: "package sync"},
		{name: "once", text: with("var load = sync.OnceValue(func() int { return 1 })", ""), want: "package sync"},
		{name: "assigned", text: with("var n = 1", "n = 2"), want: "got it assigned"},
		{name: "added to", text: with("var n = 1", "n += 2"), want: "got it assigned"},
		{name: "counted", text: with("var n int", "n++"), want: "got it assigned"},
		{name: "by range", text: with("var n int", "for n = range 3 {}"), want: "got it assigned"},
		{name: "indexed", text: with(table, "table[\"b\"] = 2"), want: "got it assigned"},
		{name: "field", text: with("var t = []struct{ n int }{{1}}", "t[0].n = 2"), want: "got it assigned"},
		{name: "address", text: with("var n = 1", "p := &n; _ = p"), want: "address taken"},
		{name: "deleted", text: with(table, "delete(table, \"a\")"), want: "changed by delete"},
		{name: "sorted", text: with("var l = []int{2, 1}", "slices.Sort(l)"), want: "changed by Sort"},
		{name: "pointer method", text: with("type T struct{ n int }\n\nfunc (t *T) add() { t.n++ }\n\nvar one T", "one.add()"), want: "pointer method"},
		{name: "after an import nobody knows", text: with("var n = 1", "m := errors.Unknown(n); n = m"), want: "got it assigned"},
	})
}
