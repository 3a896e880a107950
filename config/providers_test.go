package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// known is what the reader is told in these tests.
func known() config.Known {
	return config.Known{
		Kinds:      []string{"openai", "openai-compatible", "anthropic"},
		CarriesKey: func(name string) bool { return strings.EqualFold(name, "x-api-key") },
	}
}

const settingsYAML = `
model: work/gpt-5
providers:
  work:
    kind: openai
    baseURL: https://gateway.example/v1
    keyEnv: WORK_API_KEY
    headers: {x-team: blue, x-level: 3}
    query: {api-version: "2024-10-21"}
    models: [gpt-5, gpt-5-mini]
  anthropic:
    keyCommand: [pass, show, "llm/anthropic key"]
`

const settingsTOML = `
model = "work/gpt-5"
[providers.work]
kind = "openai"
baseURL = "https://gateway.example/v1"
keyEnv = "WORK_API_KEY"
headers = {x-team = "blue", x-level = 3}
query = {api-version = "2024-10-21"}
models = ["gpt-5", "gpt-5-mini"]
[providers.anthropic]
keyCommand = ["pass", "show", "llm/anthropic key"]
`

const settingsJSON = `{"model": "work/gpt-5", "providers": {
	"work": {"kind": "openai", "baseURL": "https://gateway.example/v1", "keyEnv": "WORK_API_KEY",
		"headers": {"x-team": "blue", "x-level": 3}, "query": {"api-version": "2024-10-21"}, "models": ["gpt-5", "gpt-5-mini"]},
	"anthropic": {"keyCommand": ["pass", "show", "llm/anthropic key"]}}}`

// Settings mean the same in each of the forms.
func TestSettings(t *testing.T) {
	want := config.Settings{Model: "work/gpt-5", Providers: []config.ProviderSettings{
		{
			Name: "work", Kind: "openai", BaseURL: "https://gateway.example/v1", KeyEnv: "WORK_API_KEY",
			Headers: map[string]string{"x-team": "blue", "x-level": "3"}, Query: map[string]string{"api-version": "2024-10-21"},
			Models: []string{"gpt-5", "gpt-5-mini"},
		},
		{Name: "anthropic", Kind: "anthropic", KeyCommand: []string{"pass", "show", "llm/anthropic key"}},
	}}
	for name, text := range map[string]string{"s.yaml": settingsYAML, "s.toml": settingsTOML, "s.json": settingsJSON} {
		got, err := config.ParseSettings(name, []byte(text), known())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
	}
	if p, ok := want.Provider("work"); !ok || p.Kind != "openai" {
		t.Error("the provider is not found by its name")
	}
	if empty, err := config.ParseSettings("s.yaml", nil, known()); err != nil || !reflect.DeepEqual(empty, config.Settings{}) {
		t.Errorf("an empty file: %+v, %v", empty, err)
	}
}

