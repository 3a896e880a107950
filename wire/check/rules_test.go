package check_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// A ruleCase is a body that breaks one rule, or none.
type ruleCase struct {
	rule string
	name string
	judge
	body    string
	message string // a part of the message that users and clients go by; empty if it is our own
}

type judge func(body string) []check.Fault

func request(d llm.Dialect) judge {
	return func(body string) []check.Fault { return check.Request(d, []byte(body)) }
}

func reply(d llm.Dialect) judge {
	return func(body string) []check.Fault { return check.Response(d, []byte(body)) }
}

func stream(d llm.Dialect) judge {
	return func(body string) []check.Fault { return check.Stream(d, []byte(body)) }
}

func count(d llm.Dialect) judge {
	return func(body string) []check.Fault { return check.CountTokens(d, []byte(body)) }
}

func run(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.rule+"/"+c.name, " ", "_"), func(t *testing.T) {
			faults := c.judge(c.body)
			if len(faults) != 1 || faults[0].Rule != c.rule {
				t.Fatalf("want one fault of %s, got %+v\n%s", c.rule, faults, c.body)
			}
			if !strings.Contains(faults[0].Error(), c.message) {
				t.Errorf("message: want %q in it, got %q", c.message, faults[0].Message)
			}
		})
	}
}

func clean(t *testing.T, good map[string]ruleCase) {
	t.Helper()
	for name, c := range good {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if faults := c.judge(c.body); len(faults) != 0 {
				t.Errorf("want no fault, got %+v\n%s", faults, c.body)
			}
		})
	}
}

// documented returns the rules of the package comment.
func documented(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^//   - ([a-z-]+): `).FindAllStringSubmatch(string(text), -1) {
		rules = append(rules, m[1])
	}
	slices.Sort(rules)
	return rules
}

// The package comment lists every rule that can be broken, once, and no other; each has a body in the tables that breaks it and nothing else.
func TestRulesAreListedAndTested(t *testing.T) {
	listed := documented(t)
	if len(slices.Compact(slices.Clone(listed))) != len(listed) {
		t.Error("want each rule listed once")
	}
	tested := map[string]bool{}
	for _, table := range [][]ruleCase{messagesCases(), messagesReplyCases(), chatCases(), responsesCases(), geminiCases(), ollamaCases(), commonCases()} {
		for _, c := range table {
			tested[c.rule] = true
		}
	}
	for _, rule := range listed {
		if !tested[rule] {
			t.Errorf("%s: want a body that breaks it, got none", rule)
		}
	}
	for rule, at := range written(t) {
		if !slices.Contains(listed, rule) {
			t.Errorf("%s: %s: want the rule in the package comment", at, rule)
		}
	}
}

// written finds the rules in the sources: the string literals that look like an id and are given to what records faults.
func written(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`^"[a-z]+(-[a-z]+)*"$`)
	found := map[string]string{}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || !records(call.Fun) {
				return true
			}
			for _, arg := range call.Args[:min(2, len(call.Args))] {
				if lit, ok := arg.(*ast.BasicLit); ok && id.MatchString(lit.Value) {
					found[strings.Trim(lit.Value, `"`)] = fset.Position(lit.Pos()).String()
					break
				}
			}
			return true
		})
	}
	if len(found) < 50 {
		t.Fatalf("want the sources to name the rules, got %d of them", len(found))
	}
	return found
}

func records(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "fault" || f.Sel.Name == "add" || f.Sel.Name == "among"
	case *ast.Ident:
		return f.Name == "tooLong"
	}
	return false
}

func commonCases() []ruleCase {
	return []ruleCase{
		{rule: "dialect", name: "of no provider", judge: request("x"), body: `{}`},
		{rule: "dialect", name: "stream of no provider", judge: stream("x"), body: ``},
		{rule: "dialect", name: "without a count", judge: count("ollama"), body: `{}`},
		{rule: "json", name: "cut", judge: request("anthropic"), body: `{"model":`, message: "not valid JSON"},
		{rule: "json", name: "two values", judge: request("openai-chat"), body: `{} {}`, message: "We could not parse the JSON body of your request"},
		{rule: "json", name: "a list", judge: request("gemini"), body: `[]`, message: "Invalid JSON payload received"},
		{rule: "json", name: "not JSON", judge: reply("openai-responses"), body: `<html>`},
		{rule: "json", name: "a payload", judge: stream("anthropic"), body: "event: ping\ndata: {\n\n"},
		{rule: "json", name: "a line", judge: stream("ollama"), body: "{\n"},
	}
}

func TestCommonRules(t *testing.T) { run(t, commonCases()) }
