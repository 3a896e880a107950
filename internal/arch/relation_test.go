package arch

import (
	"fmt"
	"strings"
	"testing"
)

// A relation is a parsed lattice.
type relation struct {
	packages map[string]bool            // every package named
	allowed  map[string]map[string]bool // by package or group: the packages it may import
	never    []ban
}

// A ban says that `by` never reaches `of`. Both may end in /....
type ban struct{ of, by string }

// parseRelation reads the notation described at lattice. It refuses names used before they are defined and names defined twice: the first
// would allow less than it seems to, the second more.
func parseRelation(text string) (*relation, error) {
	l := &relation{packages: map[string]bool{}, allowed: map[string]map[string]bool{"NONE": {}}}
	for _, statement := range strings.Split(stripComments(text), ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if of, by, ok := strings.Cut(statement, "!<"); ok {
			if err := l.forbid(names(of), names(by)); err != nil {
				return nil, err
			}
			continue
		}
		if err := l.chain(strings.Split(statement, "<")); err != nil {
			return nil, err
		}
	}
	return l, l.check()
}

// chain adds "a < b < c".
func (l *relation) chain(lists []string) error {
	if len(lists) < 2 {
		return fmt.Errorf("lattice: %q: want a <, got none", strings.TrimSpace(lists[0]))
	}
	for i := 1; i < len(lists); i++ {
		may := map[string]bool{}
		for _, below := range names(lists[i-1]) {
			if l.allowed[below] == nil {
				return fmt.Errorf("lattice: %q: want it defined before it is used", below)
			}
			if !isGroup(below) {
				may[below] = true
			}
			for p := range l.allowed[below] {
				may[p] = true
			}
		}
		for _, above := range names(lists[i]) {
			if l.allowed[above] != nil {
				return fmt.Errorf("lattice: %q: want it defined once, got it twice", above)
			}
			l.allowed[above] = may
			if !isGroup(above) {
				l.packages[above] = true
			}
		}
	}
	return nil
}

// forbid adds "a, b !< c, d".
func (l *relation) forbid(of, by []string) error {
	if len(of) == 0 || len(by) == 0 {
		return fmt.Errorf("lattice: !<: want names on both sides, got %q and %q", of, by)
	}
	for _, o := range of {
		for _, b := range by {
			l.never = append(l.never, ban{of: o, by: b})
		}
	}
	return nil
}

// check refuses a lattice that allows what it bans, and bans on packages it does not know.
func (l *relation) check() error {
	for _, n := range l.never {
		known := false
		for p := range l.packages {
			if !covers(n.by, p) {
				continue
			}
			known = true
			for q := range l.allowed[p] {
				if covers(n.of, q) && q != p {
					return fmt.Errorf("lattice: %s !< %s: want no exception, got %s allowed for %s", n.of, n.by, q, p)
				}
			}
		}
		if !known {
			return fmt.Errorf("lattice: !< %s: want a package defined above, got none", n.by)
		}
	}
	return nil
}

// covers reports whether a pattern, a path or a path with /..., matches a package.
func covers(pattern, pkg string) bool {
	if top, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == top || strings.HasPrefix(pkg, top+"/")
	}
	return pkg == pattern
}

// isGroup reports whether a name is in capitals.
func isGroup(name string) bool { return name == strings.ToUpper(name) }

// names splits a comma-separated list.
func names(list string) []string {
	var out []string
	for _, n := range strings.Split(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// stripComments removes what follows a # on each line.
func stripComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		before, _, _ := strings.Cut(line, "#")
		b.WriteString(strings.TrimSpace(before) + "\n")
	}
	return b.String()
}

// parseTable reads lines "key: value value"; lines with the same key add up.
func parseTable(text string) (map[string][]string, error) {
	table := map[string][]string{}
	for line := range strings.Lines(stripComments(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, values, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("table: %q: want key: values", line)
		}
		table[key] = append(table[key], strings.Fields(values)...)
	}
	return table, nil
}

func mustParse(t *testing.T, text string) *relation {
	t.Helper()
	l, err := parseRelation(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustTable(t *testing.T, text string) map[string][]string {
	t.Helper()
	table, err := parseTable(text)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestRelation(t *testing.T) {
	l := mustParse(t, "NONE < a < b; a < c < G; G, b < d; # comment < e;\n b !< c;")
	for _, c := range []struct {
		by, of string
		want   bool
	}{
		{"b", "a", true},
		{"a", "b", false},
		{"c", "b", false},
		{"d", "a", true},
		{"d", "b", true},
		{"d", "c", true}, // through the group
		{"d", "G", false},
		{"b", "b", false},
	} {
		if got := l.allowed[c.by][c.of]; got != c.want {
			t.Errorf("%s may import %s: want %v, got %v", c.by, c.of, c.want, got)
		}
	}
	if l.packages["G"] || l.packages["e"] || !l.packages["d"] {
		t.Errorf("packages: want a to d, got %v", l.packages)
	}
}

func TestRelationRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"used before defined": "a < b;",
		"defined twice":       "NONE < a < b; NONE < b;",
		"no relation":         "NONE;",
		"ban that is allowed": "NONE < a < b; a !< b;",
		"ban under a folder":  "NONE < x/a < b; x/... !< b;",
		"ban on a stranger":   "NONE < a; net/http !< z;",
		"ban without a name":  "NONE < a; !< a;",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseRelation(text); err == nil {
				t.Fatalf("%q: want an error, got none", text)
			}
		})
	}
}