// Everything that is wrong is told, with its place, and what may have been meant.
func TestSettingsFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"modl: x/y", `s.yaml:1:1: modl: no such field, did you mean model?`},
		{"zzz: 1", `s.yaml:1:1: zzz: no such field, want one of [model providers models defaults toolOutputCache compaction agent context toolsAllowed toolsDenied]`},
		{"model: gpt-5", `s.yaml:1:1: model: want provider/model, got "gpt-5"`},
		{"model: [a]", `s.yaml:1:1: model: want a text, got a list`},
		{"providers: [a]", `s.yaml:1:1: providers: want names with their settings, got a list`},
		{"providers:\n  work: openai", `s.yaml:2:3: providers.work: want the settings of a provider, got "openai"`},
		{"providers:\n  a/b: {kind: openai}", `s.yaml:2:3: providers.a/b: want a name without a slash or a space`},
		{"providers:\n  work: {keyEnv: X}", `s.yaml:2:3: providers.work.kind: want one of openai, openai-compatible, anthropic, got "work"`},
		{"providers:\n  work:\n    kind: opnai", `s.yaml:3:5: providers.work.kind: want one of openai, openai-compatible, anthropic, got "opnai"; did you mean openai?`},
		{"providers:\n  openai:\n    base_url: https://x", `s.yaml:3:5: providers.openai.base_url: no such field, did you mean baseURL?`},
		{"providers:\n  openai:\n    baseURL: gateway.example", `s.yaml:3:5: providers.openai.baseURL: want http:// or https:// with a host, got another text`},
		{"providers:\n  openai:\n    keyCommand: pass show key", `s.yaml:3:5: providers.openai.keyCommand: want a list, the program and its arguments (no shell is involved), got a text`},
		{"providers:\n  openai:\n    keyCommand: []", `s.yaml:3:5: providers.openai.keyCommand: want a list of texts, got a list`},
		{"providers:\n  openai: {keyEnv: A, keyCommand: [b]}", `s.yaml:2:3: providers.openai: want keyEnv or keyCommand, got both`},
		{"providers:\n  openai:\n    models: [m, {}]", `s.yaml:3:17: providers.openai.models[1]: want a text, got an object`},
		{"providers:\n  openai:\n    headers: x", `s.yaml:3:5: providers.openai.headers: want names and values, got a text`},
		{"- a", `s.yaml:1:1: want model, providers, models and so on, got a list`},
		{"a: [", `s.yaml:`},
	} {
		_, err := config.ParseSettings("s.yaml", []byte(c.text), known())
		e, ok := errors.AsType[*config.SettingsError](err)
		if !ok || !strings.HasPrefix(err.Error(), "config: load settings: "+c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
			continue
		}
		if files, ok := errors.AsType[*config.FileError](err); !ok || len(files.Problems) == 0 || files.File != e.File {
			t.Errorf("%s: the problems are not reached: %v", c.text, err)
		}
	}
	_, err := config.ParseSettings("s.yaml", []byte("modl: x\nproviders:\n  work: {}\n  openai: {kye: x}\n"), known())
	if e, ok := errors.AsType[*config.SettingsError](err); !ok || len(e.Problems) != 3 {
		t.Errorf("want three problems at once, got %v", err)
	}
}

