package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// plimsoll ask leaves the room for the reply that the settings state, unless the command
// line says else.
func TestAskMaxOutput(t *testing.T) {
	limit := regexp.MustCompile(`"max_(?:completion_)?tokens":(\d+)`)
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if m := limit.FindSubmatch(body); m != nil {
			got = string(m[1])
		}
		_, _ = fmt.Fprint(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Ave."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "s.yaml")
	text := "providers:\n  openai-compatible:\n    baseURL: " + server.URL + "\n    models: {m: {maxOutputTokens: 77}}\ndefaults: {maxOutputTokens: 99}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"-m openai-compatible/m", "77"},
		{"-m openai-compatible/other", "99"},
		{"-m openai-compatible/m --max-output 5", "5"},
	} {
		t.Run("R000-24 "+c.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			got = ""
			args := append([]string{"ask", "--config", file, "hello"}, strings.Fields(c.args)...)
			if code := run(args, streams{strings.NewReader(""), &out, &errs}); code != 0 || got != c.want {
				t.Errorf("exit %d, %s: the request allows %q tokens, want %s", code, &errs, got, c.want)
			}
		})
	}
}

// TestAskReasoning: plimsoll ask has a model think as the settings say, where it can be asked.
func TestAskReasoning(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		_, _ = fmt.Fprint(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Ave."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "s.yaml")
	text := "providers:\n  openai-compatible:\n    baseURL: " + server.URL + "\n    models: {gpt-5.1: {reasoning: high}}\ndefaults: {reasoning: none}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]string{"gpt-5.1": `"reasoning_effort":"high"`, "gpt-5": `"reasoning_effort":"minimal"`, "gpt-4o": ""} {
		t.Run("R000-27 "+model, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := []string{"ask", "--config", file, "-m", "openai-compatible/" + model, "hello"}
			if code := run(args, streams{strings.NewReader(""), &out, &errs}); code != 0 || !strings.Contains(got, want) || want == "" && strings.Contains(got, "effort") {
				t.Errorf("exit %d, %s: sent %s, want %s in it", code, &errs, got, want)
			}
		})
	}
}

// The files that docs/configuration.md shows are read without a fault, and the page names
// every field.
func TestDocConfiguration(t *testing.T) {
	text := read(t, filepath.Join(repo, "docs", "configuration.md"))
	known, err := knownSettings()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, language := range []string{"yaml", "toml"} {
		eachBlock(text, language, func(block string) string {
			found++
			if _, err := config.ParseSettings("docs/configuration."+language, []byte(block), known); err != nil {
				t.Errorf("%s\n%v", block, err)
			}
			return block
		})
	}
	if found < 2 {
		t.Errorf("want both forms, found %d blocks", found)
	}
	for _, name := range append(config.OverrideFields(), "toolsAllowed", "toolsDenied") {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not explained", name)
		}
	}
}

// The settings that plimsoll config --help shows are read without a fault.
func TestHelpOfSettings(t *testing.T) {
	known, err := knownSettings()
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for line := range strings.Lines(newConfig(streams{}).Long) {
		if strings.HasPrefix(line, "  ") {
			shown.WriteString(line)
		}
	}
	got, err := config.ParseSettings("help.yaml", []byte(shown.String()), known)
	if err != nil || len(got.Providers) != 1 || len(got.Models) != 1 {
		t.Errorf("want a provider and a model, got %d and %d: %v\n%s", len(got.Providers), len(got.Models), err, shown.String())
	}
}
