package claudecode

import "testing"

// TestUnpriced: what is not charged by list prices.
func TestUnpriced(t *testing.T) {
	for _, c := range []struct {
		usage string
		want  bool // list prices hold
	}{
		{`{"input_tokens":1}`, true},
		{`{"service_tier":"standard","speed":"standard","server_tool_use":{"web_search_requests":0,"web_fetch_requests":2}}`, true},
		{`{"service_tier":null,"speed":null,"server_tool_use":null}`, true},
		{`null`, true},
		{`{"service_tier":"priority"}`, false},
		{`{"service_tier":"batch"}`, false},
		{`{"speed":"fast"}`, false},
		{`{"inference_geo":"us"}`, false},
		{`{"inference_geo":"not_available"}`, true},
		{`{"server_tool_use":{"web_search_requests":3}}`, false},
		{`{"iterations":[{"type":"message"},{"type":"advisor_message","model":"m-big"},{"type":"message"}]}`, false},
		{`{"iterations":[{"type":"message"},{"type":"message"}]}`, true},
		{`{"iterations":null}`, true},
	} {
		if got := unpriced([]byte(c.usage)); (got == "") != c.want {
			t.Errorf("%s: want list prices to hold: %v, got %q", c.usage, c.want, got)
		}
	}
}
