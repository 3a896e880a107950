package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestEfforts runs what is asked of efforts.
func TestEfforts(t *testing.T) {
	t.Run("R000-27_effort_of_models", effortOfModels)
	t.Run("R000-27_efforts_of_all_models", effortOfAllModels)
}

func effortOfModels(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	word := func(w string) llm.Effort { return llm.Effort{Word: w} }
	for _, tt := range []struct {
		model, word string
		output      int
		want        llm.Effort
	}{
		{"claude-sonnet-4-5", "high", 64_000, llm.Effort{Budget: 16_384}},
		{"claude-sonnet-4-5-20250929", "high", 8_000, llm.Effort{Budget: 4_000}}, // half of the reply
		{"claude-sonnet-4-5", "low", 1_500, llm.Effort{}},                        // too little for an answer as well
		{"claude-sonnet-4-5", "none", 8_000, llm.Effort{}},                       // it does not think unless it is asked
		{"claude-opus-4-6", "minimal", 8_000, word("low")},
		{"claude-opus-5-5", "high", 0, word("high")},
		{"claude-3-5-haiku", "high", 8_000, llm.Effort{}}, // it cannot
		{"gpt-5", "none", 0, word("minimal")},
		{"gpt-5-mini", "minimal", 0, word("minimal")},
		{"gpt-5.1", "none", 0, word("none")},
		{"gpt-5.6-luna", "minimal", 0, word("low")},
		{"gpt-5-chat", "high", 0, llm.Effort{}},
		{"gpt-5.2-chat", "high", 0, llm.Effort{}},
		{"gpt-4o", "high", 0, llm.Effort{}},
		{"o3-mini", "none", 0, word("low")},
		{"gemini-2.5-flash", "none", 0, llm.Effort{Off: true}},
		{"gemini-2.5-pro", "none", 8_000, llm.Effort{Budget: 128}},
		{"gemini-2.5-pro", "high", 65_536, llm.Effort{Budget: 24_576}},
		{"gemini-3-pro", "medium", 0, word("high")},
		{"gemini-3.5-flash", "none", 0, word("minimal")},
		{"mystery", "high", 0, llm.Effort{}},
		{"gpt-5", "hard", 0, llm.Effort{}},
		{"gpt-5", "", 0, llm.Effort{}},
	} {
		if got := c.EffortOf(tt.model, tt.word, tt.output); got != tt.want {
			t.Errorf("%s %s in %d tokens: got %+v, want %+v", tt.model, tt.word, tt.output, got, tt.want)
		}
	}
}

// effortOfAllModels: every model that thinks, of the makers whose forms the table has, can be asked, but for those of
// a chat window.
func effortOfAllModels(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range c.Models() {
		if m.Capabilities.Reasoning && slices.Contains([]string{"anthropic", "openai", "gemini"}, m.Cache) && !strings.HasSuffix(m.ID, "-chat") {
			n++
			if c.EffortOf(m.ID, "high", 100_000) == (llm.Effort{}) {
				t.Errorf("%s thinks, and nobody knows how it is asked", m.ID)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d models, the test tests nothing", n)
	}
}
