package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbidden are names that the core's part of the standard library offers, but that bring in what a pure package does without. The text
// after the colon says what.
const forbidden = `
	fmt.Print fmt.Printf fmt.Println: output
	fmt.Scan fmt.Scanf fmt.Scanln: input
	iter.Pull iter.Pull2: a coroutine
	sync.WaitGroup: goroutines
	strconv.ParseFloat strconv.FormatFloat strconv.AppendFloat: a float
	strconv.ParseComplex strconv.FormatComplex: a float
`

// impure finds what has no place in a pure package: concurrency, floats, init functions, output, and JSON without a shape.
func impure(banned map[string]string) rule {
	return func(u *unit) []string {
		var faults []string
		for _, s := range u.shipped() {
			w := &pureWalk{u: u, banned: banned, imports: importNames(s.ast)}
			ast.Inspect(s.ast, w.visit)
			faults = append(faults, w.faults...)
		}
		return faults
	}
}

// A pureWalk looks at one file.
type pureWalk struct {
	u       *unit
	banned  map[string]string // "fmt.Print" → what it brings in
	imports map[string]string // local name → import path
	faults  []string
}

func (w *pureWalk) fault(n ast.Node, what string) {
	w.faults = append(w.faults, fmt.Sprintf("%s: core, want pure code, got %s", w.u.at(n.Pos()), what))
}

func (w *pureWalk) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		w.fault(n, "a go statement")
	case *ast.SelectStmt:
		w.fault(n, "a select statement")
		return false
	case *ast.SendStmt:
		w.fault(n, "a channel send")
	case *ast.ChanType:
		w.fault(n, "a channel type")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			w.fault(n, "a channel receive")
		}
	case *ast.BasicLit:
		if n.Kind == token.FLOAT || n.Kind == token.IMAG {
			w.fault(n, "the float "+n.Value)
		}
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			w.fault(n, "an init function")
		}
	case *ast.MapType:
		if isAny(n.Value) {
			w.fault(n, "a map of any")
		}
	case *ast.StructType:
		w.fields(n)
	case *ast.SelectorExpr:
		return w.selector(n)
	case *ast.Ident:
		w.ident(n)
	}
	return true
}

// ident looks at a name that stands alone.
func (w *pureWalk) ident(n *ast.Ident) {
	switch n.Name {
	case "float32", "float64", "complex64", "complex128":
		w.fault(n, "the type "+n.Name)
	case "print", "println":
		w.fault(n, n.Name)
	}
}

// selector looks at x.y. It returns whether to look at x as well: a package name needs no further look.
func (w *pureWalk) selector(n *ast.SelectorExpr) bool {
	if n.Sel.Name == "Float64" || n.Sel.Name == "Float32" {
		w.fault(n, "a float from "+n.Sel.Name)
	}
	x, ok := n.X.(*ast.Ident)
	if !ok {
		ast.Inspect(n.X, w.visit)
		return false
	}
	name := w.imports[x.Name] + "." + n.Sel.Name
	if what, ok := w.banned[name]; ok {
		w.fault(n, what+" from "+name)
	}
	return false
}

// fields looks for fields of no particular type in the conversation's own package, where all data has a shape.
func (w *pureWalk) fields(n *ast.StructType) {
	if w.u.path != "core/llm" {
		return
	}
	for _, f := range n.Fields.List {
		ast.Inspect(f.Type, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.MapType:
				return !isAny(n.Value) // found as a map of any
			case *ast.StructType:
				return false // has its own turn
			case ast.Expr:
				if isAny(n) {
					w.fault(n, "a field of type any")
					return false
				}
			}
			return true
		})
	}
}

// isAny reports whether a type expression is any or interface{}.
func isAny(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "any"
	case *ast.InterfaceType:
		return len(e.Methods.List) == 0
	}
	return false
}

// importNames maps the names by which a file knows its imports to their paths.
func importNames(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = p
	}
	return out
}

