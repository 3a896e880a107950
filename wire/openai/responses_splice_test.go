package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// named returns payloads as a stream of events with their names.
func named(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		kind, _, _ := strings.Cut(strings.TrimPrefix(p, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + p + "\n\n")
	}
	return b.String()
}

const (
	responsesCall = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"h","arguments":"{}","status":"completed"}`
	responsesText = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x"}]}`
)

// The Rounds of a reply, as a provider sends them that keeps responses: reasoning and a
// hidden call, then text.
func responsesRounds() []string {
	const reasoning = `{"type":"reasoning","id":"rs_1","summary":[]}`
	return []string{
		named(`{"type":"response.created","response":{"id":"resp_1","created_at":1,"previous_response_id":"resp_0","model":"m","status":"in_progress","output":[]},"sequence_number":0}`,
			`{"type":"response.output_item.added","output_index":0,"item":`+reasoning+`,"sequence_number":1}`,
			`{"type":"response.output_item.done","output_index":0,"item":`+reasoning+`,"sequence_number":2}`,
			`{"type":"response.output_item.added","output_index":1,"item":`+responsesCall+`,"sequence_number":3}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}","sequence_number":4}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+responsesCall+`,"sequence_number":5}`,
			`{"type":"response.completed","response":{"id":"resp_1","created_at":1,"model":"m","status":"completed","output":[`+reasoning+`,`+responsesCall+`],"usage":{"input_tokens":10,"output_tokens":2,"total_tokens":12}},"sequence_number":6}`),
		named(`{"type":"response.created","response":{"id":"resp_2","created_at":2,"previous_response_id":"resp_1","model":"m","status":"in_progress","output":[]},"sequence_number":0}`,
			`{"type":"response.in_progress","response":{"id":"resp_2"},"sequence_number":1}`,
			`{"type":"response.output_item.added","output_index":0,"item":`+responsesText+`,"sequence_number":2}`,
			`{"type":"response.output_item.done","output_index":0,"item":`+responsesText+`,"sequence_number":3}`,
			`{"type":"response.completed","response":{"id":"resp_2","created_at":2,"previous_response_id":"resp_1","model":"m","status":"completed","output":[`+responsesText+`],"usage":{"input_tokens":20,"output_tokens":3,"total_tokens":23,"input_tokens_details":{"cached_tokens":10}}},"sequence_number":4}`),
	}
}

func TestResponsesSplice(t *testing.T) {
	const reasoning = `{"type":"reasoning","id":"rs_1","summary":[]}`
	want := named(`{"type":"response.created","response":{"id":"resp_1","created_at":1,"previous_response_id":"resp_0","model":"m","status":"in_progress","output":[]},"sequence_number":0}`,
		`{"type":"response.output_item.added","output_index":0,"item":`+reasoning+`,"sequence_number":1}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+reasoning+`,"sequence_number":2}`,
		`{"type":"response.output_item.added","output_index":1,"item":`+responsesText+`,"sequence_number":3}`,
		`{"type":"response.output_item.done","output_index":1,"item":`+responsesText+`,"sequence_number":4}`,
		`{"type":"response.completed","response":{"id":"resp_1","created_at":1,"previous_response_id":"resp_0","model":"m","status":"completed","output":[`+reasoning+`,`+responsesText+`],"usage":{"input_tokens":30,"output_tokens":5,"total_tokens":35,"input_tokens_details":{"cached_tokens":10}}},"sequence_number":5}`)
	if got := codectest.Joined(t, Responses{}.NewSplice(codectest.Hides, true), codectest.AtOnce, responsesRounds()...); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// Servers leave out indices, the beginnings of items, the output at the end.
func TestResponsesSpliceOfScantStreams(t *testing.T) {
	head := `{"type":"response.created","response":{"id":"a"}}`
	got := codectest.Joined(
		t, Responses{}.NewSplice(codectest.Hides, true), codectest.AtOnce,
		named(head, `{"type":"response.output_item.added","item":`+responsesCall+`}`, `{"type":"response.function_call_arguments.delta","delta":"{"}`,
			`{"type":"response.output_item.done","item":`+responsesCall+`}`, `{"type":"response.completed","response":{"id":"a","status":"completed","output":[]}}`),
		named(`{"type":"response.created","response":{"id":"b"}}`, `{"type":"response.output_item.done","output_index":0,"item":`+responsesCall+`}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+responsesText+`}`, `{"type":"response.completed","response":{"id":"b","status":"completed"}}`),
	)
	want := named(head, `{"type":"response.output_item.done","output_index":0,"item":`+responsesText+`}`,
		`{"type":"response.completed","response":{"id":"a","status":"completed","output":[`+responsesText+`]}}`)
	if got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// A Round that fails tells of the response that the client knows.
func TestResponsesSpliceFails(t *testing.T) {
	s := Responses{}.NewSplice(codectest.Hides, true)
	rounds := responsesRounds()
	out, _ := s.Write([]byte(rounds[0]))
	got := string(out)
	if _, err := s.EndRound(); err != nil {
		t.Fatal(err)
	}
	s.Next()
	out, err := s.Write([]byte(named(`{"type":"response.created","response":{"id":"resp_2"},"sequence_number":0}`,
		`{"type":"response.failed","response":{"id":"resp_2","error":{"code":"server_error","message":"oh"}},"sequence_number":1}`)))
	told, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("want the provider's error, got %v", err)
	}
	got += string(out) + string(s.Fail(told))
	if faults := check.Stream(DialectResponses, []byte(got)); len(faults) > 0 || strings.Contains(got, "resp_2") || !strings.Contains(got, `"response.failed"`) {
		t.Errorf("%v\n%s", faults, got)
	}
}

// A response repeats the tools of its request; the client gets those that it sent.
func TestResponsesSpliceOfTools(t *testing.T) {
	const tools, own = `"tools":[{"type":"function","name":"mine"},{"type":"web_search"},{"type":"function","name":"h"}]`, `"tools":[{"type":"function","name":"mine"},{"type":"web_search"}]`
	first := `{"id":"a",` + tools + `,"status":"completed","output":[` + responsesCall + `]}`
	last := `{"id":"b",` + tools + `,"status":"completed","output":[` + responsesText + `]}`
	want := `{"id":"a",` + own + `,"status":"completed","output":[` + responsesText + `]}`
	if got := codectest.Joined(t, Responses{}.NewSplice(codectest.Hides, false), codectest.AtOnce, first, last); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	const begun = `{"type":"response.created","response":{"id":"a"}}`
	event := func(response string) string { return `{"type":"response.completed","response":` + response + `}` }
	if got := codectest.Joined(t, Responses{}.NewSplice(codectest.Hides, true), codectest.AtOnce, named(begun, event(first)), named(event(last))); got != named(begun, event(want)) {
		t.Errorf("want\n%s\ngot\n%s", named(begun, event(want)), got)
	}
}
