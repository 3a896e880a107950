package token_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestText(t *testing.T) {
	tests := []struct {
		id, text string
		want     int
	}{
		{"chars/4", "", 0},
		{"chars/4", "a", 1},
		{"chars/4", "abcd", 1},
		{"chars/4", "abcde", 2},
		{"chars/4", "日本語", 1},
		{"chars/4", "日本語字体", 2},
		{"chars/4", "😀😀😀", 2}, // 6 UTF-16 units
		{"approximate", "abcde", 2},
		{"bytes/4", "日本語", 3},
		{"bytes/4", "abcde", 2},
		{"bytes/4+10", "abcde", 11},
		{"runes*2/5", "abcd", 1},
		{"runes*2/5", "abcde", 2},
		{"runes*2/5", "日本語字体", 2},
		{"max(chars/4,bytes/4)", "日本語", 3},
		{"max(chars/4,max(bytes/4,runes*2/5))", strings.Repeat("a", 100), 40},
	}
	for _, tt := range tests {
		t.Run("R000-18 "+tt.id+" "+tt.text, func(t *testing.T) {
			if got := counter(t, tt.id).Text(tt.text); got != tt.want {
				t.Errorf("%s of %q = %d, want %d", tt.id, tt.text, got, tt.want)
			}
		})
	}
}

func TestLayeredEstimate(t *testing.T) {
	c := counter(t, "bytes/4+10")
	t.Run("R002-3 10 a block", func(t *testing.T) {
		m := llm.Message{Parts: []llm.Part{
			llm.Text{Text: strings.Repeat("x", 43)},                                                      // 10 + 10
			llm.ToolCall{CallID: "abcd", Name: "read", Args: `{"path":"y"}`},                             // (4+4+12)/4 + 10
			llm.ToolResult{CallID: "abcd", Content: []llm.Part{llm.Text{Text: strings.Repeat("x", 40)}}}, // 44/4 + 10
		}}
		if got, want := c.Message(m), 20+15+21; got != want {
			t.Errorf("message = %d, want %d", got, want)
		}
	})
	t.Run("R002-3 a tool", func(t *testing.T) {
		tools := []llm.Tool{{Name: "read_x", Description: "1234567", Schema: "12345678901"}} // 1 + 1 + 2 + 30
		if got := c.Tools(tools); got != 34 {
			t.Errorf("tool = %d, want 34", got)
		}
	})
	t.Run("R002-3 a prompt", func(t *testing.T) {
		if got := token.SizeOfSection(c, llm.Section{Text: strings.Repeat("x", 401)}).Tokens; got != 110 {
			t.Errorf("prompt of 401 bytes = %d, want 110", got)
		}
	})
}

func TestTurnBudgetEstimate(t *testing.T) {
	c := counter(t, "runes*2/5")
	call := llm.ToolCall{CallID: "call_1", Name: "read_file", Args: `{"p":"é"}`}
	image := llm.Media{Type: "image/png", Width: 2000, Height: 2000, Size: 1 << 20}
	tests := []struct {
		name string
		m    llm.Message
		want int
	}{
		{"R003-11 runes and 12 a message", text("héllo wörld"), (11 + 12) * 2 / 5},
		{"R003-11 an empty message has its 12", text(""), 12 * 2 / 5},
		{"R003-11 reasoning", llm.Message{Parts: []llm.Part{llm.Thinking{Text: "hm hm", Signature: strings.Repeat("s", 900)}}}, (5 + 12) * 2 / 5},
		{"R003-11 id, type, name and arguments of a call", llm.Message{Parts: []llm.Part{call}}, (6 + 8 + 9 + 9 + 12) * 2 / 5},
		{"R003-11 id of a result", llm.Message{Parts: []llm.Part{llm.ToolResult{CallID: "call_1", Content: []llm.Part{llm.Text{Text: "ok"}}}}}, (6 + 2 + 12) * 2 / 5},
		{"R003-11 media flat, after the division", llm.Message{Parts: []llm.Part{llm.Text{Text: "see"}, image, image}}, (3+12)*2/5 + 512},
		{"R003-11 one division a message", llm.Message{Parts: []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "b"}, llm.Text{Text: "c"}}}, (3 + 12) * 2 / 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.Message(tt.m); got != tt.want {
				t.Errorf("message = %d, want %d", got, tt.want)
			}
		})
	}
	t.Run("R003-12 tools", func(t *testing.T) {
		tools := []llm.Tool{{Name: "ab", Description: "cde", Schema: "fghi"}, {Name: "j"}}
		if got, want := c.Tools(tools), (9+20+1+20)*2/5; got != want {
			t.Errorf("tools = %d, want %d", got, want)
		}
		if got := c.Tools(nil); got != 0 {
			t.Errorf("no tools = %d, want 0", got)
		}
	})
	t.Run("R003-11 20 a system part", func(t *testing.T) {
		if got, want := token.SizeOfSection(c, llm.Section{Text: "12345"}).Tokens, 25*2/5; got != want {
			t.Errorf("system part = %d, want %d", got, want)
		}
	})
}

