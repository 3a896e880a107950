package proxytest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
)

// thinkingFailures are those by which a provider refused thinking that came back.
func thinkingFailures() []scenario {
	return []scenario{
		{"CLIProxyAPI#2172_claude-code#10627_signatures_hold", func(t *testing.T) { thinks(t, "claude-fable-5-1", "signatures error") }},
		{"claude-code#12311_the_newest_turn_is_whole", newestTurn},
		{"zed#63571_a_bound_prefix_is_kept_or_told", func(t *testing.T) {
			thinks(t, "claude-fable-5-1", "signatures error")
			thinks(t, "claude-opus-5-5", "signatures drop")
		}},
		{"CLIProxyAPI#1584_another_model_in_between", otherModel},
		{"claude-mem#3198_a_refusal_is_no_storm", noStorm},
		{"codex#8119_encrypted_reasoning_goes_back", func(t *testing.T) {
			thinksIn(t, "openai-responses", "signatures error", func(a *testagent.Agent) { a.Change = stateless })
		}},
		{"opencode#4832_CLIProxyAPI#2360_Antigravity-Manager#1513_calls_keep_their_signatures", func(t *testing.T) { thinksIn(t, "gemini", "signatures error", nil) }},
	}
}

const thinkingTask = `
window 8000
output 500
%s
reply 30 times when tools
  thinking "Let me look."
  call read {"path": "a.txt"}
reply always
  text "Done."
`

// thinking asks for it, as clients do.
func thinking(body []byte) []byte {
	return append([]byte(`{"thinking":{"type":"adaptive"},`), body[1:]...)
}

// stateless asks for reasoning that only the provider can read.
func stateless(body []byte) []byte {
	return append([]byte(`{"store":false,"include":["reasoning.encrypted_content"],`), bytes.Replace(body, []byte(`"store":false,`), nil, 1)[1:]...)
}

// thinks: an agent whose task needs several windows ends it, with thinking that is signed
// for what stands before it, and the strict server refuses nothing.
func thinks(t *testing.T, model, settings string) {
	t.Helper()
	thinksIn(t, "anthropic", settings, func(a *testagent.Agent) { a.Model, a.Change = model, thinking })
}

func thinksIn(t *testing.T, d llm.Dialect, settings string, change func(*testagent.Agent)) {
	t.Helper()
	for _, stream := range []bool{false, true} {
		model := scripted(t, fmt.Sprintf(thinkingTask, settings))
		p := before(t, model, nil, nil)
		a := testagent.New(p.url, d, stream)
		if change != nil {
			change(a)
		}
		must(t, a.Run(t.Context()))
		signed := 0
		for _, call := range noFault(t, model) {
			if bytes.Contains(call.Body, []byte(`ignature"`)) || bytes.Contains(call.Body, []byte(`"encrypted_content"`)) {
				signed++
			}
		}
		lines := p.log.Requests(t, 31)
		if last := lines[len(lines)-1]; last["edited"] != true || signed < 10 {
			t.Errorf("%d requests with proofs, the last one %v", signed, last)
		}
	}
}

// newestTurn: in each request that leaves in a tool run the message with the newest calls
// has all that the client's has.
func newestTurn(t *testing.T) {
	model := scripted(t, fmt.Sprintf(thinkingTask, "signatures error"))
	a := testagent.New(before(t, model, nil, nil).url, "anthropic", true)
	a.Model = "claude-fable-5-1"
	var sent [][]byte
	a.Change = func(b []byte) []byte {
		b = thinking(b)
		sent = append(sent, b)
		return b
	}
	must(t, a.Run(t.Context()))
	for i, call := range noFault(t, model) {
		mine, left := messagesOf(sent[i]), messagesOf(call.Body)
		if i > 0 && mine[len(mine)-2] != left[len(left)-2] {
			t.Errorf("request %d: want %.300s, got %.300s", i+1, mine[len(mine)-2], left[len(left)-2])
		}
	}
}

// otherModel: a client that goes on with another model and comes back is never refused; what
// one model thought is kept for it.
func otherModel(t *testing.T) {
	model := scripted(t, fmt.Sprintf(thinkingTask, "signatures error"))
	a := testagent.New(before(t, model, nil, nil).url, "anthropic", false)
	a.Change = thinking
	a.Each = func(n int) { a.Model = []string{"claude-fable-5-1", "claude-opus-5-5"}[n/7%2] }
	must(t, a.Run(t.Context()))
	noFault(t, model)
}

// noStorm: what a provider refuses for its thinking is asked once and answered with the
// provider's own words, by which clients know what to do.
func noStorm(t *testing.T) {
	const refusal = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"},"request_id":"req_1"}`
	m := &mirror{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(refusal))
	}}
	p := before(t, m, nil, nil)
	body := strings.Replace(ask, `{"role":"user","content":"x"}`, `{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"of another"},{"type":"text","text":"y"}]},{"role":"user","content":"z"}`, 1)
	status, _, answer := post(t, p.url+"/v1/messages", nil, body)
	if status != 400 || answer != refusal || len(m.all()) != 1 || string(m.last(t).body) != body {
		t.Errorf("%d requests, got %d %s", len(m.all()), status, answer)
	}
}
