package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// What a flag states of a window goes before the settings, and what nobody states is left
// open; providers of the settings are upstreams, with their own keys.
func TestProxyHost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "team.yaml")
	text := `
defaults: {maxOutputTokens: 900, contextWindow: 9000}
providers:
  openai:
    models: {gpt-5: {contextWindow: 50000, maxOutputTokens: 700}}
  team:
    kind: openai-compatible
    baseURL: http://127.0.0.1:8000/v1
    keyEnv: TEAM_KEY
    contextWindowBufferTokens: 0
    models: {small: {contextWindow: 4000}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := proxyFlags{policy: "balanced", usage: usageActual, summaries: summariesCode, compactions: compactionsPass, config: file, listen: defaultListen, windows: []string{"openai/gpt-5=20k", "qwen3=32k"}, upstreams: []string{"openai=https://gateway.example/v1"}}
	h, err := f.host()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[[2]string]budget.Window{
		{"openai", "gpt-5"}:   {Capacity: 20000, OutputReserve: 700},
		{"other", "gpt-5"}:    {},
		{"ollama", "qwen3"}:   {Capacity: 32000},
		{"team", "small"}:     {Capacity: 4000, Buffer: budget.None},
		{"gemini", "unheard"}: {Capacity: 9000},
	} {
		if want.OutputReserve == 0 {
			want.OutputReserve = 900
		}
		if got := h.window(name[0], name[1]); got != want {
			t.Errorf("%v: got %+v, want %+v", name, got, want)
		}
	}
	t.Run("R001-25_R000-24_settings_of_outputs_act", func(t *testing.T) {
		text := "defaults: {toolResponseMaxBytes: 700}\ntoolOutputCache: {contextBudgetTokens: 9000}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int{"guard": 700, "cache-compact": 9000} {
			f.policy = name
			h, err := f.host()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(h.policy.Rules, func(r policy.Rule) bool { return r.When.Value == want && r.When.Permille == 0 }) {
				t.Errorf("%s: got %+v", name, h.policy.Rules)
			}
		}
	})
	ups, err := f.allUpstreams(h.settings)
	if err != nil || len(ups) != 2 {
		t.Fatalf("got %v, %v", ups, err)
	}
	if team := ups[0]; team.Provider.Name != "team" || team.Provider.Credentials[0].Env != "TEAM_KEY" || team.Base.String() != "http://127.0.0.1:8000/v1" {
		t.Errorf("got %+v", team)
	}
	if over := ups[1]; over.Provider.Name != "openai" || over.Provider.Credentials[0].Env != "OPENAI_API_KEY" || over.Base.Host != "gateway.example" {
		t.Errorf("got %+v", over)
	}
	for upstream, cert := range map[string]string{"http://localhost:8790/v1": "", "https://localhost:8790/v1": "cert.pem"} {
		f := proxyFlags{listen: defaultListen, tlsCert: cert, upstreams: []string{"openai=" + upstream}}
		if _, err := f.allUpstreams(h.settings); err == nil || !strings.Contains(err.Error(), "is the proxy itself") {
			t.Errorf("%s: %v, want that it is the proxy itself", upstream, err)
		}
	}
}
