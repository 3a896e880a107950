package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// want is the policy that the three files testdata/same.* state.
func want() policy.Policy {
	p := policy.Default()
	p.Name, p.About = "slow-shell", "Cuts shell outputs and batches late."
	p.Window = policy.WindowRule{Buffer: 4000, Output: 16384, ReserveOutput: true}
	p.Estimator, p.ToolsPermille, p.LowWater = "max(model,chars/4)", 2090, 400
	p.MinimumGain = policy.Gain{Tokens: 60, Permille: 150}
	p.Tail = policy.Tail{Unit: "rounds", N: 3}
	p.Pins = []string{"first_human", "rules"}
	p.Rules = []policy.Rule{
		{Name: "cut", At: "tool", Do: "cap", Args: policy.Args{Template: "cap", Bytes: 51200}},
		{
			Name: "batch", At: "prepare", Do: "demote", Args: policy.Args{Permille: 150},
			When: policy.Condition{Measure: "view", Op: ">=", Permille: 925, Of: "limit"},
		},
		{
			Name: "huge", At: "usage", Do: "summarise", When: policy.Condition{Measure: "usage", Op: ">", Value: 128000},
			Args: policy.Args{Template: "summary", Keep: policy.Tail{Unit: "turns", N: 1}, MaxTokens: 2000},
		},
		{
			Name: "outputs", At: "prepare", Do: "trim", Args: policy.Args{Template: "trim"}, Forced: true,
			When: policy.Condition{Measure: "outputs", Op: ">", Permille: 250, Of: "capacity", Min: 20000, Max: 1000000},
		},
	}
	p.Templates = map[string]string{
		"cap": "\n[cut; whole: ref={ref}]\n", "trim": "[gone: ref={ref}]",
		"drop": "[{n} gone: ref={ref}]", "summary": "[{n} summarised: ref={ref}]",
	}
	p.OnUnknownWindow = policy.UnknownWindow{Action: "default", Value: 128000, Warn: true}
	return p
}

func TestFormatsAgree(t *testing.T) {
	for _, file := range []string{"same.yaml", "same.toml", "same.json"} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", file)
			got, err := config.LoadPolicy(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want()) {
				t.Errorf("policy:\n got %s\nwant %s", got.JSON(), want().JSON())
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"policy", "policy.conf"} {
				again, err := config.ParsePolicy(name, append([]byte("\xef\xbb\xbf"), data...))
				if err != nil || !reflect.DeepEqual(again, got) {
					t.Errorf("by its content, named %s: %v", name, err)
				}
			}
		})
	}
}

// Every preset can be written down, read as a file of its own, and extended
// without a change.
func TestPresetsAsFiles(t *testing.T) {
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			preset, err := policy.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := config.ParsePolicy("p.json", preset.JSON())
			if err != nil || string(got.JSON()) != string(preset.JSON()) {
				t.Errorf("written and read: %v\n got %s\nwant %s", err, got.JSON(), preset.JSON())
			}
			got, err = config.ParsePolicy("p.toml", []byte(`extends = "`+name+`"`))
			if err != nil {
				t.Fatal(err)
			}
			preset.Name, preset.About = name+"-custom", "A policy derived from "+name+"."
			if string(got.JSON()) != string(preset.JSON()) {
				t.Errorf("extended:\n got %s\nwant %s", got.JSON(), preset.JSON())
			}
		})
	}
}

