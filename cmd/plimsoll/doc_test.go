package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// pages are the documents whose examples are run, seen from the module's root.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{filepath.Join(repo, "README.md"), filepath.Join(repo, "examples", "README.md")}, list...)
}

// TestDocs runs every command in the console blocks of the documents, in their order and
// in one folder for each page, and compares what is printed with what the page says.
// A line ... stands for any lines. With -update, outputs without such a line are
// rewritten.
func TestDocs(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text := read(t, page)
			dir := workFolder(t)
			out := eachBlock(text, "console", func(block string) string {
				return runBlock(t, dir, block)
			})
			if out == text {
				return
			}
			if *update {
				if err := os.WriteFile(page, []byte(out), 0o644); err != nil { //nolint:gosec // a public document
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s is not what the commands print; go test ./cmd/plimsoll -run TestDocs -update rewrites it (-page +real):\n%s", page, cmp.Diff(text, out))
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// workFolder is an empty folder but for the examples.
func workFolder(t *testing.T) string {
	t.Helper()
	examples, err := filepath.Abs(filepath.Join(repo, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eachBlock replaces the content of every fenced block of one language.
func eachBlock(text, language string, f func(block string) string) string {
	re := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	return re.ReplaceAllStringFunc(text, func(all string) string {
		return "```" + language + "\n" + f(re.FindStringSubmatch(all)[1]) + "```"
	})
}

// runBlock runs the commands of a block, the lines that begin with "$ ", and returns
// the block with what they really print.
func runBlock(t *testing.T, dir, block string) string {
	t.Helper()
	var b strings.Builder
	for part := range strings.SplitSeq("\n"+block, "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		if command == "" {
			continue
		}
		for strings.HasSuffix(command, `\`) {
			next, rest, _ := strings.Cut(want, "\n")
			command, want = command+"\n"+next, rest
		}
		want = strings.TrimSuffix(want, "\n")
		got := strings.TrimSuffix(runCommand(t, dir, command), "\n")
		if !matches(got, want) {
			if hasWildcard(want) {
				t.Errorf("$ %s\nprints\n%s\nand the page says\n%s", command, got, want)
			}
			want = got
		}
		b.WriteString("$ " + command + "\n")
		if want != "" {
			b.WriteString(want + "\n")
		}
	}
	return b.String()
}

// runCommand runs one command as a reader would, but with the program under test.
func runCommand(t *testing.T, dir, command string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the pages' commands are for sh, which is not here")
	}
	command = strings.ReplaceAll(command, "go run ./cmd/plimsoll", "plimsoll")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, _ := cmd.CombinedOutput() // an exit code is part of what some pages show
	return string(out)
}

const wildcard = "..."

func hasWildcard(text string) bool {
	return strings.HasPrefix(text, wildcard+"\n") || strings.HasSuffix(text, "\n"+wildcard) || strings.Contains(text, "\n"+wildcard+"\n") || text == wildcard
}

// matches reports whether a text is what a pattern of lines says.
func matches(got, want string) bool {
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	lines := strings.Split(want, "\n")
	for i, l := range lines {
		end := `\n`
		if i == len(lines)-1 {
			end = `\n?\z`
		}
		if l == wildcard {
			re.WriteString(`.*`)
			if i == len(lines)-1 {
				re.WriteString(`\z`)
			}
			continue
		}
		re.WriteString(regexp.QuoteMeta(l) + end)
	}
	return regexp.MustCompile(re.String()).MatchString(got)
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		ok        bool
	}{
		{"a\nb", "a\nb", true},
		{"a\nb", "a", false},
		{"a\nb\nc", "a\n...\nc", true},
		{"a\nc", "a\n...\nc", true},
		{"a\nb\nc", "...\nc", true},
		{"a\nb\nc", "a\n...", true},
		{"a\nb\nc", "b\n...", false},
		{"a\nb\nc", "...\nb", false},
		{"", "...", true},
		{"a.b", "a?b", false},
	} {
		if got := matches(tt.got, tt.want); got != tt.ok {
			t.Errorf("matches(%q, %q) = %v", tt.got, tt.want, got)
		}
	}
}

// The policy files that docs/policies.md shows are policy files.
func TestDocPolicies(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "policies.md"))
	found := 0
	for _, language := range []string{"yaml", "toml", "json"} {
		eachBlock(text, language, func(block string) string {
			found++
			if _, err := config.ParsePolicy("docs/policies."+language, []byte(block)); err != nil {
				t.Errorf("%s:\n%s\n%v", language, block, err)
			}
			return block
		})
	}
	if found < 3 {
		t.Errorf("want the three forms, found %d blocks", found)
	}
}

// docs/tools.md states what is offered, and what that costs with every request.
func TestDocTools(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "tools.md"))
	count, err := token.NewCounter("pieces", nil)
	if err != nil {
		t.Fatal(err)
	}
	says := func(names []string, row string) {
		t.Helper()
		kit, err := builtin.New(names)
		if err != nil {
			t.Fatal(err)
		}
		var offered []string
		for _, tool := range kit.Tools() {
			offered = append(offered, "`"+tool.Name+"`")
		}
		row = strings.ReplaceAll(row, "NAMES", strings.Join(offered, ", "))
		if n := count.Tools(kit.Tools()); n > 0 && !regexp.MustCompile(`(?m)`+row+fmt.Sprintf(` \| %d \|$`, n)).MatchString(text) {
			t.Errorf("the page has no row %q that ends in %d tokens", row, n)
		}
	}
	for _, name := range builtin.Names() {
		says([]string{name}, `^\| NAMES \| .*`)
	}
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		says(p.Tools, "^\\| `"+name+"` \\| NAMES")
	}
}

// docs/replay-json.md explains every field that is printed or exported.
func TestDocFields(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "replay-json.md"))
	fields := map[string]bool{}
	fieldNames(reflect.TypeFor[replay.Result](), fields)
	source := read(t, filepath.Join(repo, "replay", "export.go"))
	for _, m := range regexp.MustCompile("`json:\"([a-z_]+)").FindAllStringSubmatch(source, -1) {
		fields[m[1]] = true
	}
	if len(fields) < 60 {
		t.Errorf("found only %d fields, want those of the result, the runs and the manifest", len(fields))
	}
	for name := range fields {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not explained", name)
		}
	}
	if want := fmt.Sprintf("`schema` is %d", replay.Schema); !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// fieldNames collects the JSON names of a type and of all that it is made of.
func fieldNames(t reflect.Type, names map[string]bool) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" { // is not printed
			continue
		}
		if name != "" {
			names[name] = true
		}
		if name != "" || f.Anonymous {
			fieldNames(f.Type, names)
		}
	}
}

// The Go code in the documents is code of the runnable examples, or of the tests with SDKs.
func TestDocGo(t *testing.T) {
	var example string
	for _, pattern := range []string{"example_test.go", "example_builtin_test.go", "example_prompt_test.go", "example_toolbudget_test.go", "client/example_test.go", "transport/example_test.go", "internal/sdktest/*_test.go", "internal/frameworktest/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(repo, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: want files, got %v, %v", pattern, files, err)
		}
		for _, file := range files {
			example += squeeze(read(t, file)) + "\n"
		}
	}
	found := 0
	for _, page := range pages(t) {
		eachBlock(read(t, page), "go", func(block string) string {
			found++
			if !strings.Contains(example, squeeze(block)) {
				t.Errorf("%s: this is neither in example_test.go nor in the tests with SDKs:\n%s", page, block)
			}
			return block
		})
	}
	if found == 0 {
		t.Error("no page shows how to use the library")
	}
}

// squeeze leaves out indentation.
func squeeze(code string) string {
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Links between the documents lead somewhere.
func TestDocLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			}
		}
	}
}