// A rule by family, never the text of a media.
func TestMedia(t *testing.T) {
	message := func(m llm.Media) llm.Message { return llm.Message{Parts: []llm.Part{m}} }
	tests := []struct {
		id    string
		media llm.Media
		want  int
	}{
		{"claude:claude-opus-4-6", llm.Media{Type: "image/png", Width: 512, Height: 320}, 228},
		{"claude:claude-opus-4-6", llm.Media{Type: "image/png", Width: 3136, Height: 1568}, 1568}, // 56 x 28 patches of 1,568 x 784
		{"tiktoken:gpt-5.5", llm.Media{Type: "image/png", Width: 1440, Height: 1000}, 1728},
		{"tiktoken:gpt-5.5", llm.Media{Type: "image/jpeg", Size: 1 << 20}, 3000},
		{"tiktoken:gpt-4o", llm.Media{Type: "image/png", Width: 3000, Height: 2000, Detail: "low"}, 85},
		{"tiktoken:gpt-4o-mini", llm.Media{Type: "image/png", Width: 1000, Height: 1000, Detail: "high"}, 25501},
		{"gemini", llm.Media{Type: "image/png", Width: 300, Height: 300}, 1120},
		{"gemini-2.5-pro", llm.Media{Type: "image/png", Width: 1000, Height: 700}, 516},
		{"chars/4", llm.Media{Type: "image/png", Width: 512, Height: 320, Tokens: 99}, 99},
		{"pieces", llm.Media{Type: "application/pdf", Size: 250_000}, 3 * 1645},
		{"pieces", llm.Media{}, 4829},
	}
	for _, tt := range tests {
		c := counter(t, tt.id)
		size := token.SizeOf(c, message(tt.media))
		if size.MediaTokens != tt.want || size.Tokens != 0 {
			t.Errorf("%s of %+v = %d tokens of media and %d of text, want %d and 0", tt.id, tt.media, size.MediaTokens, size.Tokens, tt.want)
		}
	}
}

func TestKind(t *testing.T) {
	want := map[string]token.Kind{
		"tiktoken:o200k_base": token.Exact, "tiktoken:gpt-4": token.Exact, "chars/4": token.Estimated, "pieces": token.Estimated,
		"gemini": token.Estimated, "anthropic": token.Estimated, "max(tiktoken:gpt-4o,tiktoken:gpt-4)": token.Exact,
		"max(tiktoken:gpt-4o,chars/4)": token.Estimated,
	}
	for id, kind := range want {
		if got := counter(t, id).Kind(); got != kind {
			t.Errorf("kind of %s = %v, want %v", id, got, kind)
		}
	}
	if got := familyCounter(t, "gemini").Kind(); got != token.Estimated {
		t.Errorf("another family's encoding is %v, want estimated", got)
	}
	if got := familyCounter(t, "openai").Kind(); got != token.Exact {
		t.Errorf("a family's own encoding is %v, want exact", got)
	}
}

func TestTiktoken(t *testing.T) {
	const sample = "func main() { fmt.Println(\"hello, wörld\") }"
	o200k, err := load("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"tiktoken:o200k_base", "tiktoken:gpt-4o", "tiktoken:openai/gpt-5.5", "tiktoken:o200k_harmony"} {
		if got, want := counter(t, id).Text(sample), o200k.Count(sample); got != want {
			t.Errorf("%s = %d, want %d", id, got, want)
		}
	}
	if got, want := counter(t, "gemini").Text(sample), (o200k.Count(sample)*1060+999)/1000; got != want {
		t.Errorf("gemini = %d, want %d", got, want)
	}
}

