package proxytest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/tidwall/gjson"
)

// usageFailures are those of figures that were lost, doubled or told wrong.
func usageFailures() []scenario {
	return []scenario{
		{"CLIProxyAPI#5617_CLIProxyAPI#5854_cached_tokens_count_once", countedOnce},
		{"litellm#24176_headroom#1132_cline#4346_lobehub#18612_all_figures_are_told_alike", toldAlike},
		{"bifrost#3357_what_a_cut_stream_used_is_known", cutUsage},
	}
}

// countedOnce: what was read and written of a cache is known from streams and replies alike,
// apart from what was paid in full.
func countedOnce(t *testing.T) {
	for _, c := range []struct{ path, kind, answer string }{
		{"/v1/messages", object, `{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":3}}`},
		{"/v1/messages", events, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":100,\"output_tokens\":1}}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		{"/v1/chat/completions", object, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":107,"completion_tokens":3,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":100}}}`},
		{"/v1/chat/completions", events, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":107,\"completion_tokens\":3,\"total_tokens\":110,\"prompt_tokens_details\":{\"cached_tokens\":100}}}\n\ndata: [DONE]\n\n"},
		{"/v1beta/models/m:generateContent", object, `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":107,"cachedContentTokenCount":100,"candidatesTokenCount":3,"totalTokenCount":110}}`},
	} {
		p := before(t, &mirror{answer: says(c.kind, c.answer)}, nil, nil)
		body := ask
		if strings.HasPrefix(c.path, "/v1beta") {
			body = `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`
		}
		_, _, got := post(t, p.url+c.path, nil, body)
		line := p.log.Requests(t, 1)[0]
		written, _ := line["usage_cache_write"].(float64)
		if got != c.answer || line["usage_input"] != 7.0 || line["usage_cache_read"] != 100.0 || line["usage_output"] != 3.0 || written != 0 && written != 20 {
			t.Errorf("%s %s: got %v", c.path, c.kind, line)
		}
	}
}

var deltaUsage = regexp.MustCompile(`"usage":\{"output_tokens"`)

// toldAlike: a client that is told its own size is told it in each place where a prompt's
// size stands; no field comes or goes, and the others stay.
func toldAlike(t *testing.T) {
	model := scripted(t, "window 8000\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n")
	var sent string
	p := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		model.ServeHTTP(answer, r)
		sent = deltaUsage.ReplaceAllString(answer.Body.String(), `"usage":{"input_tokens":777,"cache_read_input_tokens":5,"output_tokens"`)
		says(events, sent)(w, r)
	}), view, nil)
	a := testagent.New(p.url, "anthropic", true)
	for n := 1; ; n++ {
		body, err := a.Body()
		must(t, err)
		_, _, got := post(t, p.url+"/v1/messages", nil, string(body))
		start, delta := added(t, sent, got, "message.usage.input_tokens"), added(t, sent, got, "usage.input_tokens")
		if start != delta || n > 8 && start == 0 {
			t.Errorf("step %d: %d tokens were added at the start, %d at the end", n, start, delta)
		}
		must(t, a.Take([]byte(got)))
		if !a.Work(n) {
			return
		}
	}
}

// added returns how much larger a figure of a stream is than it was sent. All else must be
// the same.
func added(t *testing.T, sent, got, path string) (n int64) {
	t.Helper()
	was, is := strings.Split(sent, "\n"), strings.Split(got, "\n")
	if len(was) != len(is) {
		t.Fatalf("%d lines, want %d", len(is), len(was))
	}
	for i := range was {
		a, b := gjson.Get(strings.TrimPrefix(was[i], "data: "), path), gjson.Get(strings.TrimPrefix(is[i], "data: "), path)
		if a.Exists() != b.Exists() {
			t.Errorf("line %d: %s is there %t, sent %t", i, path, b.Exists(), a.Exists())
		}
		if d := b.Int() - a.Int(); d != 0 {
			n = d
		}
		plainly := regexp.MustCompile(`"input_tokens":\d+`)
		if plainly.ReplaceAllString(was[i], "") != plainly.ReplaceAllString(is[i], "") {
			t.Errorf("line %d: want %s, got %s", i, was[i], is[i])
		}
	}
	return n
}

// cutUsage: the log tells what a stream had used when its client went.
func cutUsage(t *testing.T) {
	p := before(t, &mirror{answer: func(w http.ResponseWriter, r *http.Request) {
		says(events, oddEvents[0])(w, r)
		<-r.Context().Done()
	}}, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/messages", strings.NewReader(askMore))
	must(t, err)
	resp, err := plain.Do(req)
	must(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, len(oddEvents[0])))
	must(t, err)
	cancel()
	_ = resp.Body.Close()
	if line := p.log.Requests(t, 1)[0]; line["usage_input"] != 7.0 {
		t.Errorf("got %v", line)
	}
}
