package config_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// knownLimits is what the reader is told in these tests: real estimators, and a kind that
// the document calls otherwise.
func knownLimits() config.Known {
	k := known()
	k.Kinds = append(k.Kinds, "gemini")
	k.Aliases = map[string]string{"google": "gemini"}
	k.Tokenizer = func(id string) error {
		_, err := token.NewCounter(id, loaded)
		return err
	}
	return k
}

// loaded is bpe.Load that keeps what it loaded.
func loaded(name string) (*bpe.Encoding, error) {
	if e, ok := encodings[name]; ok {
		return e, nil
	}
	e, err := bpe.Load(name)
	encodings[name] = e
	return e, err
}

var encodings = map[string]*bpe.Encoding{}

func parse(t *testing.T, name, text string) config.Settings {
	t.Helper()
	s, err := config.ParseSettings(name, []byte(text), knownLimits())
	if err != nil {
		t.Fatalf("%s:\n%s\n%v", name, text, err)
	}
	return s
}

// The shape of the guard's document, with its figures.
const guardYAML = `providers:
  openai:
    contextWindow: 128000
    models:
      gpt-4-turbo:
        maxOutputTokens: 16384
        contextWindow: 128000

defaults:
  toolResponseMaxBytes: 12288
  maxOutputTokens: 16384
`

const guardTOML = `[providers.openai]
contextWindow = 128000

[providers.openai.models.gpt-4-turbo]
maxOutputTokens = 16384
contextWindow = 128000

[defaults]
toolResponseMaxBytes = 12288
maxOutputTokens = 16384
`

// Every figure is there, with its file and line, in both forms.
func TestLimits(t *testing.T) {
	at := func(file string, line int, field string) config.Origin {
		column := 9
		switch {
		case strings.HasSuffix(file, ".toml"):
			column = 1
		case strings.HasPrefix(field, "defaults."):
			column = 3
		case !strings.Contains(field, "models"):
			column = 5
		}
		return config.Origin{File: file, Line: line, Column: column, Field: field}
	}
	for _, c := range []struct {
		name, text string
		lines      [5]int
	}{{"p.yaml", guardYAML, [5]int{3, 6, 7, 10, 11}}, {"p.toml", guardTOML, [5]int{2, 5, 6, 9, 10}}} {
		t.Run("R000-24 "+c.name, func(t *testing.T) {
			s := parse(t, c.name, c.text)
			stated := func(n, line int, field string) config.Stated[int] {
				return config.Stated[int]{Value: n, From: at(c.name, c.lines[line], field)}
			}
			const model = "providers.openai.models.gpt-4-turbo."
			want := config.ProviderSettings{
				Name: "openai", Kind: "openai", Models: []string{"gpt-4-turbo"},
				Limits: config.Limits{ContextWindow: stated(128_000, 0, "providers.openai.contextWindow")},
				ModelLimits: []config.ModelLimits{{Model: "gpt-4-turbo", Limits: config.Limits{
					MaxOutputTokens: stated(16_384, 1, model+"maxOutputTokens"), ContextWindow: stated(128_000, 2, model+"contextWindow"),
				}}},
			}
			if got, _ := s.Provider("openai"); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			defaults := config.Limits{
				ToolResponseMaxBytes: stated(12_288, 3, "defaults.toolResponseMaxBytes"), MaxOutputTokens: stated(16_384, 4, "defaults.maxOutputTokens"),
			}
			if s.Defaults != defaults {
				t.Errorf("got %+v\nwant %+v", s.Defaults, defaults)
			}
		})
	}
	if got := (config.Origin{File: "p.yaml", Line: 3, Column: 5, Field: "defaults.contextWindow"}).String(); got != "p.yaml:3 defaults.contextWindow" {
		t.Errorf("an origin is shown as %q", got)
	}
}

// Providers are called as in the document and need no other field.
func TestPlainProviders(t *testing.T) {
	for name, kind := range map[string]string{"openai": "openai", "anthropic": "anthropic", "google": "gemini"} {
		t.Run("R000-24 "+name, func(t *testing.T) {
			s := parse(t, "p.yaml", "providers: {"+name+": {contextWindow: 1m, contextWindowBufferTokens: 256}}")
			if p, ok := s.Provider(name); !ok || p.Kind != kind || p.Limits.ContextWindow.Value != 1_000_000 || p.Limits.ContextWindowBufferTokens.Value != 256 {
				t.Errorf("got %+v", p)
			}
		})
	}
	s := parse(t, "p.yaml", "providers:\n  team:\n    kind: google\n    models:\n      a:\n      b: {}\n      c: {reasoning: minimal}\n")
	if p, _ := s.Provider("team"); p.Kind != "gemini" || strings.Join(p.Models, " ") != "a b c" || len(p.ModelLimits) != 1 || p.ModelLimits[0].Reasoning.Value != config.ReasoningMinimal {
		t.Errorf("models of a map: got %+v", p)
	}
}

