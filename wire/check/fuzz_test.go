package check_test

import (
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// No body, however broken, stops the judges, and they say the same twice: nothing depends on the order of a map.
func FuzzCheck(f *testing.F) {
	for i, table := range [][]ruleCase{messagesCases(), messagesReplyCases(), chatCases(), responsesCases(), geminiCases(), ollamaCases()} {
		for _, c := range table {
			f.Add(uint8(i), c.body)
		}
	}
	dialects := []llm.Dialect{"anthropic", "anthropic", "openai-chat", "openai-responses", "gemini", "ollama"}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		d := dialects[int(which)%len(dialects)]
		for what, j := range map[string]func(llm.Dialect, []byte) []check.Fault{
			"request": check.Options{Model: "gemini-3-pro"}.Request, "count": check.CountTokens, "response": check.Response, "stream": check.Stream,
		} {
			first, second := j(d, []byte(body)), j(d, []byte(body))
			if !reflect.DeepEqual(first, second) {
				t.Errorf("%s of %s: want the same faults twice, got %v and %v", what, d, first, second)
			}
			for _, fault := range first {
				if fault.Rule == "" || fault.Message == "" {
					t.Errorf("%s of %s: want a rule and a message, got %+v", what, d, fault)
				}
			}
		}
	})
}