func TestExtends(t *testing.T) {
	const file = `
extends: balanced
name: later
low_water: 0.5
tail: {n: 5}
pins: [rules]
without: [repeated-lines, write-summary]
rules:
  - name: batch
    when: {permille: 95%}
  - name: tell
    at: prepare
    when: {measure: view, op: ">", permille: 800, of: limit}
    do: note
    args: {template: status}
templates:
  status: "{used} percent used"
`
	got, err := config.ParsePolicy("later.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	p.Name, p.LowWater, p.Tail.N, p.Pins = "later", 500, 5, []string{"rules"}
	p.About = "A policy derived from balanced."
	p.Rules = slices.DeleteFunc(p.Rules, func(r policy.Rule) bool { return r.Name == "repeated-lines" || r.Name == "write-summary" })
	for i, r := range p.Rules {
		if r.Name == "batch" {
			p.Rules[i].When.Permille = 950
		}
	}
	p.Rules = append(p.Rules, policy.Rule{
		Name: "tell", At: "prepare", Do: "note", Args: policy.Args{Template: "status"},
		When: policy.Condition{Measure: "view", Op: ">", Permille: 800, Of: "limit"},
	})
	p.Templates["status"] = "{used} percent used"
	if string(got.JSON()) != string(p.JSON()) {
		t.Errorf("policy:\n got %s\nwant %s", got.JSON(), p.JSON())
	}
}

// What a policy says of itself is its own, never its parent's.
func TestExtendsAbout(t *testing.T) {
	for file, want := range map[string]string{
		"extends: layered\n": "A policy derived from layered.",
		"extends: layered\nname: mine\nwithout: [tell-model]\n":         "A policy derived from layered.",
		"extends: layered\nabout: Says nothing to the model.\n":         "Says nothing to the model.",
		"about: \"\"\nextends: layered\nrules:\n- {name: tell-model}\n": "",
	} {
		p, err := config.ParsePolicy("p.yaml", []byte(file))
		if err != nil || p.About != want {
			t.Errorf("%q: about, want %q, got %q (%v)", file, want, p.About, err)
		}
	}
}

// TestExtendsTheQuestion: a policy that extends a preset asks as that one does, but for
// what it states, in its own words for the keys or in those of the document.
func TestExtendsTheQuestion(t *testing.T) {
	parent, err := policy.Preset("cache-compact")
	if err != nil {
		t.Fatal(err)
	}
	type question struct {
		summary, retain string
		demands, keep   []string
	}
	for name, c := range map[string]struct {
		file, text string
		want       question
	}{
		"R001-11_all_of_it": {"p.yaml", "extends: cache-compact\nname: mine\nlow_water: 30%\n", question{summary: parent.SummaryPrompt, retain: parent.RetainPrompt}},
		"R001-11_no_retain": {"p.yaml", "extends: cache-compact\nretain_prompt: null\n", question{summary: parent.SummaryPrompt}},
		"R001-18_directives": {
			"p.toml", "extends = 'cache-compact'\nsummary_directives = ['name every owner']\nretain_directives = ['tickets', 'hosts']\n",
			question{parent.SummaryPrompt, parent.RetainPrompt, []string{"name every owner"}, []string{"tickets", "hosts"}},
		},
		"R001-11_the_keys_of_the_document": {
			"p.json", `{"extends": "cache-compact", "summaryPrompt": "Say it.", "summaryDirectives": ["a"], "retainPrompt": "Keep it.", "retainDirectives": ["b"]}`,
			question{"Say it.", "Keep it.", []string{"a"}, []string{"b"}},
		},
		"R001-11_null_of_the_document": {"p.json", `{"extends": "cache-compact", "retainPrompt": null}`, question{summary: parent.SummaryPrompt}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := config.ParsePolicy(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got := question{p.SummaryPrompt, p.RetainPrompt, p.SummaryDirectives, p.RetainDirectives}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"YAML syntax", "p.yaml", "name: x\nrules: [1\n", "p.yaml:2:8: YAML: sequence end token ']' not found"},
		{"TOML syntax", "p.toml", "name = \"x\"\nlow_water = \n", "p.toml:2:13: TOML: "},
		{"JSON syntax", "p.json", "{\n \"name\": }", "p.json:2:10: JSON: invalid character"},
		{"YAML field", "p.yaml", "name: x\nlow_watr: 400\n", "p.yaml:2:1: low_watr: unknown field, want one of version,"},
		{"TOML field", "p.toml", "name = \"x\"\n[[rules]]\nname = \"a\"\nwhne = {}\n", `p.toml:4:1: rules[0].whne: unknown field, want one of name, at, when, do, args, forced, got "whne" (did you mean "when"?)`},
		{"JSON field", "p.json", "{\"name\": \"x\",\n  \"Tail\": 1}", "p.json:2:3: Tail: unknown field"},
		{"YAML fault", "p.yaml", "name: x\nrules:\n- name: a\n  at: prepare\n  do: notes\n", `p.yaml:5:3: rules[0].do (rule "a"): unknown action`},
		{"TOML fault", "p.toml", "name = \"x\"\norder = \"arrivl\"\n", `p.toml:2:1: order: unknown order, want one of arrival, use, reference, got "arrivl" (did you mean "arrival"?)`},
		{"YAML twice", "p.yaml", "name: x\nname: y\n", `p.yaml:2:1: YAML: mapping key "name" already defined`},
		{"TOML twice", "p.toml", "name = 'x'\nname = 'y'\n", "p.toml:2:1: TOML: "},
		{"JSON twice", "p.json", "{\"name\": \"x\", \"name\": \"y\"}", "p.json:1:15: JSON: name name stated before"},
		{"key of a document twice", "p.yaml", "extends: layered\nsummary_prompt: x\nsummaryPrompt: y\n", "p.yaml:3:1: summaryPrompt: stated as summary_prompt, too, want it once"},
		{"fault of a document's key", "p.yaml", "extends: layered\nsummaryPrompt: ''\n", `p.yaml:2:1: summary_prompt: empty text, want what the summariser is told, got ""`},
		{"missing name", "p.yaml", "order: arrival\n", "p.yaml:1:1: name: no name"},
		{"empty", "p.yaml", "# nothing\n", "p.yaml: name: no name"},
		{"list", "p.yaml", "- 1\n", "p.yaml:1:1: want the fields of a policy, got a list"},
		{"alias", "p.yaml", "name: &a x\nabout: *a\n", "p.yaml:1:1: YAML: want a plain value, got Anchor"},
		{"tag", "p.yaml", "name: x\nlow_water: !!int 3\n", "p.yaml:2:1: YAML: want a plain value, got Tag"},
		{"merge", "p.yaml", "name: x\n<<: {a: 1}\n", "p.yaml:2:1: YAML: want a plain name"},
		{"documents", "p.yaml", "name: x\n---\nname: y\n", "YAML: want one document, got another"},
		{"date", "p.toml", "name = 1979-05-27\n", "p.toml:1:1: TOML: want text, a number, true or false, a list or a table, got LocalDate"},
		{"null", "p.yaml", "name: x\ntail:\n", "p.yaml:2:1: tail: wrong type, want an object, got null"},
		{"number for a name", "p.yaml", "name: 5\n", "p.yaml:1:1: name: wrong type, want a string, got 5"},
		{"other bytes", "p.yaml", "name: x\nabout: \xff\n", "p.yaml:2:8: want UTF-8 text, got other bytes"},
		{"too long", "p.yaml", strings.Repeat("#\n", 40000), "p.yaml: want at most 65536 bytes, got more"},

		{"four digits", "p.yaml", "name: x\nlow_water: 0.9255\n", "p.yaml:2:1: low_water: no figure, want permille such as 800, a decimal with at most three digits after the point such as 0.8, or percent such as 80%, got 0.9255"},
		{"exponent", "p.toml", "name = 'x'\nlow_water = 4e-1\n", "p.toml:2:1: low_water: no figure"},
		{"not a number", "p.toml", "name = 'x'\nlow_water = nan\n", "p.toml:2:1: low_water: no figure"},
		{"hexadecimal", "p.yaml", "name: x\nlow_water: 0x10\n", "p.yaml:2:1: low_water: no figure"},
		{"perhaps octal", "p.yaml", "name: x\nlow_water: 0400\n", "p.yaml:2:1: low_water: no figure"},
		{"too exact percent", "p.yaml", "name: x\nlow_water: 80.55%\n", "p.yaml:2:1: low_water: no figure"},
		{"share of a token", "p.yaml", "name: x\nwindow: {buffer: 0.5}\n", "p.yaml:2:10: window.buffer: no figure, want an integer, or thousands or millions such as 128k and 1m, got 0.5"},
		{"another unit", "p.yaml", "name: x\nwindow: {buffer: 8kB}\n", `got "8kB"`},
		{"k of bytes", "p.yaml", "name: x\nrules:\n- args: {bytes: 4k}\n", `p.yaml:3:10: rules[0].args.bytes: no figure, want an integer, got "4k"`},
		{"k of measured bytes", "p.yaml", "name: x\nrules:\n- when: {measure: output_bytes, value: 4k}\n", "rules[0].when.value: no figure, want an integer"},
		{"permille of tokens", "p.yaml", "name: x\nwindow: {output_permille: 8k}\n", "window.output_permille: no figure"},

		{"unknown preset", "p.yaml", "extends: balancd\n", `p.yaml:1:1: extends: policy: preset: unknown name, want one of off, guard, cache-compact, layered, turn-budget, lean, balanced, quality, got "balancd" (did you mean "balanced"?)`},
		{"extends a list", "p.yaml", "extends: [off]\n", "p.yaml:1:1: extends: want the name of a preset, got a list"},
		{"without nothing", "p.yaml", "name: x\nwithout: [a]\n", "p.yaml:2:1: without: rules of no preset, want extends beside it"},
		{"without an unknown rule", "p.yaml", "extends: balanced\nwithout:\n- btach\n", `p.yaml:3:3: without[0]: no such rule in the preset, want repeated-lines, huge-output,`},
		{"without no list", "p.yaml", "extends: balanced\nwithout: batch\n", `p.yaml:2:1: without: want a list of rules, got "batch"`},
		{"fault against the preset", "p.yaml", "extends: balanced\nlow_water: 950\n", "rules[4].when.permille (rule \"batch\"): trigger not above the low-water mark (law 7), want more than 1150, got 980"},
		{"changed rule", "p.yaml", "extends: balanced\nrules:\n- name: batch\n  when:\n    permille: 300\n", "p.yaml:5:5: rules[4].when.permille (rule \"batch\"): trigger not above the low-water mark (law 7), want more than 520, got 300"},
		{"rule stated twice", "p.yaml", "extends: balanced\nrules:\n- {name: batch, forced: false}\n- {name: batch, at: prepare, do: demote}\n", `p.yaml:4:4: rules[9].name (rule "batch"): repeated name`},
		{"name of a preset", "p.yaml", "extends: balanced\nname: balanced\nlow_water: 300\n", `p.yaml:2:1: name: a preset has this name and says something else, want another, got "balanced"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.ParsePolicy(c.file, []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error:\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

// All faults of a file come in one error, in the order of its lines.
func TestErrorsAllAtOnce(t *testing.T) {
	_, err := config.ParsePolicy("p.yaml", []byte("nmea: x\nlow_water: 0.12345\nrules:\n- whne: 1\n  args: {bytes: 4k}\n"))
	var e *config.FileError
	if !errors.As(err, &e) {
		t.Fatalf("err = %v, want a *FileError", err)
	}
	var lines []int
	for _, p := range e.Problems {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{1, 2, 4, 5}) || e.File != "p.yaml" {
		t.Errorf("%s: problems in lines %d, want 1, 2, 4, 5:\n%v", e.File, lines, err)
	}
}

func TestLoadPolicyMissing(t *testing.T) {
	_, err := config.LoadPolicy(filepath.Join(t.TempDir(), "none.yaml"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v, want fs.ErrNotExist", err)
	}
	if _, err := config.LoadPolicy(t.TempDir()); err == nil {
		t.Error("a folder was read as a policy")
	}
}