// bannedNames turns the table around: from name to reason.
func bannedNames(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(forbidden) {
		list, what, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		for _, name := range strings.Fields(list) {
			out[name] = what
		}
	}
	return out
}

func TestPure(t *testing.T) {
	hold(t, impure(bannedNames(t)), inCore)
	t.Run("R003-13_what_budgets_are_made_of", func(t *testing.T) {
		hold(t, impure(bannedNames(t)), func(u *unit) bool { return slices.Contains([]string{"core/budget", "core/turn", "core/token"}, u.path) })
	})
}

func TestPureCatches(t *testing.T) {
	body := func(code string) string { return "package x\n\nfunc f() {\n" + code + "\n}\n" }
	catch(t, impure(bannedNames(t)), []sample{
		{name: "go statement", text: body("go f()"), want: "a go statement"},
		{name: "select", text: body("select {}"), want: "a select"},
		{name: "channel type", text: "package x\n\nfunc f(c chan<- int) {}\n", want: "a channel type"},
		{name: "send", text: body("c <- 1"), want: "a channel send"},
		{name: "receive", text: body("_ = <-c"), want: "a channel receive"},
		{name: "float literal", text: body("_ = 0.75"), want: "the float 0.75"},
		{name: "exponent literal", text: body("_ = 1e6"), want: "the float 1e6"},
		{name: "imaginary literal", text: body("_ = 2i"), want: "the float 2i"},
		{name: "float type", text: "package x\n\ntype t struct{ ratio float64 }\n", want: "the type float64"},
		{name: "float conversion", text: body("_ = float32(2)"), want: "the type float32"},
		{name: "float parsed", text: "package x\n\nimport \"strconv\"\n\nvar _, _ = strconv.ParseFloat(\"1\", 64)\n", want: "a float from strconv.ParseFloat"},
		{name: "float under another name", text: "package x\n\nimport s \"strconv\"\n\nvar _, _ = s.ParseFloat(\"1\", 64)\n", want: "a float from strconv.ParseFloat"},
		{name: "float of a JSON number", text: body("_, _ = n().Float64()"), want: "a float from Float64"},
		{name: "init", text: "package x\n\nfunc init() {}\n", want: "an init function"},
		{name: "output", text: "package x\n\nimport \"fmt\"\n\nfunc f() { fmt.Println() }\n", want: "output from fmt.Println"},
		{name: "builtin output", text: body("println()"), want: "println"},
		{name: "coroutine", text: "package x\n\nimport \"iter\"\n\nvar _ = iter.Pull[int]\n", want: "a coroutine"},
		{name: "map of any", text: "package x\n\nfunc f(m map[string]any) {}\n", want: "a map of any"},
		{name: "map of interface", text: "package x\n\nfunc f(m map[string]interface{}) {}\n", want: "a map of any"},
		{name: "any in llm", file: "core/llm/x.go", text: "package llm\n\ntype T struct{ A []any }\n", want: "a field of type any"},
		{name: "any in a nested struct", file: "core/llm/x.go", text: "package llm\n\ntype T struct{ A struct{ B any } }\n", want: "a field of type any"},
		{name: "map of any in llm", file: "core/llm/x.go", text: "package llm\n\ntype T struct{ A map[string]any }\n", want: "a map of any"},
		{name: "any elsewhere", text: "package x\n\ntype T struct{ A any }\n"},
		{name: "type parameter in llm", file: "core/llm/x.go", text: "package llm\n\nfunc f[T any](t T) {}\n"},
		{name: "method init", text: "package x\n\ntype T struct{}\n\nfunc (T) init() {}\n"},
		{name: "formatting is no output", text: "package x\n\nimport \"fmt\"\n\nfunc f() string { return fmt.Sprint(1/3) }\n"},
		{name: "tests may", file: "core/x/x_test.go", text: body("go f()")},
	})
}
