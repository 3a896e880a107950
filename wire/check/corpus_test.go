package check_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recording"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// What providers accepted and sent has no fault: the test that keeps the rules honest.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recordings to judge")
	}
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bodies, err := recording.Bodies(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range append(all, bodies...) {
		if e.Dialect == "" {
			continue
		}
		if len(e.Request) > 0 && (e.Status == 200 || e.Status == 0) {
			counts["requests"]++
			report(t, e, "request", requestOf(e))
		}
		switch {
		case e.Events():
			counts["streams"]++
			faults := check.Stream(e.Dialect, e.Response)
			if rule := deviant(e.Name); rule != "" {
				if len(faults) == 0 || faults[0].Rule != rule {
					t.Errorf("%s: stream: want it to break %s, got %v", e.Name, rule, faults)
				}
				continue
			}
			report(t, e, "stream", faults)
		case e.JSON() && !strings.HasSuffix(e.Path, "/count_tokens"):
			counts["responses"]++
			report(t, e, "response", check.Response(e.Dialect, e.Response))
		}
	}
	t.Logf("judged %v", counts)
}

func requestOf(e recording.Exchange) []check.Fault {
	if strings.HasSuffix(e.Path, "/count_tokens") {
		return check.CountTokens(e.Dialect, e.Request)
	}
	_, model, _ := strings.Cut(e.Path, "/models/")
	model, _, _ = strings.Cut(model, ":")
	return check.Options{Model: model}.Request(e.Dialect, e.Request)
}

// deviant are recordings of streams that break a rule of their dialect in fact, each with the rule.
func deviant(name string) string {
	for part, rule := range map[string]string{
		"test_tools_streaming_variant_a.yaml#0":      "stream-order", // a server behind a router that gives no finish_reason
		"anthropic-spliced-message-start.chunks.txt": "stream-order", // a gateway that starts the message again after a fallback
		"anthropic-fallback-tool-call.sse":           "framing",      // the file lost its last line break
		"github-copilot-id-rotation.1.chunks.txt":    "item-id",      // a proxy that gives each event another item id
	} {
		if strings.Contains(name, part) {
			return rule
		}
	}
	return ""
}

func report(t *testing.T, e recording.Exchange, what string, faults []check.Fault) {
	t.Helper()
	for i, f := range faults {
		if i == 4 {
			t.Errorf("%s: %s: and %d more", e.Name, what, len(faults)-i)
			break
		}
		t.Errorf("%s: %s: %s at %q: %s", e.Name, what, f.Rule, f.Path, f.Message)
	}
}

// A real conversation that loses one of its results is refused: the rules bite on what clients really send.
func TestCorpusWithoutAResult(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recordings to judge")
	}
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string][2]string{ // of a dialect: the list, and what an element with a result has
		"anthropic": {"messages", `"tool_result"`}, "openai-chat": {"messages", `"tool_call_id"`}, "openai-responses": {"input", `_call_output"`}, "gemini": {"contents", `"functionResponse"`},
	}
	refused := map[string]int{}
	for _, e := range all {
		shape, ok := shapes[string(e.Dialect)]
		var body map[string]json.RawMessage
		var list []json.RawMessage
		if !ok || json.Unmarshal(e.Request, &body) != nil || json.Unmarshal(body[shape[0]], &list) != nil {
			continue
		}
		for i, element := range list {
			if !bytes.Contains(element, []byte(shape[1])) || body["previous_response_id"] != nil {
				continue
			}
			if body[shape[0]], err = json.Marshal(slices.Delete(slices.Clone(list), i, i+1)); err != nil {
				t.Fatal(err)
			}
			cut, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			if faults := check.Request(e.Dialect, cut); !slices.ContainsFunc(faults, func(f check.Fault) bool { return f.Rule == "call-unanswered" }) {
				t.Errorf("%s: want element %d to be missed, got %v", e.Name, i, faults)
			}
			refused[string(e.Dialect)]++
		}
	}
	for dialect := range shapes {
		if refused[dialect] == 0 {
			t.Errorf("%s: want conversations with results, got none", dialect)
		}
	}
	t.Logf("refused %v", refused)
}
