package gemini_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// TestResource: what a resource holds and what is sent beside it are together the whole request, with its bytes.
func TestResource(t *testing.T) {
	r := llm.Request{
		Model: "gemini-2.5-pro", MaxOutput: 100,
		Sections: []llm.Section{{Name: "a", Text: "Be <b>kind</b>.\n"}},
		Tools:    []llm.Tool{{Name: "look", Description: "Looks.", Schema: `{"type":"object"}`}},
		Messages: []llm.Message{
			llm.UserText("go"), llm.AssistantText("I look", llm.ToolCall{CallID: "1", Name: "look", Args: `{"n": 1.50}`}), llm.ToolText("1", "seen"), llm.AssistantText("done"),
			llm.UserText("and now?"),
		},
	}
	whole, err := gemini.EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	for messages, want := range []int{0, 1, 2, 3, 4} { // here each message is a content
		n, ok := gemini.Contents(r, whole, messages)
		b, held := gemini.BeginningOf(whole, n)
		if !ok || !held || n != want {
			t.Fatalf("%d messages: %d contents, %v, %v", messages, n, ok, held)
		}
		rest, ok := gemini.Naming(whole, n, "cachedContents/x")
		if !ok {
			t.Fatal("nothing is left")
		}
		var made, beside, all map[string]json.RawMessage
		for text, to := range map[string]*map[string]json.RawMessage{string(b.Resource(r.Model, 90)): &made, string(rest): &beside, string(whole): &all} {
			if err := json.Unmarshal([]byte(text), to); err != nil {
				t.Fatal(err)
			}
		}
		joined := bytes.ReplaceAll(append(bytes.Clone(made["contents"]), beside["contents"]...), []byte("]["), []byte(","))
		if !bytes.Equal(joined, all["contents"]) || !bytes.Equal(made["systemInstruction"], all["systemInstruction"]) || !bytes.Equal(made["tools"], all["tools"]) {
			t.Errorf("%d messages: %s and %s are not %s", messages, made, beside, whole)
		}
		if string(made["ttl"]) != `"90s"` || string(made["model"]) != `"models/gemini-2.5-pro"` || !bytes.Equal(beside["generationConfig"], all["generationConfig"]) {
			t.Errorf("%s, %s", made, beside)
		}
		if faults := check.Request(gemini.Dialect, rest); len(faults) > 0 {
			t.Error(faults)
		}
		back, err := gemini.DecodeRequest(rest)
		if again, wrong := gemini.EncodeRequest(back); err != nil || wrong != nil || !bytes.Equal(again, rest) {
			t.Errorf("%v, %v: %s", err, wrong, again)
		}
	}
	if _, ok := gemini.Naming(whole, 5, "cachedContents/x"); ok {
		t.Error("a request with nothing in it")
	}
	r.Settings.Choice.Mode = llm.ChoiceAny
	if whole, err = gemini.EncodeRequest(r); err != nil {
		t.Fatal(err)
	}
	if _, ok := gemini.BeginningOf(whole, 1); ok {
		t.Error("a choice of tools may not stand beside a resource")
	}
}

func TestDecodeResource(t *testing.T) {
	if name, n, ok := gemini.DecodeResource([]byte(`{"name":"cachedContents/a-1_B","usageMetadata":{"totalTokenCount":4711}}`)); !ok || name != "cachedContents/a-1_B" || n != 4711 {
		t.Error(name, n, ok)
	}
	for _, bad := range []string{`{}`, `{"name":"cachedContents/"}`, `{"name":"cachedContents/../models"}`, `{"name":"files/a"}`, `{"name":"cachedContents/a?b"}`, ``, `x`} {
		if name, _, ok := gemini.DecodeResource([]byte(bad)); ok {
			t.Errorf("%s is taken for %q", bad, name)
		}
	}
}
