package check_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// A body in which one value is something else is judged and never stops a judge: whatever stands anywhere.
func TestAnyValueAnywhere(t *testing.T) {
	tables := map[string][]ruleCase{
		"anthropic": append(messagesCases(), messagesReplyCases()...), "openai-chat": chatCases(), "openai-responses": responsesCases(),
		"gemini": geminiCases(), "ollama": ollamaCases(),
	}
	for dialect, table := range tables {
		var bodies []any
		for _, c := range table {
			var v any
			if json.Unmarshal([]byte(c.body), &v) == nil {
				bodies = append(bodies, v)
			}
		}
		t.Run(dialect, rapid.MakeCheck(func(t *rapid.T) {
			body := rapid.SampledFrom(bodies).Draw(t, "body")
			text, err := json.Marshal(changed(t, body))
			if err != nil {
				t.Fatal(err)
			}
			d := llm.Dialect(dialect)
			for _, faults := range [][]check.Fault{check.Request(d, text), check.CountTokens(d, text), check.Response(d, text), check.Stream(d, []byte("event: x\ndata: "+string(text)+"\n\n"))} {
				for _, f := range faults {
					if f.Rule == "" || f.Message == "" {
						t.Fatalf("want a rule and a message, got %+v", f)
					}
				}
			}
		}))
	}
}

// changed returns a copy of a value in which one value below it, or it itself, is another.
func changed(t *rapid.T, v any) any {
	down := rapid.IntRange(0, 3).Draw(t, "down") > 0
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || !down {
			break
		}
		keys := slices.Sorted(maps.Keys(v))
		key := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "key")]
		out := map[string]any{}
		for k, m := range v {
			out[k] = m
		}
		out[key] = changed(t, v[key])
		return out
	case []any:
		if len(v) == 0 || !down {
			break
		}
		out := append([]any(nil), v...)
		i := rapid.IntRange(0, len(out)-1).Draw(t, "index")
		out[i] = changed(t, out[i])
		return out
	}
	return rapid.SampledFrom([]any{nil, true, "", "x", 0, -1, 1.5, []any{}, []any{nil}, []any{"x"}, map[string]any{}, map[string]any{"type": "text"}}).Draw(t, "value")
}
