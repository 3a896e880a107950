package anthropic

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// framed returns payloads, one a line, as the API frames them.
func framed(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		_, kind, _ := strings.Cut(p, `"type":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		b.WriteString("event: " + kind + "\ndata: " + p + "\n\n")
	}
	return b.String()
}

const (
	startPayload = `{"type":"message_start","message":{"model":"claude-x","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":30,"cache_read_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":1,"service_tier":"standard"}}}`
	endPayload   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":5,"cache_creation_input_tokens":30,"cache_read_input_tokens":100,"output_tokens":42}}`
	stopPayload  = `{"type":"message_stop"}`
	textStart    = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textStop     = `{"type":"content_block_stop","index":0}`
)

// oneText is a stream of one text in the given deltas.
func oneText(deltas ...string) string {
	all := []string{startPayload, textStart}
	for _, d := range deltas {
		all = append(all, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+d+`}}`)
	}
	return framed(append(all, textStop, endPayload, stopPayload)...)
}

// streams are whole replies as the API and those who speak for it write them.
var streams = map[string]string{
	"text": oneText(`"Hel"`, `""`, `"lo,\n\u00e4 \ud83d\ude00"`, `"\\ud83d"`),
	"everything": framed(
		startPayload,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type": "ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see","estimated_tokens":7}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZW5j"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{},"caller":{"type":"direct"}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"query\": \"t"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"ide\"}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u","n":1.0e+3}]}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"citations":[],"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"u"}}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"cited"}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"v"}}}`,
		`{"type":"content_block_stop","index":4}`,
		`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_1","name":"now","input":{}}}`,
		`{"type":"content_block_stop","index":5}`,
		`{"type":"content_block_start","index":6,"content_block":{"type":"mcp_tool_use","id":"mcptoolu_1","name":"echo","input":{},"server_name":"s"}}`,
		`{"type":"content_block_delta","index":6,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1.0e+3}"}}`,
		`{"type":"content_block_stop","index":6}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":50,"output_tokens_details":{"thinking_tokens":20}}}`,
		stopPayload,
	),
	"fallback and compaction": framed(
		startPayload,
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"before\n","encrypted_content":"ZQ=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"fallback","from":{"model":"a"},"to":{"model":"b"},"trigger":{"type":"refusal"}}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"begun "}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"inside"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"compaction","stop_sequence":null},"usage":{"input_tokens":612,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":28,"iterations":[`+
			`{"input_tokens":60385,"output_tokens":522,"cache_read_input_tokens":7,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5},"type":"compaction"},`+
			`{"input_tokens":612,"output_tokens":28,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"type":"message"}]},"context_management":{"applied_edits":[]}}`,
		stopPayload,
	),
	"only a refusal": framed(startPayload, `{"type":"ping"}`,
		`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal"}},"usage":{"output_tokens":5}}`, stopPayload),
	"interleaved": framed(
		startPayload,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"b\":"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"2}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`, stopPayload),
	"carriage returns, comments, no names": strings.ReplaceAll(": hi\n"+"data: "+startPayload+"\n\ndata: "+textStart+"\n\nid: 3\ndata: "+textStop+"\n\ndata: "+endPayload+"\n\ndata: "+stopPayload+"\n\n", "\n", "\r\n"),
}

// replies are bodies of replies that were not streamed, some as no encoder of ours would
// write them.
var replies = map[string]string{
	"text": `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"a\u00e4"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":4}}`,
	"odd layout": " \n{ \"usage\" : {\"output_tokens\":1.0e+1, \"input_tokens\":2} ,\r\n \"content\":[ {\"text\":\"x\",\"type\":\"text\"} ,\n" +
		`{"type":"tool_use","id":"t","name":"f","input":{ "n": 1.0e+3 },"caller":{"type":"direct"}} , {"type":"text","text":"y"} ], "role":"assistant","unknown":{"a":[1, 2]}, "id":"m\u0031","model":"x","type":"message","stop_reason":"tool_use" } `,
	"all kinds": `{"model":"c","id":"msg_2","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"d"},` +
		`{"type":"server_tool_use","id":"srvtoolu_1","name":"bash_code_execution","input":{"command":"ls"}},{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_result","stdout":"","stderr":"","return_code":0,"content":[]}},` +
		`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"e","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"o"}]},` +
		`{"type":"container_upload","file_id":"f"},{"type":"compaction","content":"c"},{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}},{"type":"text","text":"t","citations":[{"type":"char_location","cited_text":"q"}]}],` +
		`"container":{"id":"k"},"stop_reason":"pause_turn","stop_sequence":null,"usage":{"input_tokens":682,"cache_creation_input_tokens":30,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":90,"output_tokens_details":{"thinking_tokens":40},"service_tier":"standard"},"context_management":{"applied_edits":[]}}`,
	"nothing":       `{"type":"message","role":"assistant","content":[],"stop_reason":"refusal","usage":null}`,
	"null content":  `{"type":"message","id":"m","content":null}`,
	"a string":      `{"type":"message","id":"m","content":"a\u0062","stop_reason":"end_turn"}`,
	"content twice": `{"content":5,"id":"a","content":[{"type":"text","text":"b"}],"id":"c"}`,
}

// corpus loads the recordings once for all tests.
var corpus = sync.OnceValues(func() ([]recording.Exchange, error) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		return nil, nil
	}
	return recording.Load(dir)
})

// recorded calls f with every recorded exchange of this dialect.
func recorded(t *testing.T, f func(t *testing.T, e recording.Exchange)) {
	all, err := corpus()
	if all == nil && err == nil {
		t.Log("PLIMSOLL_CORPUS is not set: only the fixtures of this package are tested")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range all {
		if e.Dialect == recording.Anthropic {
			found++
			t.Run(e.Name, func(t *testing.T) { f(t, e) })
		}
	}
	if found == 0 {
		t.Fatal("no exchange of this dialect in the corpus")
	}
}

// fixtures calls f with every fixture and every recording that is picked.
func fixtures(t *testing.T, own map[string]string, pick func(recording.Exchange) bool, f func(t *testing.T, body []byte)) {
	for name, body := range own {
		t.Run(name, func(t *testing.T) { f(t, []byte(body)) })
	}
	recorded(t, func(t *testing.T, e recording.Exchange) {
		if pick(e) {
			f(t, e.Response)
		}
	})
}

// firstReply returns the stream up to the end of the first reply in it. One recording has two.
func firstReply(stream []byte) []byte {
	_, rest, _ := strings.Cut(string(stream), `"type":"message_stop"`)
	_, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		return stream
	}
	return stream[:len(stream)-len(after)]
}

// countsTokens reports whether e asks for a count.
func countsTokens(e recording.Exchange) bool { return strings.HasSuffix(e.Path, "/count_tokens") }

// kinds returns what kinds of events there were.
func kinds(events []llm.Event) string {
	var names []string
	for _, e := range events {
		names = append(names, e.Kind.String())
	}
	return strings.Join(names, ", ")
}
