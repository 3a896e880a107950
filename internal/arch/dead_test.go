package arch

import (
	"go/ast"
	gotoken "go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// planned are names of the core that no program reaches yet, each with what needs it. What they use is reached by them. Empty in the end,
// but for what is there for hosts alone.
var planned = map[string]string{
	"cache.Cache.Drop":     "for a replay of requests that name resources; tests predict with it",
	"cache.Cache.Hold":     "the same",
	"cache.Cache.Named":    "the same",
	"engine.NoLimit":       "for hosts, which write it into their targets",
	"llm.Request.Streamed": "for hosts, which ask for a stream",
}

// A graph says which functions, methods, constants, variables and types of the core use which.
type graph struct {
	core   map[types.Object]bool           // all nodes
	edges  map[types.Object][]types.Object // from what is declared to what its declaration uses
	roots  []types.Object
	loose  map[string]bool // names that hosts use and the type checker could not resolve
	ifaces []*types.Interface
}

// TestNothingDead fails on what only tests call. Reached is what a package outside of the core uses, or what something reached uses, tests
// apart; a method also where its type is reached and an interface asks for it.
func TestNothingDead(t *testing.T) {
	units := module(t)
	c := newChecker(modulePath(t), units)
	all := c.all(hosts(units))
	for _, d := range deadIn(all, planned) {
		t.Errorf("%s: %s is reached by tests alone, want it removed, or in the list of what is planned with what needs it", d.at, d.name)
	}
	without := deadIn(all, nil)
	for name := range planned {
		if !slices.ContainsFunc(without, func(d corpse) bool { return d.name == name }) {
			t.Errorf("%s is listed as planned, and is reached or gone: want it off the list", name)
		}
	}
}

// TestFindsDead feeds the rule a core and a host.
func TestFindsDead(t *testing.T) {
	const host = "package main\n\nimport (\n\t\"m/core/x\"\n\t\"example.org/strange\"\n)\n\nfunc main() { strange.Do(x.Used).Loose(); var t x.T; t.Print() }\n"
	for _, s := range []struct{ name, text, want string }{
		{"a function", "func Used() {}\nfunc Idle() {}", "x.Idle"},
		{"what a dead one uses", "func Used() {}\nfunc Idle() { used() }\nfunc used() {}", "x.Idle x.used"},
		{"what a live one uses", "func Used() { used() }\nfunc used() {}", ""},
		{"one that calls itself", "func Used() {}\nfunc idle(n int) { idle(n - 1) }", "x.idle"},
		{"a method", "func Used() {}\nfunc (T) Idle() {}", "x.T.Idle"},
		{"a method that an interface of the core asks for", "type Walker interface{ Walk() }\nfunc Used() { Walker(T(0)).Walk() }\nfunc (T) Walk() {}", ""},
		{"a method that one of the library asks for", "func Used() {}\nfunc (T) Error() string { return \"\" }", ""},
		{"a method of a generic type", "type L[E any] []E\nfunc (l L[E]) Len() int { return len(l) }\nfunc (l L[E]) Idle() {}\nfunc Used() { _ = L[int]{}.Len() }", "x.L.Idle"},
		{"a constant", "const Mode, Idle = 1, 2\nfunc Used() { _ = Mode }", "x.Idle"},
		{"the zero of a type", "type K uint8\nconst (\n\tNone K = iota\n\tOne\n)\nfunc Used() { _ = One }", ""},
		{"a table", "var table = []func(){entry}\nfunc entry() {}\nfunc Used() { _ = table }", ""},
		{"a table that nobody reads", "var table = []func(){entry}\nfunc entry() {}\nfunc Used() {}", "x.entry"},
		{"what an init does", "func init() { set() }\nfunc set() {}\nfunc Used() {}", ""},
		{"a name that only a stranger could tell of", "func Used() {}\nfunc (T) Loose() {}", ""},
	} {
		t.Run(s.name, func(t *testing.T) {
			units := map[string]*unit{}
			fset := gotoken.NewFileSet()
			for file, text := range map[string]string{"core/x/x.go": "package x\n\ntype T int\nfunc (T) Print() {}\n" + s.text + "\n", "cmd/c/c.go": host} {
				u := unitFor(units, file)
				u.fset = fset
				if err := u.add(file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			all := []*unit{units["cmd/c"], units["core/x"]}
			var got []string
			for _, d := range deadIn(newChecker("m", all).all(all), nil) {
				got = append(got, d.name)
			}
			if strings.Join(got, " ") != s.want {
				t.Errorf("want %q, got %q", s.want, got)
			}
		})
	}
}

// TestHelpersOfTestsReachNothing has a package below an internal folder, which uses the core: it counts if a shipped file imports it.
func TestHelpersOfTestsReachNothing(t *testing.T) {
	for user, want := range map[string]string{"wire/a_test.go": "x.Idle", "wire/a.go": ""} {
		units := map[string]*unit{}
		fset := gotoken.NewFileSet()
		for file, text := range map[string]string{
			"core/x/x.go":             "package x\n\nfunc Idle() {}\n",
			"wire/internal/help/h.go": "package help\n\nimport \"m/core/x\"\n\nfunc Help() { x.Idle() }\n",
			user:                      "package wire\n\nimport \"m/wire/internal/help\"\n\nfunc a() { help.Help() }\n",
		} {
			u := unitFor(units, file)
			u.fset = fset
			if err := u.add(file, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		all := hosts(slices.Collect(maps.Values(units)))
		var got []string
		for _, d := range deadIn(newChecker("m", all).all(all), nil) {
			got = append(got, d.name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("used by %s: want %q dead, got %q", user, want, got)
		}
	}
}

// hosts leaves out the internal packages that no shipped file of another package imports: they are there for tests.
func hosts(units []*unit) []*unit {
	imported := map[string]bool{}
	for _, u := range units {
		for _, use := range u.imports() {
			imported[use.path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(units), func(u *unit) bool {
		if !strings.Contains("/"+u.path, "/internal/") && u.path != "store/storetest" {
			return false
		}
		for name := range imported {
			if strings.HasSuffix(name, "/"+u.path) {
				return false
			}
		}
		return true
	})
}

// A corpse is a name that nothing reaches.
type corpse struct{ name, at string }

// deadIn returns what nothing reaches in the core packages among some. What is planned is reached.
func deadIn(all []*typed, planned map[string]string) []corpse {
	g := graph{core: map[types.Object]bool{}, edges: map[types.Object][]types.Object{}, loose: map[string]bool{}}
	for _, t := range all {
		g.interfaces(t)
		if inCore(t.unit) {
			g.declare(t)
		}
	}
	for _, t := range all {
		if inCore(t.unit) {
			g.link(t)
		} else {
			g.host(t)
		}
	}
	for obj := range g.core {
		if planned[titleOf(obj)] != "" {
			g.roots = append(g.roots, obj)
		}
	}
	reached := g.reach()
	var out []corpse
	for _, t := range all {
		for id, obj := range t.info.Defs {
			if inCore(t.unit) && g.core[obj] && judged(obj) && !reached[obj] {
				out = append(out, corpse{titleOf(obj), t.unit.at(id.Pos())})
			}
		}
	}
	slices.SortFunc(out, func(a, b corpse) int { return strings.Compare(a.at, b.at) })
	return out
}

// judged reports whether an object must be reached: a function, a method or a constant with a name. Methods of interfaces are judged by
// their types', and a constant that names the zero of its type says what nothing means.
func judged(obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Func:
		recv := obj.Signature().Recv()
		return obj.Name() != "_" && obj.Name() != "init" && (recv == nil || !types.IsInterface(recv.Type()))
	case *types.Const:
		_, own := obj.Type().(*types.Named)
		zero := own && (obj.Val().ExactString() == "0" || obj.Val().ExactString() == `""`)
		return obj.Name() != "_" && !zero
	}
	return false
}

// titleOf names an object as package.Name or package.Type.Method.
func titleOf(obj types.Object) string {
	name := obj.Name()
	if f, ok := obj.(*types.Func); ok {
		if r := receiver(f); r != nil {
			name = r.Name() + "." + name
		}
	}
	return obj.Pkg().Name() + "." + name
}

// receiver returns the type that a method belongs to; nil: a function.
func receiver(f *types.Func) *types.TypeName {
	recv := f.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// interfaces collects those that methods may be called by: what the package declares, and what it imports from the standard library.
func (g *graph) interfaces(t *typed) {
	if t.pkg == nil {
		return
	}
	add := func(scope *types.Scope) {
		for _, name := range scope.Names() {
			if n, ok := scope.Lookup(name).(*types.TypeName); ok {
				if i, ok := n.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 {
					g.ifaces = append(g.ifaces, i)
				}
			}
		}
	}
	add(t.pkg.Scope())
	for _, imported := range t.pkg.Imports() {
		if first, _, _ := strings.Cut(imported.Path(), "/"); !strings.Contains(first, ".") {
			add(imported.Scope())
		}
	}
	add(types.Universe)
}

// declare makes nodes of what a core package declares at its top, and of its methods.
func (g *graph) declare(t *typed) {
	for _, obj := range t.info.Defs {
		switch obj := obj.(type) {
		case *types.Func:
			g.core[obj] = true
		case *types.Const, *types.Var, *types.TypeName:
			if obj.Parent() == t.pkg.Scope() {
				g.core[obj] = true
			}
		}
	}
}

// link makes edges from each declaration of a core package to the nodes that it uses. An init function, and a variable without a name, is
// run or checked by itself.
func (g *graph) link(t *typed) {
	for _, s := range t.unit.shipped() {
		for _, decl := range s.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				from := t.info.Defs[d.Name]
				g.use(t, from, d)
				if d.Name.Name == "init" {
					g.roots = append(g.roots, from)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					g.linkSpec(t, spec)
				}
			}
		}
	}
}

// linkSpec is link for the names of one declaration.
func (g *graph) linkSpec(t *typed, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		g.use(t, t.info.Defs[spec.Name], spec)
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			g.use(t, t.info.Defs[name], spec)
		}
	}
}

// use makes edges to all that a piece of source uses. What a method uses its type does not.
func (g *graph) use(t *typed, from types.Object, source ast.Node) {
	ast.Inspect(source, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if obj := origin(t.info.Uses[id]); g.core[obj] && obj != from {
			g.edges[from] = append(g.edges[from], obj)
		}
		return true
	})
}

// origin returns the generic object that an instance was made of.
func origin(obj types.Object) types.Object {
	switch o := obj.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return obj
}

// host takes all that a package outside of the core uses for roots. A name that could not be resolved stands for all of that name.
func (g *graph) host(t *typed) {
	for _, s := range t.unit.shipped() {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			switch obj := origin(t.info.Uses[id]); {
			case g.core[obj]:
				g.roots = append(g.roots, obj)
			case obj == nil && t.info.Defs[id] == nil:
				g.loose[id.Name] = true
			}
			return true
		})
	}
}

// reach returns all nodes that can be got to.
func (g *graph) reach() map[types.Object]bool {
	reached := map[types.Object]bool{}
	todo := slices.Clone(g.roots)
	for obj := range g.core {
		if g.loose[obj.Name()] {
			todo = append(todo, obj)
		}
	}
	for len(todo) > 0 {
		obj := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[obj] {
			continue
		}
		reached[obj] = true
		todo = append(todo, g.edges[obj]...)
		if n, ok := obj.(*types.TypeName); ok {
			todo = append(todo, g.asked(n)...)
		}
	}
	return reached
}

// asked returns the methods of a type that some interface asks for.
func (g *graph) asked(n *types.TypeName) []types.Object {
	if types.IsInterface(n.Type()) {
		return nil
	}
	var out []types.Object
	pointer := types.NewPointer(n.Type())
	methods := types.NewMethodSet(pointer)
	for _, i := range g.ifaces {
		if !types.Implements(pointer, i) {
			continue
		}
		for m := range i.Methods() {
			if s := methods.Lookup(m.Pkg(), m.Name()); s != nil {
				out = append(out, origin(s.Obj()))
			}
		}
	}
	return out
}
