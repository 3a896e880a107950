package openai

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// A streamed is a stream and the codec that it is of.
type streamed struct {
	name  string
	codec codectest.Laws
	bytes []byte
}

// chunksOf frames the deltas of a choice as a chat stream without an end mark.
func chunksOf(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", d)
	}
	return b.String()
}

// finished is the end of a chat stream.
func finished(reason string) string {
	return `data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n" +
		`data: {"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}}` + "\n\ndata: [DONE]\n\n"
}

// framed frames payloads as a stream of response events.
func framed(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		kind := "x"
		if _, rest, ok := strings.Cut(p, `"type":"`); ok {
			kind, _, _ = strings.Cut(rest, `"`)
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, p)
	}
	return b.String()
}

// ownStreams are streams as servers send them, so that the laws hold without the corpus.
func ownStreams() []streamed {
	chat := map[string]string{
		"text and calls": ": OPENROUTER PROCESSING\n\n" +
			`data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}` + "\n\n" +
			chunksOf(`{"role":"assistant","content":"","refusal":null}`, `{"content":"He"}`, `{"content":"llo \ud83d\ude00 \"\n"}`,
				`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
				`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""},"extra_content":{"s":"sig"}}]}`) + finished("tool_calls"),
		"thinking": chunksOf(`{"role":"assistant","content":null}`, `{"reasoning_content":"let "}`, `{"reasoning_content":"me"}`, `{"content":"ok"}`) + finished("stop"),
		"details": chunksOf(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","format":"f","index":0}]}`,
			`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","format":"f","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","text":"","signature":"sig","index":0}]}`, `{"content":"x"}`) + finished("stop"),
		"encrypted": chunksOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA","index":0}]}`, `{"content":"x"}`) + finished("stop"),
		"refusal":   chunksOf(`{"role":"assistant","content":""}`, `{"refusal":"I "}`, `{"refusal":"won't"}`) + finished("stop"),
		"custom":    chunksOf(`{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"p","input":""}}]}`, `{"tool_calls":[{"index":0,"custom":{"input":"*** "}}]}`, `{"tool_calls":[{"index":0,"custom":{"input":"end"}}]}`) + finished("tool_calls"),
		"function":  chunksOf(`{"role":"assistant","content":null}`, `{"function_call":{"name":"f","arguments":""}}`, `{"function_call":{"arguments":"{\"x\""}}`, `{"function_call":{"arguments":":1}"}}`) + finished("function_call"),
		"no DONE":   strings.TrimSuffix(chunksOf(`{"content":"x"}`)+finished("length"), "data: [DONE]\n\n"),
		"only DONE": chunksOf(`{"content":"x"}`) + "data: [DONE]\n\n",
	}
	responses := map[string]string{
		"everything": framed(
			`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","model":"m","status":"in_progress","output":[]}}`,
			`{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","object":"response","model":"m","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
			`{"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"one"}`,
			`{"type":"response.reasoning_summary_text.delta","sequence_number":5,"item_id":"rs_1","output_index":0,"summary_index":1,"delta":"two"}`,
			`{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"enc"}}`,
			`{"type":"response.output_item.added","sequence_number":7,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
			`{"type":"response.content_part.added","sequence_number":8,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
			`{"type":"response.output_text.delta","sequence_number":9,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hel","obfuscation":"xx"}`,
			`{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"lo"}`,
			`{"type":"response.output_text.done","sequence_number":11,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Hello"}`,
			`{"type":"response.output_item.done","sequence_number":12,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}],"phase":"commentary"}}`,
			`{"type":"response.output_item.added","sequence_number":13,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"a","name":"f"}}`,
			`{"type":"response.function_call_arguments.delta","sequence_number":14,"item_id":"fc_1","output_index":2,"delta":"{\"x\":1}"}`,
			`{"type":"response.function_call_arguments.done","sequence_number":15,"item_id":"fc_1","output_index":2,"arguments":"{\"x\":1}"}`,
			`{"type":"response.output_item.done","sequence_number":16,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"x\":1}","call_id":"a","name":"f"}}`,
			`{"type":"response.output_item.added","sequence_number":17,"output_index":3,"item":{"id":"ctc_1","type":"custom_tool_call","status":"in_progress","call_id":"b","name":"p","input":""}}`,
			`{"type":"response.custom_tool_call_input.delta","sequence_number":18,"item_id":"ctc_1","output_index":3,"delta":"***"}`,
			`{"type":"response.output_item.done","sequence_number":19,"output_index":3,"item":{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"b","name":"p","input":"***"}}`,
			`{"type":"response.output_item.added","sequence_number":20,"output_index":4,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}`,
			`{"type":"response.output_item.done","sequence_number":21,"output_index":4,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}}`,
			`{"type":"response.output_item.done","sequence_number":22,"output_index":5,"item":{"id":"cmp_1","type":"compaction","encrypted_content":"zzz"}}`,
			`{"type":"keepalive"}`,
			`{"type":"response.completed","sequence_number":23,"response":{"id":"resp_1","object":"response","model":"m","status":"completed","output":[],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}}}`,
		),
		"incomplete": framed(
			`{"type":"response.created","response":{"id":"resp_2","model":"m","status":"in_progress"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`,
			`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"cut"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"cut","annotations":[]}]}}`,
			`{"type":"response.incomplete","response":{"id":"resp_2","model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
		),
	}
	var all []streamed
	for name, s := range chat {
		all = append(all, streamed{"chat/" + name, chatLaws, []byte(s)})
	}
	for name, s := range responses {
		all = append(all, streamed{"responses/" + name, responsesLaws, []byte(s)})
	}
	slices.SortFunc(all, func(a, b streamed) int { return strings.Compare(a.name, b.name) })
	return all
}

// corpus reads the recordings, once for all tests.
var corpus = func() func(string) ([]recording.Exchange, error) {
	var once sync.Once
	var all []recording.Exchange
	var err error
	return func(root string) ([]recording.Exchange, error) {
		once.Do(func() { all, err = recording.Load(root) })
		return slices.Clone(all), err
	}
}()

// exchanges returns the recorded exchanges of this package's dialects.
func exchanges(t testing.TB) []recording.Exchange {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Log("PLIMSOLL_CORPUS is not set: only the streams of this file are tested")
		return nil
	}
	all, err := corpus(root)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(x recording.Exchange) bool { return lawsOf(x.Dialect).Codec == nil })
	if len(all) < 20 {
		t.Fatalf("corpus: %d exchanges", len(all))
	}
	return all
}

// lawsOf returns those of a dialect of this package.
func lawsOf(d llm.Dialect) codectest.Laws {
	for _, c := range codecs() {
		if c.Dialect() == d {
			return c
		}
	}
	return codectest.Laws{}
}

// eachStream calls f for every stream of this file and of the corpus.
func eachStream(t *testing.T, f func(t *testing.T, s streamed)) {
	all := ownStreams()
	for _, x := range exchanges(t) {
		if x.Events() {
			all = append(all, streamed{x.Name, lawsOf(x.Dialect), x.Response})
		}
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

func TestLawStreamDoesNotDependOnChunks(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) {
		want := s.codec.Chunks(t, s.bytes)
		if d := cmp.Diff(want, codectest.Events(t, s.codec, bytes.ReplaceAll(s.bytes, []byte("\n"), []byte("\r\n")))); d != "" {
			t.Fatalf("with other line ends: %s", d)
		}
	})
}

// A stream that ends before its end mark is cut, one that ends behind it is whole.
func TestLawCutStreamIsAnError(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) {
		whole := codectest.Events(t, s.codec, s.bytes)
		last := whole[len(whole)-1]
		for _, e := range whole {
			if e.Kind == llm.EventEnd {
				last = e
			}
		}
		step := 1 + len(s.bytes)*len(s.bytes)/800_000
		first := -1 // the first prefix that is whole
		for end := 0; end < len(s.bytes); end += step {
			events, err := codectest.Feed(s.codec, s.bytes[:end])
			if err == nil && first < 0 {
				first = end
			}
			if first >= 0 && (err != nil || len(events) == 0 || events[len(events)-1].Kind == 0) {
				t.Fatalf("prefix of %d bytes: want it whole as that of %d bytes is, got %v", end, first, err)
			}
			if first < 0 && !errors.Is(err, wire.ErrCut) {
				t.Fatalf("prefix of %d bytes: want ErrCut, got %v", end, err)
			}
			if first >= 0 && !slices.ContainsFunc(events, func(e llm.Event) bool { return e.Kind == llm.EventEnd && e.Stop == last.Stop }) {
				t.Fatalf("prefix of %d bytes: want the end, got %+v", end, events[len(events)-1])
			}
		}
		if first < 0 {
			return
		}
		prefix := string(s.bytes[:first])
		prefix = prefix[strings.LastIndex(prefix[:max(len(prefix)-2, 0)], "data:"):]
		if step == 1 && !strings.Contains(prefix, `"finish_reason"`) && !strings.Contains(prefix, "[DONE]") && !strings.Contains(prefix, "response.completed") && !strings.Contains(prefix, "response.incomplete") {
			t.Errorf("want the end mark to end the stream, got %s", prefix)
		}
	})
}

// withoutRaw returns events as another stream may tell them: without payloads and pings.
func withoutRaw(events []llm.Event) []llm.Event {
	var out []llm.Event
	for _, e := range events {
		if e.Raw = nil; e.Kind != llm.EventOther && (e.Kind != llm.EventDelta || e.Delta != llm.DeltaOther) {
			out = append(out, e)
		}
	}
	return out
}

func TestLawEncodedStreamTellsTheSame(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) {
		events := codectest.Events(t, s.codec, s.bytes)
		b := codectest.Encoded(t, s.codec, events)
		again := codectest.Events(t, s.codec, b)
		for i, e := range events {
			if e.Kind == llm.EventEnd && e.Reason == "" { // an encoder gives a reason
				events[i].Reason = again[len(again)-1].Reason
			}
		}
		if d := codectest.Diff(withoutRaw(events), withoutRaw(again)); d != "" {
			t.Errorf("%s\n%s", d, b)
		}
	})
}

// The deltas of a part add up to it; parts begin in the order of their index and end once.
func TestLawEventsAreWellFormed(t *testing.T) {
	eachStream(t, func(t *testing.T, s streamed) { s.codec.InOrder(t, codectest.Events(t, s.codec, s.bytes)) })
}
