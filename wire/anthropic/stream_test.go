package anthropic

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

func TestDecodeStream(t *testing.T) {
	start := llm.Event{Kind: llm.EventStart, ID: "msg_1", Model: "claude-x", Usage: llm.Usage{Input: 5, CacheRead: 100, CacheWrite5m: 10, CacheWrite1h: 20, Output: 1}}
	end := llm.Event{Kind: llm.EventEnd, Stop: llm.StopEnd, Reason: "end_turn", Usage: llm.Usage{Input: 5, CacheRead: 100, CacheWrite5m: 10, CacheWrite1h: 20, Output: 42}}
	begins := func(i int, p llm.Part) llm.Event { return llm.Event{Kind: llm.EventPartStart, Index: i, Part: p} }
	more := func(i int, kind llm.DeltaKind, s string) llm.Event {
		return llm.Event{Kind: llm.EventDelta, Index: i, Delta: kind, Text: s}
	}
	ends := func(i int, p llm.Part) llm.Event { return llm.Event{Kind: llm.EventPartEnd, Index: i, Part: p} }
	pings := llm.Event{Kind: llm.EventOther}
	toolEnd := end
	toolEnd.Stop, toolEnd.Reason, toolEnd.Usage.Output, toolEnd.Usage.Reasoning = llm.StopTool, "tool_use", 50, 20
	search := llm.ToolCall{CallID: "srvtoolu_1", Name: "web_search", Hosted: true}
	found := search
	found.Args = `{"query": "tide"}`
	echo := llm.ToolCall{CallID: "mcptoolu_1", Name: "echo", Hosted: true}
	echoed := echo
	echoed.Args = `{"a":1.0e+3}`
	now, result := llm.ToolCall{CallID: "toolu_1", Name: "now"}, llm.Opaque{Kind: "web_search_tool_result"}
	nowEnded := now
	nowEnded.Args = "{}"
	cite := func(url string) llm.Event {
		return more(4, llm.DeltaOther, `{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"`+url+`"}}`)
	}
	tests := map[string][]llm.Event{
		"text": {
			start, begins(0, llm.Text{}), more(0, llm.DeltaText, "Hel"), more(0, llm.DeltaText, "lo,\nä 😀"), more(0, llm.DeltaText, `\ud83d`),
			ends(0, llm.Text{Text: "Hello,\nä 😀" + `\ud83d`}), end,
		},
		"everything": {
			start,
			begins(0, llm.Thinking{}), pings, more(0, llm.DeltaText, "let me "), more(0, llm.DeltaText, "see"), more(0, llm.DeltaSignature, "c2ln"),
			ends(0, llm.Thinking{Text: "let me see", Signature: "c2ln"}),
			begins(1, llm.Thinking{Signature: "ZW5j", Redacted: true}), ends(1, llm.Thinking{Signature: "ZW5j", Redacted: true}),
			begins(2, search), more(2, llm.DeltaArgs, `{"query": "t`), more(2, llm.DeltaArgs, `ide"}`), ends(2, found),
			begins(3, result), ends(3, result),
			begins(4, llm.Text{}), cite("u"), more(4, llm.DeltaText, "cited"), cite("v"), ends(4, llm.Text{Text: "cited"}),
			begins(5, now), more(5, llm.DeltaArgs, "{}"), ends(5, nowEnded),
			begins(6, echo), more(6, llm.DeltaArgs, `{"a":1.0e+3}`), ends(6, echoed),
			toolEnd,
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			if got := bare(codectest.Events(t, Codec{}, []byte(streams[name]))); !reflect.DeepEqual(want, got) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
}

// The blocks that a stream's parts go back as: those that began, with all that came since.
func TestStreamedBlocks(t *testing.T) {
	tests := map[string][]string{
		"text": {`{"type":"text","text":"Hello,\nä 😀\\ud83d"}`},
		"everything": {
			`{"type":"thinking","thinking":"let me see","signature":"c2ln"}`,
			`{"type":"redacted_thinking","data":"ZW5j"}`,
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query": "tide"},"caller":{"type":"direct"}}`,
			`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u","n":1.0e+3}]}`,
			`{"citations":[{"type":"web_search_result_location","url":"u"},{"type":"web_search_result_location","url":"v"}],"type":"text","text":"cited"}`,
			`{"type":"tool_use","id":"toolu_1","name":"now","input":{}}`,
			`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"echo","input":{"a":1.0e+3},"server_name":"s"}`,
		},
		"fallback and compaction": {
			`{"type":"compaction","content":"before\n","encrypted_content":"ZQ=="}`,
			`{"type":"fallback","from":{"model":"a"},"to":{"model":"b"},"trigger":{"type":"refusal"}}`,
			`{"type":"text","text":"begun inside"}`,
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range codectest.Told(Dialect, codectest.Events(t, Codec{}, []byte(streams[name]))).Message.Parts {
				got = append(got, string(p.Bytes()))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// block is a stream of one block that begins as start and has the given deltas.
func blockStream(start string, deltas ...string) string {
	all := []string{startPayload, `{"type":"content_block_start","index":0,"content_block":` + start + `}`}
	for _, d := range deltas {
		all = append(all, `{"type":"content_block_delta","index":0,"delta":`+d+`}`)
	}
	return framed(append(all, textStop, endPayload, stopPayload)...)
}

func TestOddBlocks(t *testing.T) {
	tests := []struct {
		name, start string
		deltas      []string
		text, block string // the deltas joined, the block that goes back
	}{
		{"no escape is cut in two", `{"type":"text","text":""}`, []string{`{"type":"text_delta","text":"a\ud83d"}`, `{"type":"text_delta","text":"\ude00b"}`}, "a😀b", `{"type":"text","text":"a😀b"}`},
		{"half a pair stays alone", `{"type":"text","text":""}`, []string{`{"type":"text_delta","text":"a\ud83d"}`, `{"type":"text_delta","text":"b"}`}, "a\ufffdb", `{"type":"text","text":"a` + "\ufffd" + `b"}`},
		{"half a pair at the end", `{"type":"text","text":""}`, []string{`{"type":"text_delta","text":"a\uD83D"}`}, "a\ufffd", `{"type":"text","text":"a` + "\ufffd" + `"}`},
		{"text that is null", `{"type":"text","text":""}`, []string{`{"type":"text_delta","text":null}`}, "", `{"type":"text","text":""}`},
		{"thinking that is not shown", `{"type":"thinking","thinking":"","signature":""}`, []string{`{"type":"signature_delta","signature":"s"}`}, "s", `{"type":"thinking","thinking":"","signature":"s"}`},
		{"thinking without a place for its signature", `{"type":"thinking","thinking":""}`, []string{`{"type":"thinking_delta","thinking":"t"}`, `{"type":"signature_delta","signature":"s"}`}, "ts", `{"type":"thinking","thinking":"t","signature":"s"}`},
		{"arguments that begin whole", `{"type":"tool_use","id":"a","name":"f","input":{"x": 1}}`, nil, `{"x": 1}`, `{"type":"tool_use","id":"a","name":"f","input":{"x": 1}}`},
		{"arguments cut by the output limit", `{"type":"tool_use","id":"a","name":"f","input":{}}`, []string{`{"type":"input_json_delta","partial_json":"{\"x"}`}, `{"x`, `{"type":"tool_use","id":"a","name":"f","input":{"input":"{\"x"}}`},
		{"a block that leaves its text out", `{"type":"text"}`, []string{`{"type":"text_delta","text":"x"}`}, "x", `{"type":"text","text":"x"}`},
		{"thinking that leaves its text out", `{"type":"thinking","signature":""}`, []string{`{"type":"thinking_delta","thinking":"x"}`}, "x", `{"type":"thinking","signature":"","thinking":"x"}`},
		{"an unknown delta of a known block", `{"type":"text","text":""}`, []string{`{"type":"mood_delta","mood":"ca"}`, `{"type":"mood_delta","mood":"lm"}`, `{"type":"text_delta","text":"x"}`}, "x", `{"type":"text","text":"x","mood":"calm"}`},
		{"an unknown block", `{"type":"poem","text":"a","n":1}`, []string{`{"type":"text_delta","text":"b\n"}`, `{"type":"line_delta","n":2}`}, "", `{"type":"poem","text":"ab\n","n":2}`},
		{"an unknown call", `{"type":"robot_use","input":{}}`, []string{`{"type":"input_json_delta","partial_json":"{\"x\":"}`, `{"type":"input_json_delta","partial_json":"1}"}`}, "", `{"type":"robot_use","input":{"x":1}}`},
		{"citations that begin", `{"type":"text","text":"","citations":[ {"n":1} ]}`, []string{`{"type":"citations_delta","citation":{"n":2}}`}, "", `{"type":"text","text":"","citations":[{"n":1},{"n":2}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			events := codectest.Events(t, Codec{}, []byte(blockStream(test.start, test.deltas...)))
			var text strings.Builder
			for _, e := range events {
				if e.Kind == llm.EventDelta && e.Delta != llm.DeltaOther {
					text.WriteString(e.Text)
				}
			}
			if text.String() != test.text {
				t.Errorf("deltas: want %q, got %q", test.text, text.String())
			}
			if got := codectest.Told(Dialect, events).Message.Parts[0].Bytes(); string(got) != test.block {
				t.Errorf("want %s\ngot  %s", test.block, got)
			}
		})
	}
}

func TestStreamErrors(t *testing.T) {
	text := `{"type":"text","text":""}`
	tests := []struct{ name, stream, want string }{
		{"not JSON", "data: {\"type\":\"ping\"\n\n", "anthropic: stream: payload 1: JSON text (byte"},
		{"not an object", "data: 5\n\n", "payload 1: JSON text (byte 0), want an object, got number"},
		{"no start", framed(textStart), "payload 1: want message_start first, got content_block_start"},
		{"a start without a message", framed(`{"type":"message_start"}`), "message, want an object, got nothing"},
		{"no index", framed(startPayload, `{"type":"content_block_start","content_block":`+text+`}`), "index, want a whole number, got nothing"},
		{"an index that is no whole number", framed(startPayload, `{"type":"content_block_start","index":1.5,"content_block":`+text+`}`), "index, want a whole number, got number 1.5"},
		{"no block", framed(startPayload, `{"type":"content_block_start","index":0}`), "content_block, want an object, got nothing"},
		{"an open index", framed(startPayload, textStart, textStart), "payload 3: content_block_start, want another index than that of an open block, got 0"},
		{"a delta of no block", framed(startPayload, `{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"x"}}`), "payload 2: content_block_delta, want the index of an open block, got 4"},
		{"another block's delta", blockStream(text, `{"type":"input_json_delta","partial_json":"{"}`), "part 0, want text_delta or citations_delta, got input_json_delta"},
		{"a delta that is none", blockStream(text, `5`), "delta, want an object, got number"},
		{"text that is none", blockStream(text, `{"type":"text_delta","text":5}`), "delta, want a string, got number"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := codectest.Feed(Codec{}, []byte(test.stream))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "anthropic: stream: ") {
				t.Errorf("want %q, got %v", test.want, err)
			}
			if errors.Is(err, wire.ErrCut) {
				t.Errorf("not a cut: %v", err)
			}
		})
	}
}

func TestErrorEvent(t *testing.T) {
	payload := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`
	events, err := codectest.Feed(Codec{}, []byte(framed(startPayload, textStart, payload, textStop)))
	var theirs *wire.Error
	if !errors.As(err, &theirs) {
		t.Fatalf("got %v", err)
	}
	if theirs.Class != wire.Overloaded || theirs.RequestID != "req_1" || string(theirs.Body) != payload || theirs.Status != 0 {
		t.Errorf("got %+v", theirs)
	}
	if kinds(events) != "start, part start" {
		t.Errorf("what came before the error: got %s", kinds(events))
	}
	d := Codec{}.NewDecoder()
	for range 2 { // the decoder is at its end
		if _, err := d.Feed([]byte(framed(payload))); !errors.As(err, &theirs) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := d.Close(); !errors.As(err, &theirs) {
		t.Errorf("close: got %v", err)
	}
}

func TestToleratedStreams(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"unknown events", framed(startPayload, `{"type":"weather"}`, `{"type":5}`, `{}`, endPayload, stopPayload), "start, other, other, other, end"},
		{"events after the end", framed(startPayload, endPayload, stopPayload, `{"type":"ping"}`, startPayload) + "data: [DONE]\n\n", "start, end, other, other, other"},
		{"a stop for no block", framed(startPayload, textStop, endPayload, stopPayload), "start, other, end"},
		{"blocks that nobody stopped", framed(startPayload, textStart, endPayload, stopPayload), "start, part start, part end, end"},
		{"an index used again", framed(startPayload, textStart, textStop, textStart, textStop, endPayload, stopPayload), "start, part start, part end, part start, part end, end"},
		{"no empty line after the last event", strings.TrimRight(framed(startPayload, endPayload, stopPayload), "\n"), "start, end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := kinds(codectest.Events(t, Codec{}, []byte(test.stream))); got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
		})
	}
}

// Deltas of members without end do not cost memory or time without bound.
func TestHostileDeltas(t *testing.T) {
	var deltas []string
	for i := range 200 {
		deltas = append(deltas, fmt.Sprintf(`{"type":"x_delta","m%d":"v"}`, i))
	}
	events := codectest.Events(t, Codec{}, []byte(blockStream(`{"type":"text","text":"t"}`, deltas...)))
	p := codectest.Told(Dialect, events).Message.Parts[0]
	if got := strings.Count(string(p.Bytes()), `"v"`); got != maxFolds {
		t.Errorf("want %d members kept, got %d", maxFolds, got)
	}
}

// Any events come back as they were written.
func TestAnyEventsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyReply(t)
		var out []byte
		w := Codec{}.NewEncoder()
		for _, e := range wire.Events(want) {
			var err error
			if out, err = w.Append(out, e); err != nil {
				t.Fatal(err)
			}
		}
		got, err := codectest.Feed(Codec{}, out)
		if err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if w := wire.Events(want); !reflect.DeepEqual(bare(w), bare(got)) {
			t.Fatalf("%s\n%s", cmp.Diff(bare(w), bare(got)), out)
		}
	})
}

// anyReply draws a reply as this dialect has it.
func anyReply(t *rapid.T) llm.Response {
	count := rapid.IntRange(0, 1<<30)
	r := llm.Response{ID: "msg_" + rapid.String().Draw(t, "id"), Model: rapid.String().Draw(t, "model"), Dialect: Dialect}
	r.Usage = llm.Usage{
		Input: 1 + count.Draw(t, "input"), CacheRead: count.Draw(t, "read"), CacheWrite5m: count.Draw(t, "write"),
		CacheWrite1h: count.Draw(t, "long write"), Output: count.Draw(t, "output"),
	}
	r.Usage.Reasoning = rapid.IntRange(0, r.Usage.Output).Draw(t, "reasoning")
	if rapid.Bool().Draw(t, "more passes") {
		r.Extra = llm.Usage{Input: 1 + count.Draw(t, "extra input"), CacheWrite1h: count.Draw(t, "extra write"), Output: count.Draw(t, "extra output")}
	}
	r.Stop = llm.Stop(rapid.IntRange(0, int(llm.StopCompaction)).Draw(t, "stop"))
	r.Reason = stopWords()[r.Stop]
	text := rapid.String()
	r.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: Dialect}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		r.Message.Parts = append(r.Message.Parts, rapid.OneOf(
			rapid.Map(text, func(s string) llm.Part { return llm.Text{Text: s} }),
			rapid.Map(text, func(s string) llm.Part { return llm.Thinking{Text: s, Signature: "sig" + s} }),
			rapid.Map(text, func(s string) llm.Part { return llm.Thinking{Signature: "enc" + s, Redacted: true} }),
			rapid.Map(text, func(s string) llm.Part { return llm.ToolCall{CallID: s, Name: "f", Args: `{ "a":1.0e+3}`} }),
			rapid.Map(text, func(s string) llm.Part { return llm.ToolCall{CallID: s, Name: s, Args: `{}`, Hosted: true} }),
		).Draw(t, "part"))
	}
	return r
}

