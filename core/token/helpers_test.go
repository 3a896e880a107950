package token_test

import (
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// vocabularies are loaded once for all tests.
var vocabularies sync.Map

func load(name string) (*bpe.Encoding, error) {
	if e, ok := vocabularies.Load(name); ok {
		return e.(*bpe.Encoding), nil
	}
	e, err := bpe.Load(name)
	if err == nil {
		vocabularies.Store(name, e)
	}
	return e, err
}

func counter(t testing.TB, id string) token.Counter {
	t.Helper()
	c, err := token.NewCounter(id, load)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func family(t testing.TB, name string) catalog.Family {
	t.Helper()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	f, ok := known.Family(name)
	if !ok {
		t.Fatalf("no family %q", name)
	}
	return f
}

func familyCounter(t testing.TB, name string) token.Counter {
	t.Helper()
	c, err := token.ForFamily(family(t, name), load)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// text is a message of a person.
func text(s string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: s}}}
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`([A-Za-z]{0,9}|[0-9]{0,5}|[ \t\r\n]{0,4}|[!-/:-@]{0,4}|[一-龥あ-ん가-힣é😀ß]{0,3}){0,12}`),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

func anyPart(depth int) *rapid.Generator[llm.Part] {
	return rapid.Custom(func(t *rapid.T) llm.Part {
		s := anyText().Draw(t, "text")
		switch rapid.IntRange(0, 6-depth).Draw(t, "kind") {
		case 0:
			return llm.Text{Text: s}
		case 1:
			return llm.Stub{Text: s, Ref: llm.RefOf([]byte(s))}
		case 2:
			return llm.Media{Type: "image/png", Size: len(s), Width: rapid.IntRange(-1, 9000).Draw(t, "w"), Height: rapid.IntRange(-1, 9000).Draw(t, "h")}
		case 3:
			return llm.Opaque{Kind: "x", Raw: llm.Raw{Data: []byte(s)}}
		case 4:
			return llm.Thinking{Text: s, Signature: rapid.StringN(0, 40, -1).Draw(t, "signature")}
		case 5:
			return llm.ToolCall{CallID: "c1", Name: "read", Args: s, Hosted: rapid.Bool().Draw(t, "hosted")}
		}
		return llm.ToolResult{CallID: "c1", Content: rapid.SliceOfN(anyPart(3), 0, 3).Draw(t, "content")}
	})
}

func anyMessage() *rapid.Generator[llm.Message] {
	return rapid.Custom(func(t *rapid.T) llm.Message {
		return llm.Message{
			Role:   llm.RoleAssistant,
			Origin: rapid.SampledFrom([]llm.Origin{llm.Human, llm.Model, llm.ToolRun, llm.Note}).Draw(t, "origin"),
			Parts:  rapid.SliceOfN(anyPart(0), 0, 4).Draw(t, "parts"),
		}
	})
}
