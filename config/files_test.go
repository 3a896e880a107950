package config_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// What the working folder says about windows is laid over the user's file field by field;
// how a provider is reached is not mixed, so that no key goes where it was not sent.
func TestFindLimits(t *testing.T) {
	const own = "providers:\n  team: {kind: openai, baseURL: 'https://gateway.example', keyEnv: TEAM_KEY, contextWindow: 100k, contextWindowBufferTokens: 10, models: [a]}\ndefaults: {maxOutputTokens: 1, reasoning: low}\n"
	find := func(working string) (config.Settings, config.ProviderSettings) {
		s, err := config.FindSettings(folder(t, "plimsoll.yaml", working), folder(t, "plimsoll.yaml", own), knownLimits())
		if err != nil {
			t.Fatalf("%s\n%v", working, err)
		}
		p, _ := s.Provider("team")
		return s, p
	}
	t.Run("R000-24 limits", func(t *testing.T) {
		s, p := find("providers:\n  team: {contextWindow: 50k, models: {b: {maxOutputTokens: 9}}}\ndefaults: {reasoning: high}\n")
		if p.Kind != "openai" || p.KeyEnv != "TEAM_KEY" || p.BaseURL == "" || strings.Join(p.Models, " ") != "b a" {
			t.Errorf("the user's way to the provider is gone: %+v", p)
		}
		if p.Limits.ContextWindow.Value != 50_000 || p.Limits.ContextWindowBufferTokens.Value != 10 || len(p.ModelLimits) != 1 {
			t.Errorf("got %+v", p)
		}
		if s.Defaults.MaxOutputTokens.Value != 1 || s.Defaults.Reasoning.Value != config.ReasoningHigh {
			t.Errorf("got %+v", s.Defaults)
		}
	})
	t.Run("R000-24 another way to the provider", func(t *testing.T) {
		_, p := find("providers:\n  team: {kind: openai, baseURL: 'http://127.0.0.1:1'}\n")
		if p.KeyEnv != "" || p.Limits.ContextWindow.Set() || len(p.Models) > 0 {
			t.Errorf("got %+v, want the working folder's as a whole", p)
		}
	})
	_, err := config.FindSettings(folder(t, "plimsoll.yaml", "providers: {team: {contextWindow: 1}}"), "", knownLimits())
	if err == nil || !strings.Contains(err.Error(), "providers.team.kind: want one of") {
		t.Errorf("a provider that nobody describes: %v", err)
	}
}

// A tokenizer that a file in the working folder names for a provider or model lies below it.
func TestUntrustedLimits(t *testing.T) {
	for _, text := range []string{"providers: {openai: {tokenizer: 'hf:/etc/hostname'}}", "providers: {openai: {models: {m: {tokenizer: 'hf:../t.json'}}}}"} {
		known := known()
		if _, err := config.FindSettings(folder(t, "plimsoll.yaml", text), "", known); err == nil || !strings.Contains(err.Error(), "may only name a regular file below it") {
			t.Errorf("R000-19 %s: got %v", text, err)
		}
		if _, err := config.FindSettings("", folder(t, "plimsoll.yaml", text), known); err != nil {
			t.Errorf("%s of the user: %v", text, err)
		}
	}
}

// All faults of all files are there, and where was looked.
func TestCheckSettings(t *testing.T) {
	working, user := folder(t, "plimsoll.toml", "a = 1\nb = 2\n"), folder(t, "plimsoll.yaml", "c: 3\n")
	s, files := config.CheckSettings(working, user, knownLimits())
	if len(files) != 2 || !strings.HasPrefix(files[0].Path, working) || files[0].Err == nil || files[1].Err == nil || strings.Count(files[0].Err.Error(), "no such field") != 2 || s.Model != "" {
		t.Errorf("got %+v", files)
	}
	if _, err := config.FindSettings(working, user, knownLimits()); err == nil || err.Error() != files[0].Err.Error() {
		t.Errorf("FindSettings: got %v, want the first file's", err)
	}
	var found []string
	for _, f := range config.SettingsFiles(working, user) {
		if f.Found {
			found = append(found, f.Path)
		}
		if f.Working != strings.HasPrefix(f.Path, working) {
			t.Errorf("got %+v", f)
		}
	}
	if len(found) != 2 || len(config.SettingsFiles("", user)) != 2 {
		t.Errorf("got %v", found)
	}
	both := folder(t, "plimsoll.toml", "", "plimsoll.yaml", "")
	if _, files := config.CheckSettings(both, "", knownLimits()); len(files) != 1 || files[0].Path != both || files[0].Err == nil {
		t.Errorf("two files: %+v", files)
	}
	if s, files := config.CheckSettings("", folder(t), knownLimits()); len(files) != 0 || len(s.Providers) != 0 {
		t.Errorf("no file: %+v", files)
	}
}
