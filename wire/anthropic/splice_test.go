package anthropic

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// asStream returns payloads as a stream of named events.
func asStream(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		kind, _, _ := strings.Cut(strings.TrimPrefix(p, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + p + "\n\n")
	}
	return b.String()
}

func TestSplice(t *testing.T) {
	rounds := []string{
		asStream(`{"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":4,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_1h_input_tokens":4},"output_tokens":1,"service_tier":"standard"}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}  }`, `{"type":"content_block_stop","index":0   }`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"h","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"ping"}`, `{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"h2","input":{}}}`, `{"type":"content_block_stop","index":2}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}`, `{"type":"message_stop"}`),
		asStream(`{"type":"message_start","message":{"id":"b","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":14,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"future","index":0}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"y"} }`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":30},"context_management":{"applied_edits":[]}}`, `{"type":"message_stop"}`),
	}
	want := asStream(`{"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":4,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_1h_input_tokens":4},"output_tokens":1,"service_tier":"standard"}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}  }`, `{"type":"content_block_stop","index":0   }`, `{"type":"ping"}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"h2","input":{}}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`, `{"type":"future","index":0}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"y"} }`, `{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":50,"input_tokens":15,"cache_creation_input_tokens":4,"cache_read_input_tokens":14,"cache_creation":{"ephemeral_1h_input_tokens":4}},"context_management":{"applied_edits":[]}}`,
		`{"type":"message_stop"}`)
	s := Codec{}.NewSplice(codectest.Hides, true)
	got := codectest.Joined(t, s, codectest.AtOnce, rounds...)
	if got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// What never ends after its end is not kept without bound.
func TestSpliceOfAnEndWithoutEnd(t *testing.T) {
	s := Codec{}.NewSplice(func(string) bool { return false }, true)
	end := asStream(`{"type":"message_start","message":{"id":"a","usage":{}}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	more := []byte(":" + strings.Repeat("x", 1<<20) + "\n\n")
	sent, got := len(end), 0
	take := func(b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		got += len(b)
	}
	take(s.Write([]byte(end)))
	for range 70 {
		take(s.Write(more))
		sent += len(more)
	}
	if got < sent-len(more) {
		t.Errorf("want all of %d bytes to pass by now, got %d", sent, got)
	}
	if _, err := s.EndRound(); err == nil || errors.Is(err, wire.ErrCut) {
		t.Errorf("want an error that says what is too big, got %v", err)
	}
}