// The fast way to read a delta tells the same as the general one.
func TestDeltaPayloads(t *testing.T) {
	fast := 0
	check := func(t *testing.T, data string) {
		t.Helper()
		p, ok := readDeltaPayload([]byte(data))
		if !ok {
			return
		}
		fast++
		if want := readPayload([]byte(data)); !reflect.DeepEqual(want, p) || raw.Check([]byte(data)) != nil {
			t.Errorf("%s: want %+v, got %+v", data, want, p)
		}
	}
	wholeStreams(t, func(t *testing.T, stream []byte) {
		for _, line := range strings.Split(string(stream), "\n") {
			check(t, strings.TrimPrefix(strings.TrimRight(line, "\r"), "data: "))
		}
	})
	if fast == 0 {
		t.Error("no delta was read the fast way")
	}
	delta := `{"type":"content_block_delta","index":12,"delta":{"type":"text_delta","text":"a\"}}"} }  `
	check(t, delta)
	rapid.Check(t, func(r *rapid.T) { // one byte of it changed, lost or added
		at := rapid.IntRange(0, len(delta)-1).Draw(r, "at")
		b := rapid.SampledFrom([]string{"", "0", `"`, "}", "{", ",", " ", "\\", "\n", "\x00", "x"}).Draw(r, "byte")
		check(t, delta[:at]+b+delta[at+1:])
		check(t, delta[:at]+b+delta[at:])
	})
}
