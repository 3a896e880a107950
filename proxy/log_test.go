package proxy_test

import (
	"fmt"
	"strings"
	"testing"
)

// A request that the proxy itself refuses is a warning that says why and what can be done,
// without a word of the conversation.
func TestRefusalsAreWarnings(t *testing.T) {
	server, url := scripted(t, "reply always\n  text \"no\"\n")
	p := start(t, url, nil)
	long := fmt.Sprintf(`{"model":"m","max_tokens":5,"system":%q,"messages":[{"role":"user","content":"my own"}]}`, strings.Repeat("my own words ", 5000))
	ask(t, "POST", p.url+"/v1/messages", nil, []byte(long))
	ask(t, "POST", p.url+"/v1/responses", nil, []byte(`{"model":"m","input":"my own words","previous_response_id":"resp_of_my_own_words"}`))
	lines := p.log.Requests(t, 2)
	for i, want := range []struct{ why, hint string }{{"at most", "--window"}, {"previous_response_id", "whole history"}} {
		l := lines[i]
		why, _ := l["error"].(string)
		hint, _ := l["hint"].(string)
		if l["level"] != "WARN" || !strings.Contains(why, want.why) || !strings.Contains(hint, want.hint) || l["model"] != "m" {
			t.Errorf("line %d: got %v", i+1, l)
		}
	}
	if text := p.log.String(); len(server.Log()) != 0 || strings.Contains(text, "my own") || strings.Contains(text, "my_own") {
		t.Errorf("%d calls upstream; the log says %s", len(server.Log()), text)
	}
}

// A conversation that the provider keeps is passed on as it is, and the log says so; an empty
// id is none.
func TestConversationPasses(t *testing.T) {
	server, url := scripted(t, "reply always\n  text \"yes\"\n")
	p := start(t, url, nil)
	instructions := strings.Repeat("a long way to go ", 5000)
	for i, c := range []struct {
		held   string
		passed bool
	}{
		{`"conversation":"conv_1"`, true},
		{`"conversation":{"id":"conv_1"}`, true},
		{`"conversation":null`, false},
		{`"previous_response_id":""`, false},
	} {
		body := fmt.Sprintf(`{"model":"m","instructions":%q,"input":"Go on.",%s}`, instructions, c.held)
		resp, _ := ask(t, "POST", p.url+"/v1/responses", nil, []byte(body))
		line := p.log.Requests(t, i+1)[i]
		passed, _ := line["passed"].(string)
		if refused := resp.StatusCode == 400; strings.Contains(passed, "conversation") != c.passed || refused == c.passed {
			t.Errorf("%s: got %d, %v", c.held, resp.StatusCode, line)
		}
		if calls := server.Log(); c.passed && string(calls[len(calls)-1].Body) != body {
			t.Errorf("%s: other bytes left", c.held)
		}
	}
}
