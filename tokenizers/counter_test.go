package tokenizers_test

import (
	"errors"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

func TestCounter(t *testing.T) {
	file := write(t, fixture{merges: []string{"a b"}}.json(t))
	c, err := tokenizers.Counter("hf:" + file)
	if err != nil {
		t.Fatal(err)
	}
	if c.ID() != "hf:"+file || c.Kind() != token.Exact {
		t.Errorf("counter = %s, %v, want hf:%s, exact", c.ID(), c.Kind(), file)
	}
	m := llm.Message{Parts: []llm.Part{llm.Text{Text: "ab"}, llm.ToolCall{Name: "read", Args: "{}"}, llm.ToolResult{Content: []llm.Part{llm.Text{Text: "abc"}}}}}
	if got, want := c.Message(m), 1+4+2+2; got != want {
		t.Errorf("message = %d, want %d", got, want)
	}
	if got := token.Max(c, c).Text("xx"); got != 2 {
		t.Errorf("max of it and itself = %d, want 2", got)
	}
	if got, want := c.Tools([]llm.Tool{{Name: "ab", Description: "abx", Schema: "{}"}}), 1+2+2; got != want {
		t.Errorf("tools = %d, want %d", got, want)
	}
}

func TestCounterRefuses(t *testing.T) {
	var u *tokenizers.UnsupportedError
	if _, err := tokenizers.Counter("spm:tokenizer.model"); !errors.As(err, &u) {
		t.Errorf("spm: error = %v, want an UnsupportedError", err)
	}
	for _, id := range []string{"", "hf:", "nonsense", "hf:no/such/file.json"} {
		if c, err := tokenizers.Counter(id); err == nil {
			t.Errorf("%q: counter %s, want an error", id, c.ID())
		}
	}
}