// A key in a file is refused, wherever it stands, and not repeated.
func TestLiteralKeys(t *testing.T) {
	for _, text := range []string{
		"model: sk-secret", "providers: {openai: {kind: sk-secret}}", "providers: {openai: {contextWindow: sk-secret}}", "defaults: {reasoning: sk-secret}",
		"apiKey: sk-secret", "providers: {openai: {key: sk-secret}}", "providers: {openai: {api_key: sk-secret}}", "providers: {openai: {token: sk-secret}}",
		"providers: {openai: {Authorization: sk-secret}}", "providers: {openai: {headers: {x-api-key: sk-secret}}}", "providers: {openai: {headers: {api-key: sk-secret}}}",
		"providers: {openai: {headers: {x-anything: sk-secret}}}", "providers: {openai: {headers: {x-anything: Bearer sk-secret}}}", "providers: {openai: {query: {key: sk-secret}}}",
		"providers: {openai: {baseURL: 'https://user:sk-secret@host'}}", "providers: {openai: {keyEnv: sk-secret}}", "providers: {openai: {keyEnv: AIzasecretsk-secret}}",
		"providers: {openai: {baseURL: 'https://host/v1?key=a-secret'}}", "providers: {openai: {baseURL: 'https://host/v1?tenant=7&x=sk-secret'}}",
		"providers: {openai: {baseURL: 'sk-secret'}}", "providers: {openai: {keyCommand: 'echo sk-secret'}}",
	} {
		_, err := config.ParseSettings("s.yaml", []byte(text), known())
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	_, err := config.ParseSettings("s.yaml", []byte("providers:\n  openai:\n    apiKey: sk-secret\n"), known())
	want := "s.yaml:3:5: providers.openai.apiKey: want no key in a file; keyEnv names an environment variable that holds it, keyCommand a program that prints it"
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// folder is a new folder with these files.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The working folder goes before the user's, its providers as a whole.
func TestFindSettings(t *testing.T) {
	working := folder(t, "plimsoll.toml", "model = 'local/m'\n[providers.local]\nkind = 'openai-compatible'\nbaseURL = 'http://127.0.0.1:8000/v1'\n")
	user := folder(t, "plimsoll.yaml", settingsYAML+"  local: {kind: anthropic, keyEnv: LOCAL_KEY}\n")
	got, err := config.FindSettings(working, user, known())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got.Providers {
		names = append(names, p.Name)
	}
	local, _ := got.Provider("local")
	if got.Model != "local/m" || strings.Join(names, " ") != "local work anthropic" || local.Kind != "openai-compatible" || local.KeyEnv != "" {
		t.Errorf("got %+v", got)
	}
	if got, err := config.FindSettings("", user, known()); err != nil || got.Model != "work/gpt-5" {
		t.Errorf("the user's alone: %+v, %v", got, err)
	}
	if got, err := config.FindSettings(folder(t), folder(t), known()); err != nil || !reflect.DeepEqual(got, config.Settings{}) {
		t.Errorf("no files: %+v, %v", got, err)
	}
	two := folder(t, "plimsoll.yaml", "", "plimsoll.toml", "")
	if _, err := config.FindSettings(two, "", known()); err == nil || !strings.Contains(err.Error(), "want one file") {
		t.Errorf("two files: %v", err)
	}
}

// A file that came with a folder cannot make the program run another one, or send a key
// or a prompt away. The user's own, or one that is named, can.
func TestUntrusted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"providers: {openai: {keyCommand: [sh, -c, 'rm -rf ~']}}", "may not run a program"},
		{"providers: {openai: {keyEnv: AWS_SECRET_ACCESS_KEY}}", "may not say where a key is"},
		{"providers: {openai: {baseURL: 'https://evil.example/v1'}}", "may only send requests to this machine"},
		{"providers: {openai: {baseURL: 'http://127.0.0.1.evil.example/v1'}}", "may only send requests to this machine"},
		{"providers: {openai: {baseURL: 'http://127.0.0.1:80/v1'}}", ""},
		{"providers: {openai: {baseURL: 'http://[::1]:80/v1'}}", ""},
		{"providers: {openai: {baseURL: 'http://localhost/v1'}}", ""},
		{"model: openai/gpt-5", ""},
	} {
		dir := folder(t, "plimsoll.yaml", c.text)
		_, err := config.FindSettings(dir, "", known())
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--config")) {
			t.Errorf("%s in the working folder: got %v, want %q", c.text, err, c.want)
		}
		if _, err := config.FindSettings(folder(t), dir, known()); err != nil {
			t.Errorf("%s of the user: %v", c.text, err)
		}
		if _, err := config.LoadSettings(filepath.Join(dir, "plimsoll.yaml"), known()); err != nil {
			t.Errorf("%s, named: %v", c.text, err)
		}
	}
}

func FuzzSettings(f *testing.F) {
	for name, text := range map[string]string{"s.yaml": settingsYAML, "s.toml": settingsTOML, "s.json": settingsJSON, "s": "providers: {openai: {headers: {a: [1]}}}"} {
		f.Add(name, []byte(text))
	}
	f.Add("g.yaml", []byte(guardYAML))
	f.Add("g.toml", []byte(guardTOML))
	f.Add("l.yaml", []byte("providers: {openai: {contextWindow: 1, models: {m: {contextWindowBufferTokens: 0, tokenizer: x, reasoning: low, toolsDenied: [a, b*]}, n: }}}\ntoolsAllowed: []\n"))
	q := query("guard")
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		s, err := config.ParseSettings(name, data, known())
		if err != nil {
			return
		}
		for _, p := range s.Providers {
			for _, m := range append(p.Models, "") {
				q.Provider, q.Model = p.Name, m
				if r, err := s.Resolve(q); err == nil && r.Limit() <= 0 {
					t.Errorf("%s leaves nothing for %s/%s: %+v", data, p.Name, m, r.Figures)
				}
			}
		}
		for _, p := range s.Providers {
			if p.Name == "" || p.Kind == "" || p.KeyEnv != "" && len(p.KeyCommand) > 0 || strings.ContainsAny(p.KeyEnv, " =") {
				t.Errorf("%s was loaded as %+v", data, p)
			}
		}
	})
}
