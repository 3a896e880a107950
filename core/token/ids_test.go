package token_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

func TestNewCounter(t *testing.T) {
	for _, id := range []string{
		"tiktoken:cl100k_base", "tiktoken:gpt-4", "anthropic", "claude:", "claude:claude-opus-4-5", "gemini", "google:gemini", "google-gemini", "approximate",
		"anthropic:claude-opus-4-5", "anthropic/claude-sonnet-4-5", "gemini-2.5-pro", "google:gemini-2.5-pro", "google-gemini-2.5-flash",
		"google-gemini:gemini-2.5-pro", "google:gemini-9-unheard-of", "claude:unheard-of",
	} {
		t.Run("R000-19 "+id, func(t *testing.T) {
			c := counter(t, id)
			if c.ID() != id {
				t.Errorf("id = %q, want %q", c.ID(), id)
			}
			if n := c.Text("a few words"); n < 2 || n > 8 {
				t.Errorf("%q has %d tokens", "a few words", n)
			}
		})
	}
	if got := counter(t, " max( chars/4 , max(bytes/4,pieces) ) ").ID(); got != "max(chars/4,max(bytes/4,pieces))" {
		t.Errorf("id = %q", got)
	}
}

// TestMakerPrefixes: what stands behind a maker is the model that is counted for; one that
// nobody knows counts like the maker's newest.
func TestMakerPrefixes(t *testing.T) {
	const text = "Read the file internal/server/handler.go, lines 120 to 180, and say why it fails."
	for id, same := range map[string]string{
		"google:gemini-2.5-pro":              "gemini",
		"google-gemini-2.5-pro":              "gemini",
		"gemini-3-unheard-of":                "gemini",
		"gemini:unheard-of":                  "gemini",
		"anthropic:claude-sonnet-4-5":        "claude:claude-sonnet-4-5",
		"anthropic/claude-sonnet-4-5":        "claude:claude-sonnet-4-5",
		"anthropic-claude-sonnet-4-5":        "claude:claude-sonnet-4-5",
		"anthropic:unheard-of":               "anthropic",
		"claude:unheard-of":                  "anthropic",
		"max(chars/4,google:gemini-2.5-pro)": "max(chars/4,gemini)",
	} {
		t.Run("R000-19 "+id, func(t *testing.T) {
			c := counter(t, id)
			if got, want := c.Text(text), counter(t, same).Text(text); got != want || c.ID() != id || c.Kind() != token.Estimated {
				t.Errorf("want %d tokens as by %s, got %d by %s, %v", want, same, got, c.ID(), c.Kind())
			}
		})
	}
	for _, id := range []string{"gemini-", "geminis", "google:gemini:", "anthropic2", "google:", "google", "claude"} {
		var unknown *token.UnknownError
		if _, err := token.NewCounter(id, load); !errors.As(err, &unknown) {
			t.Errorf("%q: want an UnknownError, got %v", id, err)
		}
	}
}

func TestUnknownEstimators(t *testing.T) {
	tests := []struct{ id, part, nearest string }{
		{"", "", ""},
		{"char/4", "char/4", "chars/4"},
		{"bytes/4+1", "bytes/4+1", "bytes/4+10"},
		{"antropic", "antropic", "anthropic"},
		{"tiktoken:no-such-model", "tiktoken:no-such-model", ""},
		{"tiktoken:", "tiktoken:", "tiktoken:X"},
		{"hf:", "hf:", ""},
		{"max(chars/4)", "max(chars/4)", ""},
		{"max(chars/4,bytes/4", "max(chars/4,bytes/4", ""},
		{"max(chars/4,nonsense-of-some-length)", "nonsense-of-some-length", ""},
		{"max(,)", "", ""},
		{strings.Repeat("max(", 200), strings.Repeat("max(", 200), ""},
		{strings.Repeat("max(chars/4,", 9) + "pieces" + strings.Repeat(")", 9), "max(chars/4,pieces)", ""},
		{strings.Repeat("x", 4000), strings.Repeat("x", 4000), ""},
	}
	for _, tt := range tests {
		_, err := token.NewCounter(tt.id, load)
		var unknown *token.UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("NewCounter(%.40q): %v, want an UnknownError", tt.id, err)
			continue
		}
		if unknown.ID != tt.part || !slices.Equal(unknown.Known, token.EstimatorIDs()) {
			t.Errorf("NewCounter(%.40q): not known is %.40q, want %.40q", tt.id, unknown.ID, tt.part)
		}
		if tt.nearest != "" && unknown.Nearest != tt.nearest {
			t.Errorf("NewCounter(%.40q): nearest is %q, want %q", tt.id, unknown.Nearest, tt.nearest)
		}
		if len(err.Error()) > 600 || !strings.Contains(err.Error(), "runes*2/5") {
			t.Errorf("the message lists the known ids and stays short: %s", err)
		}
	}
}

