package chatlog

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

func newLog() *Log {
	return New(read.NewReading("log", sessionfile.FormatSWEAgent, func(sessionfile.Segment) bool { return true }), "")
}

func TestCost(t *testing.T) {
	for text, want := range map[string]int64{
		"0.07": 70_000_000_000, "8.551199999999999e-05": 85_512_000, "1": 1_000_000_000_000, "0": 0,
		"-1": 0, "1e9": 0, "NaN": 0, "Inf": 0, `"1"`: 0, "": 0, "null": 0,
	} {
		if got := Cost([]byte(text)); got != want {
			t.Errorf("%q: want %d, got %d", text, want, got)
		}
	}
}

// TestUsage: cached tokens are a share of the prompt, unless they are more than it.
func TestUsage(t *testing.T) {
	for text, want := range map[string]llm.Usage{
		`{"prompt_tokens":3439,"completion_tokens":104,"cache_creation_input_tokens":3435,"cache_read_input_tokens":0}`: {Input: 4, CacheWrite5m: 3435, Output: 104},
		`{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":60}}`:                      {Input: 40, CacheRead: 60, Output: 9},
		`{"prompt_tokens":4,"completion_tokens":9,"cache_creation_input_tokens":50,"cache_read_input_tokens":60}`:       {Input: 4, CacheRead: 60, CacheWrite5m: 50, Output: 9},
		`{"prompt_tokens":4,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":99}}`:                 {Input: 4, Output: 9, Reasoning: 9},
		`{"prompt_tokens":null}`: {},
	} {
		l := newLog()
		if got := l.Usage(1, gjson.Parse(text)); got != want || len(l.Session.Problems) > 0 {
			t.Errorf("%s: want %+v, got %+v, %v", text, want, got, l.Session.Problems)
		}
	}
}

// TestDecode keeps what the wire has and nothing else, and shares no bytes.
func TestDecode(t *testing.T) {
	l := newLog()
	text := []byte(`{"thought":"t","role":"assistant","content":null,"agent":"main","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"tool_call_id":null}`)
	m, ok := l.Decode(7, read.FieldsOf(text))
	if want := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`; !ok || string(m.Envelope.Raw) != want {
		t.Fatalf("want %s, got %s", want, m.Envelope.Raw)
	}
	if _, ok := l.Decode(8, read.Fields{"role": []byte(`"tool"`), "content": []byte(`"x"`)}); ok || len(l.Session.Problems) != 1 || l.Session.Problems[0].Line != 8 {
		t.Errorf("want a problem on line 8, got %v", l.Session.Problems)
	}
	clear(text)
	if calls := m.Calls(); len(calls) != 1 || calls[0].CallID != "c" || m.Envelope.Raw[0] != '{' {
		t.Errorf("want the call, got %+v", calls)
	}
}

// TestAdd: system messages are sections until something else was said.
func TestAdd(t *testing.T) {
	l := newLog()
	system := llm.Message{Role: llm.RoleSystem, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "Rule."}}}
	for _, m := range []llm.Message{system, system, Note("Go."), system, {Role: llm.RoleAssistant, Origin: llm.Model}} {
		l.Add(1, m)
	}
	if len(l.Segment.Sections) != 2 || len(l.Segment.Entries) != 2 || l.Segment.Entries[1].Message.Role != llm.RoleSystem {
		t.Errorf("want two sections and two entries, got %+v", l.Segment)
	}
}
