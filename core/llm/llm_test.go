package llm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Ref is "r" and the first 26 characters of the lower-case base32 of the SHA-256.
func TestRefOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		sum := sha256.Sum256(data)
		want := "r" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
		if got := llm.RefOf(data); string(got) != want {
			t.Fatalf("want %s, got %s", want, got)
		}
		if _, err := llm.ParseRef(want); err != nil {
			t.Fatal(err)
		}
	})
}

func TestParseRefKnowsTheAlphabet(t *testing.T) {
	for c := range 256 {
		s := "r" + strings.Repeat("a", 25) + string([]byte{byte(c)})
		want := 'a' <= c && c <= 'z' || '2' <= c && c <= '7'
		if _, err := llm.ParseRef(s); (err == nil) != want {
			t.Errorf("%q: got %v", s, err)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	good := string(llm.RefOf([]byte("x")))
	for _, s := range []string{"", "r", good[1:], good + "a", "R" + good[1:], good[:26] + "1", good[:26] + "A", strings.Repeat("r", 1000)} {
		if _, err := llm.ParseRef(s); err == nil {
			t.Errorf("%.40q: want an error, got none", s)
		}
	}
}

// Two messages with one digest say the same to a model: what it does not see
// makes no difference, everything else does.
func TestDigestOf(t *testing.T) {
	base := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.Text{Text: "hello"}, llm.ToolCall{CallID: "c1", Name: "read", Args: `{"path":"a"}`},
	}}
	digest := llm.DigestOf(base)
	same := map[string]llm.Message{
		"id, origin, flags":   {ID: 7, Role: llm.RoleAssistant, Origin: llm.Note, Flags: llm.FlagRules, Parts: base.Parts},
		"thinking":            base.WithParts(append([]llm.Part{llm.Thinking{Text: "hm", Signature: "s"}}, base.Parts...)),
		"raw bytes of a text": base.WithParts([]llm.Part{llm.Text{Text: "hello", Raw: llm.Raw{Data: []byte(`"hello"`)}}, base.Parts[1]}),
	}
	for name, m := range same {
		if llm.DigestOf(m) != digest {
			t.Errorf("%s: want the same digest", name)
		}
	}
	result := func(text string, isError bool) llm.Part {
		return llm.ToolResult{CallID: "c1", IsError: isError, Content: []llm.Part{llm.Text{Text: text}}}
	}
	other := map[string]llm.Message{
		"role":          {Role: llm.RoleUser, Parts: base.Parts},
		"text":          base.WithParts([]llm.Part{llm.Text{Text: "hello!"}, base.Parts[1]}),
		"order":         base.WithParts([]llm.Part{base.Parts[1], base.Parts[0]}),
		"one part less": base.WithParts(base.Parts[:1]),
		"text shifted":  base.WithParts([]llm.Part{llm.Text{Text: "hell"}, llm.Text{Text: "o"}, base.Parts[1]}),
		"arguments":     base.WithParts([]llm.Part{base.Parts[0], llm.ToolCall{CallID: "c1", Name: "read", Args: `{"path":"b"}`}}),
		"a result":      base.WithParts([]llm.Part{result("x", false)}),
		"a failure":     base.WithParts([]llm.Part{result("x", true)}),
		"a stub":        base.WithParts([]llm.Part{llm.Stub{Ref: llm.RefOf(nil), Text: "x"}}),
		"media":         base.WithParts([]llm.Part{llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte("1")}}}),
		"other media":   base.WithParts([]llm.Part{llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte("2")}}}),
		"opaque":        base.WithParts([]llm.Part{llm.Opaque{Kind: "x"}}),
	}
	seen := map[llm.Digest]string{digest: "the message itself"}
	for name, m := range other {
		d := llm.DigestOf(m)
		if before, taken := seen[d]; taken {
			t.Errorf("%s: want a digest of its own, got that of %s", name, before)
		}
		seen[d] = name
	}
}

// A chain names a prefix: it depends on every message and on their order.
func TestChain(t *testing.T) {
	a, b := llm.DigestOf(llm.Message{Role: llm.RoleUser}), llm.DigestOf(llm.Message{Role: llm.RoleAssistant})
	var none llm.Digest
	ab, ba := llm.Chain(llm.Chain(none, a), b), llm.Chain(llm.Chain(none, b), a)
	if ab == ba || ab == llm.Chain(none, b) || ab != llm.Chain(llm.Chain(none, a), b) {
		t.Errorf("want chains that tell order and length apart, got %s and %s", ab, ba)
	}
}

// The parts of a usage are disjoint, so that they can be added up (R001-12).
func TestUsage(t *testing.T) {
	u := llm.Usage{Input: 1, CacheRead: 20, CacheWrite5m: 300, CacheWrite1h: 4000, Output: 50000, Reasoning: 7}
	t.Run("R001-12_total_is_input_cache_and_output", func(t *testing.T) {
		if u.Prompt() != 4321 || u.Total() != 54321 {
			t.Errorf("want 4321 and 54321, got %d and %d", u.Prompt(), u.Total())
		}
	})
	if u.IsZero() || !(llm.Usage{}).IsZero() {
		t.Error("want only the empty usage to be zero")
	}
}

// An edit never writes into what it replaces, and lets go of an envelope that no
// longer fits.
func TestWithParts(t *testing.T) {
	raw := []byte(`{"role":"user","content":["a","b"]}`)
	m := llm.Message{
		Parts:    []llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "b"}},
		Envelope: llm.Envelope{Raw: raw, Spans: []llm.Span{{Start: 26, End: 29}, {Start: 30, End: 33}}},
	}
	if got := m.WithParts([]llm.Part{llm.Text{Text: "a"}, llm.Text{Text: "c"}}); !bytes.Equal(got.Envelope.Raw, raw) || m.Text() != "a\nb" || got.Text() != "a\nc" {
		t.Errorf("got %+v, and the message itself says %q", got, m.Text())
	}
	if got := m.WithParts(m.Parts[:1]); got.Envelope.Raw != nil {
		t.Errorf("want no envelope for other parts, got %q", got.Envelope.Raw)
	}
}