func TestEstimatorsFromFiles(t *testing.T) {
	for _, id := range []string{"hf:tokenizer.json", "spm:some/tokenizer.model", "max(chars/4,hf:x)"} {
		_, err := token.NewCounter(id, load)
		if !errors.Is(err, token.ErrNeedsFile) || !strings.Contains(err.Error(), "tokenizers") {
			t.Errorf("NewCounter(%q): %v, want ErrNeedsFile", id, err)
		}
	}
}

func TestEncodingsThatFail(t *testing.T) {
	broken := errors.New("vocabulary is broken")
	_, err := token.NewCounter("max(chars/4,tiktoken:gpt-4o)", func(string) (*bpe.Encoding, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the loader", err)
	}
	for _, load := range []token.Encodings{nil, func(string) (*bpe.Encoding, error) { return nil, nil }} {
		if c, err := token.NewCounter("gemini", load); err == nil {
			t.Errorf("got the counter %v without an encoding", c.ID())
		}
	}
	if _, err := token.NewCounter("claude:claude-opus-5", nil); err != nil {
		t.Errorf("an estimator without an encoding needs no loader: %v", err)
	}
}

// Whatever the id, there is a counter with a stable id, or an error.
func FuzzNewCounter(f *testing.F) {
	for _, id := range token.EstimatorIDs() {
		f.Add(id)
	}
	f.Add("max(max(chars/4,pieces),tiktoken:gpt-4o)")
	f.Add("claude:us.anthropic.claude-sonnet-4-5-20250929-v1:0")
	f.Fuzz(func(t *testing.T, id string) {
		c, err := token.NewCounter(id, load)
		if err != nil {
			if c != nil {
				t.Fatalf("%q: a counter and an error", id)
			}
			return
		}
		again, err := token.NewCounter(c.ID(), load)
		if err != nil || again.ID() != c.ID() {
			t.Fatalf("%q: its id %q does not make the same counter: %v", id, c.ID(), err)
		}
		if n := c.Text(id); n <= 0 || n != again.Text(id) {
			t.Fatalf("%q: %d tokens, then %d", id, n, again.Text(id))
		}
	})
}

// A vocabulary that a user brings is asked for by the whole id, and counts like an embedded one, alone and in max(a,b).
func TestOutsideVocabulary(t *testing.T) {
	asked := ""
	load := func(name string) (*bpe.Encoding, error) {
		asked = name
		return bpe.Cl100kBase()
	}
	for _, id := range []string{"hf:models/my tokenizer.json", "max(chars/4,hf:models/my tokenizer.json)"} {
		c, err := token.NewCounter(id, load)
		if err != nil {
			t.Fatal(err)
		}
		if asked != "hf:models/my tokenizer.json" || c.ID() != id || c.Text("a b c d") != 4 {
			t.Errorf("%s: asked for %q, counts %d, want 4", c.ID(), asked, c.Text("a b c d"))
		}
	}
	if _, err := token.NewCounter("hf:x", bpe.Load); !errors.Is(err, token.ErrNeedsFile) {
		t.Errorf("error = %v, want ErrNeedsFile from what knows embedded vocabularies only", err)
	}
}
