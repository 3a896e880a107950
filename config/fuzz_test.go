package config_test

import (
	"os"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// fuzz checks that no file ends the program, and that what a file states is
// sound and can be written down and read again.
func fuzz(f *testing.F, name string, seeds ...string) {
	data, err := os.ReadFile("testdata/same" + name[1:])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := config.ParsePolicy(name, data)
		if err != nil {
			return
		}
		if err := policy.Validate(p); err != nil {
			t.Fatalf("%s\nwas loaded: %v", data, err)
		}
		q, err := config.ParsePolicy("p.json", p.JSON())
		if err != nil || string(q.JSON()) != string(p.JSON()) {
			t.Fatalf("round trip: %v\n got %s\nwant %s", err, q.JSON(), p.JSON())
		}
	})
}

func FuzzYAML(f *testing.F) {
	fuzz(f, "p.yaml", "extends: balanced\nlow_water: 50%\nwithout: [batch]\n", "a: &a [*a]", "? a\n: b", "<<: {a: 1}", "a: |\n  x\n")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, "p.toml", "extends = 'off'\n", "[[rules]]\n[rules.when]\na.b = 1\n", "a = [[1], {b = 2}]", "a = 1979-05-27T07:32:00Z")
}

func FuzzJSON(f *testing.F) {
	fuzz(f, "p.json", `{"extends": "layered", "rules": [{"name": "compact-clear", "when": {"permille": 0.9}}]}`, `{"a": [1, {}]}`, `{} {}`)
}
