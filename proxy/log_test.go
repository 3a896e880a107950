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
	long := fmt.Sprintf(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("my own words ", 5000))
	ask(t, "POST", p.url+"/v1/messages", nil, []byte(long))
	ask(t, "POST", p.url+"/v1/responses", nil, []byte(`{"model":"m","input":"my own words","previous_response_id":"resp_of_my_own_words"}`))
	lines := p.log.requests(t, 2)
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
