package clienttest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// An agent is how a coding agent is set up and started.
type agent struct {
	client  string // the folder that scripts/clients made
	binary  string
	dialect llm.Dialect
	stream  bool
	files   func(url string) map[string]string // of its home
	env     func(url string) []string
	setup   func(url string) []string // arguments of a call that comes first; nil: there is none
	args    []string
	// compacts says that it shortens its history by its own count of it, whatever it is told.
	compacts bool
}

const (
	model = "scripted-model"
	key   = "dummy-key"
	// largeWindow is what clients are told that the model has: more than any task here needs, so
	// that they never compact by themselves.
	largeWindow = 2_000_000
	prompt      = "Please write proof.txt with your shell tool, then say that it is done."
)

func nothing(string) map[string]string { return nil }

// pi speaks four dialects; each has a base address of its own.
func pi(api, path string, d llm.Dialect) agent {
	return agent{
		client: "pi", binary: "pi", dialect: d, stream: true,
		files: func(url string) map[string]string {
			cost := map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
			entry := map[string]any{
				"id": model, "name": model, "reasoning": true, "input": []string{"text"}, "contextWindow": largeWindow, "maxTokens": 8192, "cost": cost,
			}
			loop := map[string]any{"baseUrl": url + path, "api": api, "apiKey": key, "models": []any{entry}}
			return map[string]string{".pi/agent/models.json": toJSON(map[string]any{"providers": map[string]any{"loop": loop}})}
		},
		env:  func(string) []string { return []string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"} },
		args: []string{"-p", "--mode", "json", "--provider", "loop", "--model", model, prompt},
	}
}

func codex() agent {
	return agent{
		client: "codex", binary: "codex", dialect: openai.DialectResponses, stream: true,
		files: func(url string) map[string]string {
			return map[string]string{".codex/config.toml": fmt.Sprintf(`model = %q
model_provider = "loop"
model_context_window = %d
tool_output_token_limit = 20000 # so that outputs of the tasks here come whole
check_for_update_on_startup = false

[model_providers.loop]
name = "loop"
base_url = %q
wire_api = "responses"
env_key = "LOOP_API_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[otel]
exporter = "none"

[features]
plugins = false
`, model, largeWindow, url+"/v1")}
		},
		env:  func(string) []string { return []string{"LOOP_API_KEY=" + key} },
		args: []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
	}
}

func geminiCLI() agent {
	return agent{
		client: "gemini", binary: "gemini", dialect: gemini.Dialect, stream: true,
		files: func(string) map[string]string {
			settings := map[string]any{
				"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
				"privacy":   map[string]any{"usageStatisticsEnabled": false},
				"telemetry": map[string]any{"enabled": false},
				"general":   map[string]any{"enableAutoUpdate": false},
			}
			return map[string]string{".gemini/settings.json": toJSON(settings)}
		},
		env: func(url string) []string {
			return []string{"GEMINI_API_KEY=" + key, "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		args: []string{"-m", "gemini-2.5-pro", "--yolo", "--output-format", "json", "-p", prompt},
	}
}

func grok() agent {
	return agent{
		client: "grok", binary: "grok", dialect: openai.DialectChat, files: nothing,
		env: func(url string) []string {
			return []string{"GROK_API_KEY=" + key, "GROK_BASE_URL=" + url + "/v1", "GROK_MODEL=" + model}
		},
		args: []string{"-p", prompt},
	}
}

func qwen() agent {
	return agent{
		client: "qwen", binary: "qwen", dialect: openai.DialectChat, stream: true,
		files: func(string) map[string]string {
			settings := map[string]any{
				"security":  map[string]any{"auth": map[string]any{"selectedType": "openai"}},
				"privacy":   map[string]any{"usageStatisticsEnabled": false},
				"telemetry": map[string]any{"enabled": false},
				"general":   map[string]any{"enableAutoUpdate": false},
			}
			return map[string]string{".qwen/settings.json": toJSON(settings)}
		},
		env: func(url string) []string {
			return []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=" + model}
		},
		args: []string{"--yolo", "--output-format", "text", "-p", prompt},
	}
}

func cline() agent {
	return agent{
		client: "cline", binary: "cline", dialect: openai.DialectChat, stream: true,
		files: func(string) map[string]string {
			settings := map[string]any{"telemetryOptOut": true, "autoUpdateEnabled": false}
			return map[string]string{".cline/data/settings/global-settings.json": toJSON(settings)}
		},
		// Without the second a daemon stays behind.
		env: func(string) []string { return []string{"CLINE_NO_AUTO_UPDATE=1", "CLINE_SESSION_BACKEND_MODE=local"} },
		setup: func(url string) []string {
			return []string{"auth", "-p", "openai", "-k", key, "-b", url + "/v1", "-m", model}
		},
		args: []string{"--json", "--auto-approve", "true", prompt}, compacts: true,
	}
}

func opencode() agent {
	return agent{
		client: "opencode", binary: "opencode", dialect: openai.DialectChat, stream: true,
		files: func(url string) map[string]string {
			loop := map[string]any{
				"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1", "apiKey": key},
				"models": map[string]any{model: map[string]any{"tool_call": true, "limit": map[string]int{"context": largeWindow, "output": 8192}}},
			}
			config := map[string]any{
				"autoupdate": false, "share": "disabled", "model": "loop/" + model, "small_model": "loop/" + model, "provider": map[string]any{"loop": loop},
			}
			return map[string]string{".config/opencode/opencode.json": toJSON(config)}
		},
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
		},
		args: []string{"run", "--format", "json", "-m", "loop/" + model, prompt},
	}
}

func TestAgents(t *testing.T) {
	prefix := installed(t)
	for _, c := range []struct {
		name  string
		agent agent
	}{
		{"pi_chat", pi("openai-completions", "/v1", openai.DialectChat)},
		{"pi_responses", pi("openai-responses", "/v1", openai.DialectResponses)},
		{"pi_anthropic", pi("anthropic-messages", "", anthropic.Dialect)},
		{"pi_gemini", pi("google-generative-ai", "/v1beta", gemini.Dialect)},
		{"codex", codex()},
		{"gemini_cli", geminiCLI()},
		{"grok_cli", grok()},
	} {
		t.Run(c.name, func(t *testing.T) { drive(t, prefix, c.agent) })
	}
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error() // of maps of texts and numbers: it does not fail
	}
	return string(text)
}
