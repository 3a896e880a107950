package ollama

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// What a server says in several Rounds, and what its client gets of it.
func TestSplice(t *testing.T) {
	line := func(rest string) string { return `{"model":"m",` + rest + "}\n" }
	for _, x := range []struct {
		name     string
		streamed bool
		rounds   []string
		want     string
	}{
		{
			name: "calls are numbered on; figures are sums", streamed: true,
			rounds: []string{
				line(`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":0,"name":"h","arguments":{}}}]},"done":false`) +
					line(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5000000000,"prompt_eval_count":10,"eval_count":2`),
				line(`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":0,"name":"h","arguments":{}}},{"function":{"index":1,"name":"f","arguments":{}}}]},"done":false`) +
					line(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":6000000000,"prompt_eval_count":20,"eval_count":3`),
			},
			want: line(`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{}}}]},"done":false`) +
				line(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":11000000000,"prompt_eval_count":30,"eval_count":5`),
		},
		{
			name: "words and a hidden call in the last line, which nothing ends", streamed: true,
			rounds: []string{
				strings.TrimSpace(line(`"message":{"role":"assistant","content":"x","tool_calls":[{"function":{"name":"h","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":2`)),
				line(`"message":{"role":"assistant","content":"y"},"done":true,"done_reason":"length","eval_count":3`),
			},
			want: strings.TrimSpace(line(`"message":{"role":"assistant","content":"x"},"done":false`)) + "\n\n" +
				line(`"message":{"role":"assistant","content":"y"},"done":false`) +
				line(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"length","eval_count":5`),
		},
		{
			name: "whole replies",
			rounds: []string{
				line(`"message":{"role":"assistant","content":"x","thinking":"p","tool_calls":[{"function":{"index":0,"name":"h","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":2`),
				line(`"message":{"role":"assistant","content":"y","thinking":"q","tool_calls":[{"function":{"index":0,"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":3`),
			},
			want: strings.TrimSpace(line(`"message":{"role":"assistant","content":"xy","thinking":"pq","tool_calls":[{"function":{"index":0,"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":5`)),
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := Codec{}.NewSplice(codectest.Hides, x.streamed)
			got := codectest.Joined(t, s, codectest.AtOnce, x.rounds...)
			if got != x.want {
				t.Errorf("want\n%s\ngot\n%s", x.want, got)
			}
		})
	}
}