func TestGenerations(t *testing.T) {
	sample := strings.Repeat("some ordinary words of a text ", 40)
	raw := counter(t, "pieces").Text(sample)
	for id, prior := range map[string]int{
		"claude:claude-opus-4-5": 1043, "claude:claude-opus-5": 1348, "anthropic": 1348, "claude:": 1348, "claude:claude-next-9": 1348,
	} {
		if got, want := counter(t, id).Text(sample), (raw*prior+999)/1000; got != want {
			t.Errorf("%s = %d, want %d raw x %d permille = %d", id, got, raw, prior, want)
		}
	}
}

// Thinking of which only a summary can be read is counted by its signature,
// where the estimator stands for a model; the documents count what can be read.
func TestHiddenThinking(t *testing.T) {
	m := llm.Message{Parts: []llm.Part{llm.Thinking{Text: "short", Signature: strings.Repeat("s", 4000)}}}
	if got := counter(t, "claude:claude-opus-5").Message(m); got < 950 || got > 1100 {
		t.Errorf("new generation: 4000 bytes = %d tokens, want about 1024", got)
	}
	if got := counter(t, "claude:claude-opus-4-5").Message(m); got < 800 || got > 900 {
		t.Errorf("old generation: 4000 bytes = %d tokens, want about 855", got)
	}
	if got := counter(t, "tiktoken:gpt-5.5").Message(m); got != (4000-867)*188/1000 {
		t.Errorf("(4000 x 3/4 - 650) / 4 is about 588, got %d", got)
	}
	if got := counter(t, "chars/4").Message(m); got != 2 {
		t.Errorf("chars/4 = %d, want 2", got)
	}
}

func TestEstimatorProperties(t *testing.T) {
	ids := []string{
		"chars/4", "bytes/4", "bytes/4+10", "runes*2/5", "pieces", "tiktoken:o200k_base", "anthropic", "claude:claude-sonnet-4",
		"gemini", "max(chars/4,bytes/4+10)",
	}
	for _, id := range ids {
		c, err := token.NewCounter(id, load)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			m := anyMessage().Draw(t, "message")
			size := token.SizeOf(c, m)
			if c.Message(m) != size.All() {
				t.Fatalf("%s: Message = %d, SizeOf = %+v", id, c.Message(m), size)
			}
			if size.Tokens < 0 || size.MediaTokens < 0 || size.Bytes <= 0 || size.Messages != 1 {
				t.Fatalf("%s: size %+v", id, size)
			}
			more := m.WithParts(append(slices.Clone(m.Parts), llm.Text{Text: "and more words"}))
			if c.Message(more) <= c.Message(m) {
				t.Fatalf("%s: a longer message is not larger: %d, %d", id, c.Message(more), c.Message(m))
			}
		})
	}
}

// The tokens of a part are those of its size, of any counter.
func TestTokensOfPart(t *testing.T) {
	for _, id := range []string{"chars/4", "bytes/4+10", "pieces", "anthropic", "runes*2/5", "max(pieces,chars/4)"} {
		c := counter(t, id)
		for name, c := range map[string]token.Counter{id: c, "foreign " + id: struct{ token.Counter }{c}} {
			rapid.Check(t, func(t *rapid.T) {
				for _, p := range anyMessage().Draw(t, "message").Parts {
					of := token.SizeOfPart(c, p)
					want := token.Size{Tokens: of.Tokens, MediaTokens: of.MediaTokens}
					if got := token.TokensOfPart(c, p); got != want {
						t.Fatalf("%s: %T has %+v, want %+v", name, p, got, want)
					}
				}
			})
		}
	}
}

// Parts add up to a message where the estimator rounds by part.
func TestPartsAddUp(t *testing.T) {
	for _, id := range []string{"chars/4", "bytes/4", "bytes/4+10", "pieces", "anthropic"} {
		c := counter(t, id)
		rapid.Check(t, func(t *rapid.T) {
			m := anyMessage().Draw(t, "message")
			sum := 0
			for _, p := range m.Parts {
				sum += token.SizeOfPart(c, p).All()
			}
			if got := c.Message(m); got != sum {
				t.Fatalf("%s: message = %d, its parts = %d", id, got, sum)
			}
		})
	}
}
