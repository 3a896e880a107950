package catalog

import (
	"strings"
	"testing"
)

// The sizes are those of the providers' guides, where these have an example.
func TestImageTokens(t *testing.T) {
	c := load(t)
	tests := []struct {
		model         string
		width, height int
		detail        string
		want          int
	}{
		{"claude-opus-4-6", 512, 320, "", 19 * 12},
		{"claude-sonnet-4-5-20250929", 166, 282, "", 6 * 11},
		{"claude-opus-4-6", 3000, 2000, "", 1568},
		{"anthropic/claude-opus-4.5", 3136, 784, "", 56 * 14}, // scaled to 1,568 x 392
		{"claude-opus-4-7", 1920, 1080, "", 69 * 39},
		{"claude-opus-5", 3000, 2000, "", 4784},
		{"claude-opus-5", 3840, 2160, "", 92 * 52},
		{"claude-sonnet-5", 3000, 2000, "low", 4784}, // no such setting
		{"claude-opus-9", 3000, 2000, "", 4784},
		{"claude-opus-5", 0, 2000, "", 4784},
		{"claude-haiku-4-5", -1, -1, "", 1568},
		{"gpt-4o", 1024, 1024, "high", 765},
		{"gpt-4o", 2048, 4096, "high", 1105},
		{"gpt-4o", 34, 30, "", 255}, // never enlarged
		{"gpt-4o", 3000, 2000, "low", 85},
		{"gpt-4o-2024-11-20", 3000, 2000, "low", 85},
		{"gpt-4o-mini", 1000, 1000, "high", 25501},
		{"gpt-4o-mini-2024-07-18", 1000, 1000, "low", 2833},
		{"gpt-4.1", 1024, 1024, "", 765},
		{"gpt-4.1-mini", 1024, 1024, "", 1659},
		{"gpt-4.1-mini", 1800, 2400, "", 2353}, // 33 x 44 patches
		{"gpt-4.1-nano", 1024, 1024, "", 2520},
		{"o4-mini", 1024, 1024, "", 1762},
		{"gpt-5", 1024, 1024, "", 630},
		{"gpt-5-chat-latest", 1024, 1024, "low", 70},
		{"gpt-5-mini", 1024, 1024, "", 1659},
		{"gpt-5.1-codex", 1024, 1024, "", 630},
		{"gpt-5.1-codex-mini", 1024, 1024, "", 1659},
		{"o3", 1024, 1024, "", 675},
		{"gpt-5.2-codex", 1024, 1024, "", 1229},
		{"gpt-5.2", 4096, 4096, "", 1826}, // 39 x 39 patches of 1,536
		{"gpt-5.4", 4000, 2500, "", 2949}, // 63 x 39 patches of 2,500, as 64 x 40 are more
		{"gpt-5.4", 4000, 2500, "original", 11850},
		{"gpt-5.4-mini", 1024, 1024, "", 1659},
		{"gpt-5.5", 1440, 1000, "high", 1728},
		{"gpt-5.5", 1440, 1000, "", 1728},
		{"gpt-5.6-sol", 4000, 2500, "", 11850},
		{"gpt-5.6-sol", 4000, 2500, "low", 192},
		{"gpt-6.1", 1 << 62, 1 << 62, "", 36000},
		{"gpt-5.6", 0, 0, "", 3000},
		{"o200k_base", 1, 1, "auto", 2},
		{"gemini-2.5-flash", 384, 384, "", 258},
		{"gemini-2.5-pro", 1536, 768, "", 516},
		{"gemini-2.5-pro", 1536, 768, "low", 64},
		{"gemini-3-flash-preview", 64, 64, "", 1120},
		{"gemini-3.1-pro", 4000, 3000, "low", 280},
		{"gemini-4-argon", 4000, 3000, "original", 2240},
		{"nobody knows this", 512, 320, "", 19*12 + 45},
		{"nobody knows this", 1 << 62, 1 << 62, "", 4829},
	}
	for _, tt := range tests {
		if got := c.FamilyOf(tt.model).Image.Tokens(tt.width, tt.height, tt.detail); got != tt.want {
			t.Errorf("%s %d x %d %s = %d, want %d", tt.model, tt.width, tt.height, tt.detail, got, tt.want)
		}
	}
}

// Every rule holds for a model, has a fallback within what it can say, and counts
// more for a larger image.
func TestImageRules(t *testing.T) {
	c := load(t)
	for _, r := range c.images {
		used := len(r.models) > 0
		for _, f := range c.Families() {
			used = used || f.Image == r.ImageRules
		}
		if !used {
			t.Errorf("rule %s is nobody's", r.name)
		}
		for _, detail := range []string{"", "low", "medium", "high", "original"} {
			before := 0
			for side := 1; side < 12000; side = side*5/4 + 1 {
				n := r.Tokens(side, side, detail)
				if n <= 0 || n*10 < before*9 { // a size that divides badly may cost less
					t.Errorf("%s %s: %d tokens at %d pixels, %d at less", r.name, detail, n, side, before)
				}
				before = max(before, n)
			}
			if n := r.Tokens(0, 0, detail); n <= 0 {
				t.Errorf("%s %s: %d tokens for an image of unknown size", r.name, detail, n)
			}
		}
	}
}

func TestFaultyImages(t *testing.T) {
	for _, line := range []string{
		"a, -, 28, 1, 1, 0, 0, 0, 0, shrink, 1, 1, -",
		"a, tiny, 28, 1, 1, 0, 0, 0, 0, -, 1, 1, -",
		"a, -, 28, 1, 1, 0, 0, 0, 0, -, 1, 1, -\na, -, 28, 1, 1, 0, 0, 0, 0, -, 1, 1, -",
		"a, -, 28, 1, 1, 0, 0, 0, 9, stretch, 1, 1, -",
	} {
		tables := embedded()
		tables.images += line + "\n"
		if _, err := parse(tables); err == nil || !strings.Contains(err.Error(), "images.csv") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
