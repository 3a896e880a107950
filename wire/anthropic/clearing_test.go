package anthropic

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// TestClearing: a provider is asked to take outputs out of prompts by itself, with the beta that this
// needs, unless the client has asked for something of the kind.
func TestClearing(t *testing.T) {
	asked := llm.Clearing{Above: 5000, Keep: 3, Least: 500, Except: []string{"search"}}
	const want = `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":5000},` +
		`"keep":{"type":"tool_uses","value":3},"clear_at_least":{"type":"input_tokens","value":500},"exclude_tools":["search"]}]}`
	for name, c := range map[string]struct{ body, want string }{
		"a client's request":   {`{"messages":[], "k":1}`, `{"messages":[], "k":1,` + want + `}`},
		"one that asks itself": {`{"messages":[],"context_management":{"edits":[]}}`, `{"messages":[],"context_management":{"edits":[]}}`},
		"one made here":        {"", `{"max_tokens":9,` + want + `,"messages":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := llm.Request{MaxOutput: 9}
			if c.body != "" {
				r = codectest.Decoded(t, Codec{}, []byte(c.body))
			}
			r.Settings.Clear = asked
			out, err := EncodeRequest(r)
			if err != nil || string(out) != c.want {
				t.Errorf("want %s\ngot  %s, %v", c.want, out, err)
			}
			if got := slices.Contains(Betas(r), "context-management-2025-06-27"); got != strings.Contains(string(out), "clear_tool_uses") {
				t.Errorf("its beta: got %v", got)
			}
		})
	}
}

// TestCleared: what the provider has taken out is told beside the usage, in a reply and in a stream.
func TestCleared(t *testing.T) {
	const applied = `"context_management":{"applied_edits":[{"type":"clear_thinking_20251015","cleared_thinking_turns":1,"cleared_input_tokens":30},{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":5000}]}`
	r, err := DecodeResponse([]byte(`{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":1},` + applied + `}`))
	if want := (llm.Usage{Input: 7, Output: 1, Cleared: 5030}); err != nil || r.Usage != want {
		t.Errorf("want %+v, got %+v, %v", want, r.Usage, err)
	}
	stream := framed(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1},`+applied+`}`, `{"type":"message_stop"}`)
	events, err := Codec{}.NewDecoder().Feed([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	if u := events[len(events)-1].Usage; u.Cleared != 5030 || u.Prompt() != 7 {
		t.Errorf("want what was taken out, got %+v", u)
	}
}

// TestCompacting: a provider is asked for a summary of its own, and to leave old thinking out where the
// model thinks; each with the beta that it needs, and a summary that is sent back with its own.
func TestCompacting(t *testing.T) {
	const (
		compact  = `{"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000}}`
		thinking = `{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}}`
	)
	summary := decodeBlocks(t, `{"type":"compaction","content":"so far","signature":"s"}`)
	for name, c := range map[string]struct {
		r     llm.Request
		edits string
		betas []string
	}{
		"a summary":                {asking(llm.Clearing{Compact: 60_000}), compact, []string{compactBeta}},
		"none below what is least": {asking(llm.Clearing{Compact: 9_000}), strings.Replace(compact, "60000", "50000", 1), []string{compactBeta}},
		"thinking, first":          {thoughtful(asking(llm.Clearing{Compact: 60_000, Thinking: 2})), thinking + "," + compact, []string{clearingBeta, compactBeta}},
		"no thinking of a model that does not think": {asking(llm.Clearing{Thinking: 2}), "", nil},
		"a summary that is sent back":                {llm.Request{Messages: []llm.Message{summary, llm.UserText("Go on.")}}, "", []string{compactBeta}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := EncodeRequest(c.r)
			want := `"context_management":{"edits":[` + c.edits + `]}`
			if err != nil || strings.Contains(string(out), want) != (c.edits != "") || strings.Contains(string(out), "context_management") != (c.edits != "") {
				t.Errorf("want %s, got %s, %v", want, out, err)
			}
			if got := Betas(c.r); !slices.Equal(got, c.betas) {
				t.Errorf("want betas %q, got %q", c.betas, got)
			}
		})
	}
	t.Run("a client's own stays", func(t *testing.T) {
		const body = `{"messages":[],"thinking":{"type":"adaptive"},"context_management":{"edits":[{"type":"compact_20260112"}]}}`
		r := codectest.Decoded(t, Codec{}, []byte(body))
		r.Settings.Clear = llm.Clearing{Above: 1, Thinking: 1, Compact: 1}
		if out, err := EncodeRequest(r); err != nil || string(out) != body || len(Betas(r)) > 0 {
			t.Errorf("got %s, %v, betas %q", out, err, Betas(r))
		}
	})
	t.Run("stands first of all, as it came", func(t *testing.T) {
		out, err := EncodeRequest(llm.Request{Messages: []llm.Message{summary, llm.UserText("Go on.")}})
		const want = `"messages":[{"role":"assistant","content":[{"type":"compaction","content":"so far","signature":"s"}]},{"role":"user"`
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("want %s, got %s, %v", want, out, err)
		}
	})
	t.Run("one that failed says nothing", func(t *testing.T) {
		if m := decodeBlocks(t, `{"type":"compaction","content":null}`); llm.Compacts(m) != "" || llm.Compacts(summary) != "anthropic" {
			t.Errorf("got %q and %q", llm.Compacts(m), llm.Compacts(summary))
		}
	})
}

func asking(c llm.Clearing) llm.Request {
	return llm.Request{MaxOutput: 9, Settings: llm.Settings{Clear: c}}
}

func thoughtful(r llm.Request) llm.Request {
	r.Settings.Effort.Word = "low"
	return r
}

// decodeBlocks returns what the model wrote in blocks.
func decodeBlocks(t *testing.T, blocks string) llm.Message {
	t.Helper()
	r, err := DecodeResponse([]byte(`{"content":[` + blocks + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r.Message
}
