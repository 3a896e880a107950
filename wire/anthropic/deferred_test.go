package anthropic

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

const deferredBody = `{"model":"m", "max_tokens":9,"tools":[{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"},{"name":"read","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},
 {"name":"dock","input_schema":{"type":"object"}, "defer_loading": true}],"messages":[{"role":"user","content":"Go."},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_regex","input":{"query":"dock"}}, {"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"dock"}]}}, {"type":"tool_use","id":"toolu_1","name":"dock","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"tool_reference","tool_name":"read"}]}]}]}`

// TestDeferredTools: which tools wait, which one finds them and what was found is read, and the
// body stays as it came.
func TestDeferredTools(t *testing.T) {
	r := codectest.Decoded(t, Codec{}, []byte(deferredBody))
	var finders, deferred []string
	for _, tool := range r.Tools {
		if tool.Finder {
			finders = append(finders, tool.Name)
		}
		if tool.Deferred {
			deferred = append(deferred, tool.Name)
		}
	}
	if !slices.Equal(finders, []string{"tool_search_tool_regex"}) || !slices.Equal(deferred, []string{"dock"}) {
		t.Errorf("finders %q, deferred %q", finders, deferred)
	}
	var loads []string
	for _, m := range r.Messages {
		loads = append(loads, llm.Loads(m)...)
	}
	if want := []string{"dock", "read"}; !slices.Equal(loads, want) {
		t.Errorf("loaded: want %q, got %q", want, loads)
	}
	if out, err := EncodeRequest(r); err != nil || &out[0] != &r.Frame.Raw[0] {
		t.Errorf("want the body as it came, got %s, %v", out, err)
	}
}

// TestStreamedReferences: what a search found is the same block in a stream.
func TestStreamedReferences(t *testing.T) {
	stream := framed(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"dock\"}"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"dock"}]}}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"server_tool_use":{"tool_search_requests":1}}}`, `{"type":"message_stop"}`)
	events, err := Codec{}.NewDecoder().Feed([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	var m llm.Message
	for _, e := range events {
		if e.Kind == llm.EventPartEnd {
			m.Parts = append(m.Parts, e.Part)
		}
	}
	if got := llm.Loads(m); !slices.Equal(got, []string{"dock"}) {
		t.Errorf("want what was found, got %q of %+v", got, m)
	}
}

// TestMarkOnAPiece: the mark of a request on what a client said beside a result stands there.
func TestMarkOnAPiece(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"}, {"type":"text","text":"And on."}]}]}`
	r := codectest.Decoded(t, Codec{}, []byte(body))
	r.Marks = llm.Marks{{On: llm.OnMessage, At: len(r.Messages) - 1, Mark: llm.MarkShort}}
	out, err := EncodeRequest(r)
	if want := strings.Replace(body, `"And on."}`, `"And on.","cache_control":{"type":"ephemeral"}}`, 1); err != nil || string(out) != want {
		t.Errorf("want %s\ngot  %s, %v", want, out, err)
	}
}

// TestMarksBehindPieces: what a client said in one message, and is several here, shifts no mark.
func TestMarksBehindPieces(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"}, {"type":"text","text":"And on."}]},{"role":"assistant","content":"Done."},{"role":"user","content":[{"type":"text","text":"Thanks."}]}]}`
	for at, want := range map[int]string{
		0: strings.Replace(body, `"Go."`, `[{"type":"text","text":"Go.","cache_control":{"type":"ephemeral"}}]`, 1),
		2: strings.Replace(body, `"content":"a"}`, `"content":"a","cache_control":{"type":"ephemeral"}}`, 1),
		4: strings.Replace(body, `"Done."`, `[{"type":"text","text":"Done.","cache_control":{"type":"ephemeral"}}]`, 1),
		5: strings.Replace(body, `"Thanks."}`, `"Thanks.","cache_control":{"type":"ephemeral"}}`, 1),
		6: body, // there is none
	} {
		r := codectest.Decoded(t, Codec{}, []byte(body))
		r.Marks = llm.Marks{{On: llm.OnMessage, At: at, Mark: llm.MarkShort}}
		if out, err := EncodeRequest(r); err != nil || string(out) != want {
			t.Errorf("message %d: want %s\ngot  %s, %v", at, want, out, err)
		}
	}
}

// TestDeferring: tools of a client that are to wait are marked as such in its own bytes, and a
// cache mark among them moves; our own answer names what it loads, where that is declared.
func TestDeferring(t *testing.T) {
	loading := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "dock: Docks."}}, Loads: []string{"dock"}},
	}}
	body := []byte(`{"tools":[{"name":"read", "k":1},{"name":"dock","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]}]}`)
	asked := func(deferred bool) string {
		r := codectest.Decoded(t, Codec{}, body)
		r.Messages = append(r.Messages, loading)
		r.Tools[1].Deferred = deferred
		if deferred {
			r.Tools = slices.Insert(r.Tools, 0, llm.Tool{Finder: true, Description: "finds"})
		}
		out, err := EncodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := `{"tools":[{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},{"name":"read", "k":1,"cache_control":{"type":"ephemeral","ttl":"1h"}},{"name":"dock","defer_loading":true}],` +
		`"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"tool_reference","tool_name":"dock"}]}]}]}`
	if got := asked(true); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
	if got := asked(false); !bytes.Contains([]byte(got), []byte(`"content":"dock: Docks."`)) {
		t.Errorf("nothing is deferred: want the answer in words, got %s", got)
	}
	t.Run("and not any more", func(t *testing.T) {
		r := codectest.Decoded(t, Codec{}, []byte(deferredBody))
		r.Tools[2].Deferred = false
		if out, err := EncodeRequest(r); err != nil || bytes.Contains(out, []byte("defer_loading")) {
			t.Errorf("got %s, %v", out, err)
		}
	})
}