// The ids of the document may be stated of a provider and of a model.
func TestTokenizers(t *testing.T) {
	for _, id := range []string{
		"tiktoken:cl100k_base", "tiktoken:gpt-4", "anthropic", "claude:", "claude:claude-opus-4-5", "gemini", "google:gemini", "google-gemini", "approximate",
		"anthropic:claude-opus-4-5", "anthropic/claude-sonnet-4-5", "gemini-2.5-pro", "google:gemini-2.5-pro", "google-gemini-2.5-flash",
		"google-gemini:gemini-2.5-pro", "google:gemini-9-unheard-of", "claude:unheard-of",
	} {
		t.Run("R000-19 "+id, func(t *testing.T) {
			for name, text := range map[string]string{
				"p.yaml": "providers:\n  openai:\n    tokenizer: \"" + id + "\"\n    models:\n      gpt-4:\n        tokenizer: \"" + id + "\"\n",
				"p.toml": "[providers.openai]\ntokenizer = \"" + id + "\"\n[providers.openai.models.gpt-4]\ntokenizer = \"" + id + "\"\n",
			} {
				p, _ := parse(t, name, text).Provider("openai")
				if p.Limits.Tokenizer.Value != id || len(p.ModelLimits) != 1 || p.ModelLimits[0].Tokenizer.Value != id {
					t.Errorf("%s: got %+v", name, p)
				}
			}
		})
	}
	t.Run("R000-19 vocabularies that errors name", func(t *testing.T) {
		_, err := config.ParseSettings("p.yaml", []byte("models: {m: {tokenizer: 'tiktoken:'}}"), knownLimits())
		if err == nil {
			t.Fatal("want an error")
		}
		_, err = config.ParseSettings("p.yaml", []byte("models: {m: {tokenizer: 'tiktoken:x'}}"), knownLimits())
		_, list, _ := strings.Cut(err.Error(), "with one of ")
		list, _, _ = strings.Cut(list, ", or with")
		names := strings.Split(list, ", ")
		for _, name := range names {
			if _, err := loaded(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		if len(names) < 3 {
			t.Errorf("got %q", names)
		}
	})
	t.Run("R000-19 unknown", func(t *testing.T) {
		_, err := config.ParseSettings("p.yaml", []byte("providers:\n  openai:\n    models:\n      gpt-4:\n        tokenizer: anthropc\n"), knownLimits())
		if err == nil || !strings.Contains(err.Error(), "p.yaml:5:9: providers.openai.models.gpt-4.tokenizer: ") || !strings.Contains(err.Error(), `did you mean "anthropic"`) {
			t.Errorf("got %v", err)
		}
	})
}

// What cannot be meant is a fault at its place.
func TestLimitFaults(t *testing.T) {
	const in = "providers:\n  openai:\n    "
	for _, c := range []struct{ id, text, want string }{
		{"R000-8", in + "contextWindow: 0", "s.yaml:3:5: providers.openai.contextWindow: want 1 to 1000000000 tokens, got 0"},
		{"R000-8", in + "contextWindow: -1", "s.yaml:3:5: providers.openai.contextWindow: want 1 to 1000000000 tokens, got -1"},
		{"R000-8", in + "contextWindow: 1000m", ""},
		{"R000-8", in + "contextWindow: 1001m", "s.yaml:3:5: providers.openai.contextWindow: want 1 to 1000000000 tokens, got \"1001m\""},
		{"R000-8", in + "contextWindow: 128.5", "s.yaml:3:5: providers.openai.contextWindow: want an integer, or thousands or millions such as 128k and 1m, got 128.5"},
		{"R000-8", in + "contextWindow: 131_072", ""},
		{"R000-8", in + "contextWindw: 1", "s.yaml:3:5: providers.openai.contextWindw: no such field, did you mean contextWindow?"},
		{"R000-8", in + "context_window: 1", "s.yaml:3:5: providers.openai.context_window: no such field, did you mean contextWindow?"},
		{"R000-9", in + "contextWindowBufferTokens: 0", ""},
		{"R000-9", in + "contextWindowBufferTokens: -8192", "s.yaml:3:5: providers.openai.contextWindowBufferTokens: want 0 to 1000000000 tokens, got -8192"},
		{"R000-7", in + "models: {m: {maxOutputTokens: 0}}", "s.yaml:3:18: providers.openai.models.m.maxOutputTokens: want 1 to 1000000000 tokens, got 0"},
		{"R000-7", in + "maxOutputTokens: 1", "s.yaml:3:5: providers.openai.maxOutputTokens: cannot be stated here, want it in defaults or a model of a provider"},
		{"R000-7", "maxOutputTokens: 1", "s.yaml:1:1: maxOutputTokens: cannot be stated here, want it in defaults or a model of a provider"},
		{"R000-24", in + "models: {m: {toolResponseMaxBytes: 1}}", "s.yaml:3:18: providers.openai.models.m.toolResponseMaxBytes: cannot be stated here, want it in defaults"},
		{"R000-24", in + "models: {'': {}}", "s.yaml:3:14: providers.openai.models: want the name of a model, got \"\""},
		{"R000-8", in + "contextWindow:", "s.yaml:3:5: providers.openai.contextWindow: want an integer, or thousands or millions such as 128k and 1m, got nothing"},
		{"R000-24", in + "models: {m: 5}", "s.yaml:3:14: providers.openai.models.m: want what is stated about a model, got 5"},
		{"R000-24", in + "models: {m: {apiKey: sk-1}}", "s.yaml:3:18: providers.openai.models.m.apiKey: want no key in a file"},
		{"R000-24", "defaults: {toolResponseMaxBytes: 0}", "s.yaml:1:12: defaults.toolResponseMaxBytes: want 1 to 1000000000 bytes, got 0"},
		{"R000-24", "defaults: {toolResponseMaxBytes: 12k}", "s.yaml:1:12: defaults.toolResponseMaxBytes: want an integer, got \"12k\""},
		{"R000-24", "defaults: {reasoning: hihg}", "s.yaml:1:12: defaults.reasoning: want one of none, minimal, low, medium, high, got \"hihg\"; did you mean high?"},
		{"R000-24", "defaults: {reasoning: 8000}", "s.yaml:1:12: defaults.reasoning: want one of none, minimal, low, medium, high, got the number 8000; how many tokens reasoning may have is within maxOutputTokens"},
		{"R000-24", "defaults: {tokenizer: gemini}", "s.yaml:1:12: defaults.tokenizer: cannot be stated here, want it in a provider or a model of a provider"},
		{"R000-24", "defaults: [1]", "s.yaml:1:1: defaults: want what holds where nothing nearer says else, got a list"},
		{"R000-24", "toolsAllowed: read", "s.yaml:1:1: toolsAllowed: want a list of tools, got a text"},
		{"R000-24", "toolsDenied: [a, '*b']", "s.yaml:1:18: toolsDenied[1]: want the name of a tool, or the beginning of names with one * behind it, got \"*b\""},
		{"R000-24", "toolsDenied: [a]\ndefaults: {toolsDenied: [b]}", "s.yaml:2:12: defaults.toolsDenied: want one list, got another on line 1 (toolsDenied)"},
		{"R000-24", "toolsDenied: ['x y']", "s.yaml:1:15: toolsDenied[0]: want the name of a tool, which has no space in it, got \"x y\""},
		{"R000-24", in + "models: [gpt-5, gpt-5]", "s.yaml:3:21: providers.openai.models[1]: want each model once, got \"gpt-5\" again"},
		{"R000-24", in + "models: [gpt-5, 7]", "s.yaml:3:21: providers.openai.models[1]: want the name of a model, got 7; "},
		{"R000-24", in + "models: [gpt-5, '7']", ""},
		{"R000-24", "defaults:\nproviders:\nmodels:", ""},
		{"R000-24", "providers: {openai: }", ""},
		{"R000-8", in + "contextWindow: '128000'", ""},
		{"R000-8", in + "contextWindow: 128K", ""},
		{"R000-24", "defaults: {toolResponseMaxBytes: '12288'}", ""},
		{"R000-19", in + "tokenizer: 'tiktoken:nope'", "s.yaml:3:5: providers.openai.tokenizer: want tiktoken: with one of o200k_base, cl100k_base, o200k_harmony, or with a model that has one of them, got \"nope\""},
		{"R000-19", in + "tokenizer: 'tiktoken:o200kbase'", "s.yaml:3:5: providers.openai.tokenizer: want tiktoken: with one of o200k_base, cl100k_base, o200k_harmony, or with a model that has one of them, got \"o200kbase\"; did you mean o200k_base?"},
		{"R000-24", "toolsDenid: [a]", "s.yaml:1:1: toolsDenid: no such field, did you mean toolsDenied?"},
		{
			"R000-6", in + "contextWindow: 20k\n    models: {m: {maxOutputTokens: 16k}}\ndefaults: {contextWindowBufferTokens: 4000}",
			"s.yaml:4:18: providers.openai.models.m.maxOutputTokens: want something left for the prompt, got 20,000 - 4,000 - 16,000 (contextWindow - contextWindowBufferTokens - maxOutputTokens)",
		},
		{"R000-6", in + "contextWindow: 20k\n    models: {m: {maxOutputTokens: 16k}}\ndefaults: {contextWindowBufferTokens: 3999}", ""},
		{"R000-6", "defaults: {contextWindow: 1, contextWindowBufferTokens: 1}", "s.yaml:1:30: defaults.contextWindowBufferTokens: want something left"},
	} {
		t.Run(c.id+" "+strings.TrimPrefix(c.text, in), func(t *testing.T) {
			_, err := config.ParseSettings("s.yaml", []byte(c.text), knownLimits())
			if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), "config: load settings: "+c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
			if e, ok := errors.AsType[*config.SettingsError](err); err != nil && (!ok || len(e.Problems) != 1) {
				t.Errorf("want one problem, got %v", err)
			}
		})
	}
}

// What is denied is denied, an empty list of what is allowed allows all, a model's list
// takes the file's place, and the lists of all files hold.
func TestTools(t *testing.T) {
	names := []string{"read", "bash", "web_search", "web_fetch"}
	var tools []llm.Tool
	for _, n := range names {
		tools = append(tools, llm.Tool{Name: n})
	}
	allowed := func(s config.Settings) string {
		r, err := s.Resolve(query("guard"))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, tool := range r.Tools.Filter(tools) {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	model := func(lists string) string { return "providers: {openai: {models: {gpt-x: {" + lists + "}}}}\n" }
	for _, c := range []struct{ text, want string }{
		{"", "read bash web_search web_fetch"},
		{"toolsAllowed: []", "read bash web_search web_fetch"},
		{"toolsAllowed: [read, web_fetch]", "read web_fetch"},
		{"toolsDenied: [web_*]", "read bash"},
		{"toolsDenied: ['*']", ""},
		{"toolsAllowed: [web_*]\ntoolsDenied: [web_fetch]", "web_search"},
		{"toolsAllowed: [web]", ""},
		{"defaults: {toolsDenied: [bash]}", "read web_search web_fetch"},
		{model("toolsDenied: []") + "toolsDenied: [bash]\ntoolsAllowed: [bash, read]", "read bash"},
		{model("toolsAllowed: [bash]") + "toolsAllowed: [read]\ntoolsDenied: [read]", "bash"},
	} {
		t.Run("R000-24 "+c.text, func(t *testing.T) {
			if got := allowed(parse(t, "p.yaml", c.text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("R000-24 the working folder cannot allow what the user denies", func(t *testing.T) {
		working := folder(t, "plimsoll.yaml", model("toolsDenied: [], toolsAllowed: []")+"toolsDenied: [web_fetch]")
		user := folder(t, "plimsoll.toml", "toolsDenied = ['bash']\ntoolsAllowed = ['bash', 'read']\n")
		s, err := config.FindSettings(working, user, knownLimits())
		if err != nil || allowed(s) != "read" {
			t.Errorf("got %q, %v, want read", allowed(s), err)
		}
	})
	if !slices.Equal([]string{tools[0].Name, tools[3].Name}, []string{"read", "web_fetch"}) {
		t.Error("the caller's tools were changed")
	}
}

// Overrides are read by the rules of files.
func TestOverrides(t *testing.T) {
	t.Run("R000-8", func(t *testing.T) {
		l, err := config.ParseOverrides([]string{"contextWindow=64k", "reasoning=low", "tokenizer=approximate", "toolResponseMaxBytes=100"}, knownLimits())
		if err != nil || l.ContextWindow.Value != 64_000 || l.ContextWindow.From.String() != "override contextWindow" ||
			l.Reasoning.Value != config.ReasoningLow || l.Tokenizer.Value != "approximate" || l.ToolResponseMaxBytes.Value != 100 {
			t.Errorf("got %+v, %v", l, err)
		}
	})
	for entry, want := range map[string]string{
		"contextWindow":      `override "contextWindow": want name=value`,
		"contextWindow=":     `override contextWindow: want an integer`,
		"contextWindow=0":    `override contextWindow: want 1 to 1000000000 tokens, got 0`,
		"contextWindows=1":   `override contextWindows: no such field, did you mean contextWindow?`,
		"toolsDenied=a":      `override toolsDenied: no such field`,
		"reasoning=9":        `override reasoning: want one of`,
		"maxOutputTokens=-1": `override maxOutputTokens: want 1 to`,
	} {
		if _, err := config.ParseOverrides([]string{entry}, knownLimits()); err == nil || !strings.HasPrefix(err.Error(), "config: "+want) {
			t.Errorf("%s: got %v, want %s", entry, err, want)
		}
	}
	if _, err := config.ParseOverrides([]string{"reasoning=low", "reasoning=low", "x=1"}, knownLimits()); err == nil || !strings.Contains(err.Error(), "got it again") || !strings.Contains(err.Error(), "x: no such") {
		t.Errorf("want both faults, got %v", err)
	}
}
