package policy_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestParseDefaults(t *testing.T) {
	p, err := policy.Parse([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, policy.Default()) {
		t.Errorf("Parse({}) = %+v, want Default()", p)
	}
	p.Name = "mine"
	if err := policy.Validate(p); err != nil {
		t.Errorf("the defaults with a name: %v", err)
	}
	p, err = policy.Parse([]byte(`{"minimum_gain": {"permille": 5}}`))
	if err != nil || p.MinimumGain != (policy.Gain{Permille: 5}) {
		t.Errorf("minimum_gain = %+v, %v, want only what the object holds", p.MinimumGain, err)
	}
	for _, text := range []string{"null", ` ""`} { // R001-11: retainPrompt|null
		p, err = policy.Parse([]byte(`{"retain_prompt": ` + text + `}`))
		if err != nil || p.RetainPrompt != "" {
			t.Errorf("retain_prompt %s = %q, %v, want none", text, p.RetainPrompt, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown field", `{"low_watr": 400}`, `low_watr: unknown field, want one of version,`},
		{"nearest field", `{"low_watr": 400}`, `got "low_watr" (did you mean "low_water"?)`},
		{"field of a rule", `{"rules": [{"wen": {}}]}`, `rules[0].wen: unknown field, want one of name, at, when, do, args, forced, got "wen" (did you mean "when"?)`},
		{"field of a condition", `{"rules": [{}, {"when": {"mesure": "view"}}]}`, `rules[1].when.mesure: unknown field`},
		{"case counts", `{"Name": "x"}`, `Name: unknown field`},
		{"no suggestion", `{"zzzzzzzz": 1}`, `got "zzzzzzzz"`},
		{"repeated field", `{"name": "a", "name": "b"}`, `name: repeated field, want it once, got "b"`},
		{"repeated template", `{"templates": {"cap": "a", "cap": "b"}}`, `templates.cap: repeated field`},
		{"fraction", `{"low_water": 0.4}`, `low_water: wrong type, want an integer, got 0.4`},
		{"exponent", `{"low_water": 4e2}`, `low_water: wrong type, want an integer, got 4e2`},
		{"whole fraction", `{"low_water": 400.0}`, `want an integer, got 400.0`},
		{"huge number", `{"low_water": 99999999999999999999}`, `want an integer`},
		{"text for a number", `{"low_water": "400"}`, `want an integer, got "400"`},
		{"null", `{"tail": null}`, `tail: wrong type, want an object, got null`},
		{"null text", `{"name": null}`, `name: wrong type, want a string, got null`},
		{"flag", `{"backstop": 1}`, `backstop: wrong type, want true or false, got 1`},
		{"list", `{"pins": "rules"}`, `pins: wrong type, want a list, got "rules"`},
		{"element", `{"pins": ["rules", 7]}`, `pins[1]: wrong type, want a string, got 7`},
		{"rule", `{"rules": [7]}`, `rules[0]: wrong type, want an object, got 7`},
		{"not an object", `[]`, `wrong type, want an object, got []`},
		{"syntax", "{\n  \"name\": \"x\",\n  \"low_water\": }", `JSON at line 3, column 16`},
		{"after the end", `{} {}`, `JSON at line 1, column 4`},
		{"empty", ``, `JSON at line 1, column 1`},
		{"other bytes", "{\"name\": \"a\xff\"}", `want UTF-8, got other bytes at line 1, column 12`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := policy.Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%s)\n got %v\nwant %s", c.text, err, c.want)
			}
		})
	}
}

func TestParseReportsAllFaults(t *testing.T) {
	_, err := policy.Parse([]byte(`{"naem": 1, "low_water": 0.5, "rules": [{"whne": 1}, {"args": {"lines": "x"}}], "tail": null}`))
	var faults *policy.FaultsError
	if !errors.As(err, &faults) {
		t.Fatalf("err = %v, want a *FaultsError", err)
	}
	var got []string
	for _, f := range faults.Faults {
		got = append(got, f.Field)
	}
	want := []string{"naem", "low_water", "rules[0].whne", "rules[1].args.lines", "tail"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
}

// Whatever a Policy holds, its JSON is read back to the same: no field is
// forgotten by the reader or the writer.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Make[policy.Policy]().Draw(t, "policy")
		data := p.JSON()
		q, err := policy.Parse(data)
		if err != nil {
			t.Fatalf("Parse(%s): %v", data, err)
		}
		if again := q.JSON(); string(again) != string(data) {
			t.Fatalf("round trip:\n got %s\nwant %s", again, data)
		}
		r, err := policy.Parse(q.JSON())
		if err != nil || !reflect.DeepEqual(q, r) {
			t.Fatalf("second round trip: %v\n got %+v\nwant %+v", err, r, q)
		}
	})
}

func TestJSONIsOneForm(t *testing.T) {
	empty := policy.Policy{Rules: []policy.Rule{}, Pins: []string{}, Tools: []string{}, Templates: map[string]string{}}
	if a, b := string(policy.Policy{}.JSON()), string(empty.JSON()); a != b {
		t.Errorf("no lists %s, empty lists %s, want one form", a, b)
	}
	p := policy.Policy{Templates: map[string]string{"b": "<&>", "a": "1"}}
	if s := string(p.JSON()); !strings.Contains(s, `"templates":{"a":"1","b":"<&>"}`) || strings.Contains(s, "\n") {
		t.Errorf("JSON() = %s, want sorted names and plain characters in one line", s)
	}
}

// UnitOf knows a unit for every number of the form and for nothing else.
func TestUnitOf(t *testing.T) {
	for name, want := range map[string]policy.Unit{
		"low_water":                policy.UnitPermille,
		"window.buffer":            policy.UnitTokens,
		"window.output_permille":   policy.UnitPermille,
		"minimum_gain.permille":    policy.UnitPermille,
		"minimum_summary.most":     policy.UnitTokens,
		"rules[12].when.permille":  policy.UnitPermille,
		"rules[0].when.value":      policy.UnitMeasured,
		"rules[0].when.min":        policy.UnitTokens,
		"rules[0].args.min":        policy.UnitCount,
		"rules[0].args.bytes":      policy.UnitBytes,
		"rules[0].args.keep.n":     policy.UnitCount,
		"rules[0].args.background": policy.UnitNone,
		"rules":                    policy.UnitNone,
		"name":                     policy.UnitNone,
		"nothing.at.all":           policy.UnitNone,
		"":                         policy.UnitNone,
	} {
		if got := policy.UnitOf(name); got != want {
			t.Errorf("UnitOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.JSON())
	}
	for _, s := range []string{`{}`, `{"rules":[{"do":"final"}]}`, `{"name":"x","templates":{"a":"{ref} {x"}}`, `{"estimator":"max(a,max(b,c))"}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.Parse(data)
		if err != nil {
			return
		}
		q, err := policy.Parse(p.JSON())
		if err != nil {
			t.Fatalf("%s\nparses, its JSON does not: %v\n%s", data, err, p.JSON())
		}
		if string(q.JSON()) != string(p.JSON()) {
			t.Fatalf("round trip:\n got %s\nwant %s", q.JSON(), p.JSON())
		}
		if a, b := policy.Validate(p), policy.Validate(q); (a == nil) != (b == nil) {
			t.Fatalf("Validate says %v before and %v after a round trip", a, b)
		}
		policy.Explain(p, budget.Window{Capacity: 128000, Buffer: 8192, OutputReserve: 16384})
	})
}
