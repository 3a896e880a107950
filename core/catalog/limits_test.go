package catalog

import "testing"

// Where a list mixes the window up with something else, the tables have what the maker's API
// takes. Sources: Anthropic's model overview; OpenAI's model pages and its refusals ("Input
// tokens exceed the configured limit of 272000 tokens"); models.dev, limit.input; xAI's page on
// Grok 4.20.
func TestLimitsOfModels(t *testing.T) {
	c := load(t)
	tests := []struct {
		id             string
		window, input  int
		output         int
		insteadOfWhich string
	}{
		{"claude-opus-4-6", 1_000_000, 0, 128_000, "200,000, the default of a client"},
		{"claude-sonnet-4-6", 1_000_000, 0, 64_000, "200,000, the default of a client"},
		{"anthropic.claude-sonnet-4-6-v1:0", 1_000_000, 0, 64_000, "the same, as a cloud names it"},
		{"claude-sonnet-4-5", 200_000, 0, 64_000, ""},
		{"claude-haiku-4-5", 200_000, 0, 64_000, ""},
		{"claude-opus-4-7", 1_000_000, 0, 128_000, ""},
		{"gpt-5-chat-latest", 128_000, 0, 16_384, "400,000 of gpt-5"},
		{"gpt-5.2-chat-latest", 128_000, 0, 16_384, ""},
		{"gpt-5", 400_000, 272_000, 128_000, "400,000 as the most of a prompt"},
		{"gpt-5-mini-2025-08-07", 400_000, 272_000, 128_000, "the same"},
		{"gpt-5-pro", 400_000, 272_000, 272_000, "the same"},
		{"gpt-5.3-codex", 400_000, 272_000, 128_000, "the same"},
		{"gpt-5.3-codex-spark", 128_000, 100_000, 32_000, "the same"},
		{"gpt-5.4", 1_050_000, 922_000, 128_000, "1,050,000 as the most of a prompt"},
		{"gpt-5.6-sol", 1_050_000, 922_000, 128_000, "the same"},
		{"gpt-6-astra", 1_050_000, 922_000, 128_000, "the same"},
		{"gpt-4.1", 1_047_576, 0, 32_768, ""},
		{"gpt-4o", 128_000, 0, 16_384, ""},
		{"gpt-3.5-turbo-0613", 4_096, 0, 4_096, "16,385 of its successor"},
		{"gemini-2.5-pro", 1_048_576, 0, 65_536, ""},
		{"grok-4.20-non-reasoning", 1_000_000, 0, 30_000, "200,000, up to which a prompt is cheap"},
	}
	for _, tt := range tests {
		m, ok := c.Lookup(tt.id)
		if !ok || m.Window != tt.window || m.MaxInput != tt.input || m.MaxOutput != tt.output {
			t.Errorf("%s: window %d, input %d, output %d, want %d, %d, %d (not %s)",
				tt.id, m.Window, m.MaxInput, m.MaxOutput, tt.window, tt.input, tt.output, tt.insteadOfWhich)
		}
	}
	for _, m := range c.Models() {
		if m.MaxInput >= m.Window && m.MaxInput > 0 || m.MaxOutput > m.Window {
			t.Errorf("%s: input %d and output %d in a window of %d", m.ID, m.MaxInput, m.MaxOutput, m.Window)
		}
	}
}

// A user's own window is not limited by the most input of another one.
func TestOwnWindow(t *testing.T) {
	c := load(t).With(Model{ID: "gpt-5", Window: 1_000_000}, Model{ID: "gpt-5-mini", Window: 300_000}, Model{ID: "gpt-5-nano", MaxInput: 300_000})
	for id, want := range map[string]int{"gpt-5": 0, "gpt-5-mini": 272_000, "gpt-5-nano": 300_000} {
		if m, _ := c.Lookup(id); m.MaxInput != want {
			t.Errorf("%s: %d, want %d", id, m.MaxInput, want)
		}
	}
}

func TestWindowOf(t *testing.T) {
	c := load(t)
	tests := []struct {
		name, client, model string
		stated, accepted    int
		want                SessionWindow
	}{
		{"the model's", "pi", "claude-opus-4-6", 0, 150_000, SessionWindow{1_000_000, 0}},
		{"the client's default", "claude-code", "claude-opus-4-6-20260205", 0, 190_000, SessionWindow{200_000, 0}},
		{"a name that asks for more", "claude-code", "claude-opus-4-6[1m]", 0, 190_000, SessionWindow{1_000_000, 0}},
		{"a plan that allows more", "claude-code", "claude-sonnet-4-6", 0, 212_345, SessionWindow{1_000_000, 200_000}},
		{"a client without another default", "claude-code", "claude-opus-4-7", 0, 10, SessionWindow{1_000_000, 0}},
		{"more than the catalogue has", "pi", "gpt-4o", 0, 130_000, SessionWindow{130_000, 128_000}},
		{"the file's", "codex", "gpt-5.5", 258_400, 250_000, SessionWindow{258_400, 0}},
		{"more than the file's", "codex", "gpt-5.5", 258_400, 260_000, SessionWindow{260_000, 258_400}},
		{"just the window", "pi", "gpt-4o", 0, 128_000, SessionWindow{128_000, 0}},
		{"nobody's", "pi", "no such model", 0, 500_000, SessionWindow{}},
	}
	for _, tt := range tests {
		if got := c.WindowOf(tt.client, tt.model, tt.stated, tt.accepted); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
