package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

var ignoreRaw = cmpopts.IgnoreTypes(llm.Raw{})

const legacyBody = `{"model":"m","messages":[{"role":"user","content":"look"},` +
	`{"role":"assistant","content":null, "function_call" : {"name":"f", "arguments":"{\"x\": 1}","k":1}},` +
	` {"role":"function","name":"f","content":"o\u006e","k":2}],"functions":[{"name":"f"}]}`

// Calls of the time before there were tools are calls with results.
func TestLegacyFunctions(t *testing.T) {
	decode := func() llm.Request {
		r, err := DecodeChat([]byte(legacyBody))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := decode()
	if d := cmp.Diff([]llm.Part{llm.ToolCall{CallID: "f", Name: "f", Args: `{"x": 1}`}}, r.Messages[1].Parts, ignoreRaw); d != "" {
		t.Error(d)
	}
	result := r.Messages[2]
	if d := cmp.Diff([]llm.Part{llm.ToolResult{CallID: "f", Content: []llm.Part{llm.Text{Text: "on"}}}}, result.Parts, ignoreRaw); d != "" || result.Role != llm.RoleTool || result.Origin != llm.ToolRun {
		t.Errorf("%v, %v: %s", result.Role, result.Origin, d)
	}
	again := func(name string, r llm.Request, old, new string) {
		t.Helper()
		want := strings.Replace(legacyBody, old, new, 1)
		if got, err := EncodeChat(r); err != nil || string(got) != want {
			t.Errorf("%s:\nwant %s\ngot  %s, %v", name, want, got, err)
		}
	}
	again("untouched", r, "", "")
	r.Messages[2] = result.WithParts([]llm.Part{result.Results()[0].WithContent(llm.Text{Text: "cut"})})
	again("another result", r, `"o\u006e"`, `"cut"`)
	r = decode()
	call := r.Messages[1].Calls()[0]
	call.Args, call.Raw = "{}", call.Edited()
	r.Messages[1] = r.Messages[1].WithParts([]llm.Part{call})
	again("other arguments", r, `"{\"x\": 1}"`, `"{}"`)
	r = decode()
	r.Messages[2] = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "f", Content: []llm.Part{llm.Text{Text: "own"}}}}}
	again("a result that was made here", r, ` {"role":"function","name":"f","content":"o\u006e","k":2}`, `{"role":"function","name":"f","content":"own"}`)
	r = decode()
	r.Messages[1].Envelope = llm.Envelope{}
	again("a call without its envelope", r, `"content":null, "function_call"`, `"function_call"`)
	if _, err := DecodeChat([]byte(`{"messages":[{"role":"function","content":"x"}]}`)); err == nil || !strings.Contains(err.Error(), "messages[0].name") {
		t.Errorf("without a name: got %v", err)
	}
	if _, err := DecodeChat([]byte(`{"messages":[{"role":"function","name":"f","content":null}]}`)); err != nil {
		t.Errorf("without content: %v", err)
	}
}

// A reply with a function_call tells the same whole and as a stream, and goes back as it came.
func TestLegacyReplies(t *testing.T) {
	want := []llm.Part{llm.ToolCall{CallID: "f", Name: "f", Args: `{"x":1}`}}
	body := `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"x\":1}"}},"finish_reason":"function_call"}]}`
	whole, err := DecodeChatResponse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	told := replyOf(t, chatLaws, chunksOf(`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":""}}`, `{"function_call":{"arguments":"{\"x\":"}}`, `{"function_call":{"arguments":"1}"}}`)+finished("function_call"))
	for name, r := range map[string]llm.Response{"whole": whole, "streamed": told} {
		if d := cmp.Diff(want, r.Message.Parts, ignoreRaw); d != "" || r.Stop != llm.StopTool {
			t.Errorf("%s: %v %s", name, r.Stop, d)
		}
	}
	if d := cmp.Diff(whole.Message.Parts, told.Message.Parts); d != "" {
		t.Errorf("want the same bytes whole and streamed: %s", d)
	}
	if got, err := EncodeChatResponse(whole); err != nil || string(got) != body {
		t.Errorf("want it as it came, got %s, %v", got, err)
	}
	if got, err := EncodeChatResponse(told); err != nil || !strings.Contains(string(got), `"function_call":{"name":"f","arguments":"{\"x\":1}"}`) || !strings.Contains(string(got), `"finish_reason":"function_call"`) {
		t.Errorf("got %s, %v", got, err)
	}
	silent := replyOf(t, chatLaws, chunksOf(`{"function_call":{"name":"f"}}`)+finished("function_call"))
	if got := silent.Message.Calls(); len(got) != 1 || got[0].Args != "{}" {
		t.Errorf("no arguments: got %v", silent.Message.Parts)
	}
}

// What nobody said to be whole is not told to be.
func TestUnfinishedChat(t *testing.T) {
	for name, stream := range map[string]string{
		"nothing":   "data: [DONE]\n\n",
		"no part":   chunksOf(`{"role":"assistant","content":""}`) + "data: [DONE]\n\n",
		"no choice": `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\ndata: [DONE]\n\n",
	} {
		d := Chat{}.NewDecoder()
		_, err := d.Feed([]byte(stream))
		if err == nil {
			_, err = d.Close()
		}
		if !errors.Is(err, wire.ErrCut) {
			t.Errorf("%s: want %v, got %v", name, wire.ErrCut, err)
		}
	}
	for name, delta := range map[string]string{
		"text":   `{"content":"half a sen"}`,
		"a call": `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`,
	} {
		r := replyOf(t, chatLaws, chunksOf(delta)+"data: [DONE]\n\n")
		if r.Stop != llm.StopUnknown || r.Reason != "" || len(r.Message.Parts) != 1 {
			t.Errorf("%s: want no reason, got %v %q", name, r.Stop, r.Reason)
		}
	}
}
