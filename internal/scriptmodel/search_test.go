package scriptmodel

import (
	"fmt"
	"strings"
	"testing"
)

// TestToolsThatWait: what waits is no part of the prompt's beginning, so that other tools that wait
// break no cache; what the provider's own search found takes its room where it was found.
func TestToolsThatWait(t *testing.T) {
	r := start(t, messages, "cache min 10\ncount \"chars/4\"\nreply when no user \"more\"\n  search \"dock\" dock_3\n  call dock_3\nreply always\n  text \"Aye.\"\n")
	dock := func(n int) string {
		return fmt.Sprintf(`{"name":"dock_%d","description":%q,"input_schema":{"type":"object"},"defer_loading":true}`, n, strings.Repeat("docks with care ", 50))
	}
	const history = `{"role":"user","content":[{"type":"text","text":"Dock at the third quay, please, and say so.","cache_control":{"type":"ephemeral"}}]}`
	body := func(messages string, tools ...string) []byte {
		return []byte(`{"model":"m","max_tokens":100,"tools":[{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},` +
			strings.Join(tools, ",") + `],"messages":[` + messages + `]}`)
	}
	first := r.ask(body(history, dock(1), dock(3)), false)
	if n := first.Usage.Prompt(); n > 100 {
		t.Errorf("want the definitions that wait to cost nothing, got %d tokens", n)
	}
	var blocks []string
	for _, p := range first.Message.Parts {
		blocks = append(blocks, string(p.Bytes()))
	}
	id := first.Message.Calls()[1].CallID
	reply := history + `,{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"Docked; more"}]}`
	second := r.ask(body(reply, dock(1), dock(2), dock(3)), false)
	if u := second.Usage; u.CacheRead != first.Usage.CacheWrite5m || u.Prompt() < 250 {
		t.Errorf("want what was written read, and one definition more: %+v, then %+v", first.Usage, u)
	}
	if got := r.send("POST", "/v1/messages", body(reply, dock(1))); got.status != 400 || !strings.Contains(string(got.body), "has no corresponding tool definition") {
		t.Errorf("a reference to a tool that is gone: got %d %s", got.status, got.body)
	}
}
