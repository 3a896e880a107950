package sdktest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// heard is what an SDK gives the program that uses it, in the same words for all of them.
type heard struct {
	ID, Model string
	Text      string
	Thoughts  []thought
	Calls     []spoken
	Stop      string // the provider's word
	Usage     llm.Usage
	JSON      string // the whole reply as the SDK holds it; empty where it keeps none
}

type thought struct{ Text, Signature string }

// spoken is a call of a tool. Args is JSON in the spelling of [sorted].
type spoken struct{ ID, Name, Args string }

// expected returns what an SDK must give for s.
func (s said) expected(t *testing.T, stop string) heard {
	t.Helper()
	h := heard{ID: "reply_0001", Model: "test-model-1", Stop: stop, Usage: s.usage}
	for _, p := range s.parts {
		switch p := p.(type) {
		case llm.Text:
			h.Text += p.Text
		case llm.Thinking:
			h.Thoughts = append(h.Thoughts, thought{p.Text, p.Signature})
		case llm.ToolCall:
			h.Calls = append(h.Calls, spoken{p.CallID, p.Name, sorted(t, p.Args)})
		}
	}
	return h
}

// same fails the test if the SDK gave something else than it should have.
func same(t *testing.T, what string, want, got heard) {
	t.Helper()
	want.JSON, got.JSON = "", ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, want as said, got (-want +got):\n%s", what, diff)
	}
}

// sorted returns JSON in one spelling: compact, keys in order, numbers as they were.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		t.Errorf("JSON, want one value, got %q: %v", text, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Errorf("JSON: %v", err)
	}
	return string(b)
}
