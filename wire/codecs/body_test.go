package codecs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// crossing is a request that no dialect takes as it is: a name of a tool that is none for
// most, and thinking of one provider.
func crossing() llm.Request {
	const tool = "ship/read.log entry"
	said := llm.AssistantText("I look.", llm.ToolCall{CallID: "c 1", Name: tool, Args: `{"n":12345678901234567890}`})
	said.Parts = append([]llm.Part{llm.Thinking{Text: "hm", Signature: "s"}}, said.Parts...)
	return llm.Request{
		Model: "some-model", MaxOutput: 100, Sections: []llm.Section{llm.SystemText("You look after ships.")},
		Tools:    []llm.Tool{{Name: tool, Schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`}},
		Messages: []llm.Message{llm.UserText("Which log?"), said, llm.ToolText("c 1", "all is well")},
	}
}

// TestBody: a body keeps the rules of its dialect, says what it lost, and its reply comes
// back with the names that the conversation has, whole and streamed.
func TestBody(t *testing.T) {
	r := crossing()
	for _, c := range codecs.All() {
		t.Run(string(c.Dialect()), func(t *testing.T) {
			body, err := codecs.Body(r.Streamed(), c.Dialect())
			if err != nil {
				t.Fatal(err)
			}
			if faults := check.Request(c.Dialect(), body.JSON); len(faults) > 0 {
				t.Errorf("want no fault, got %v in %s", faults, body.JSON)
			}
			sent, err := c.DecodeRequest(body.JSON)
			if err != nil {
				t.Fatal(err)
			}
			call := llm.ToolCall{CallID: "call_9", Name: sent.Tools[0].Name, Args: `{"n":1}`}
			reply := llm.Response{ID: "r1", Model: "some-model", Stop: llm.StopTool, Usage: llm.Usage{Input: 9, Output: 2}, Message: llm.AssistantText("So.", call)}
			whole, err := c.EncodeResponse(reply)
			if err != nil {
				t.Fatal(err)
			}
			got, err := body.Reply(string(whole))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "whole", r.Tools[0].Name, got)
			stream := body.Stream()
			for _, event := range events(t, c, reply) {
				stream.Add(event)
			}
			if got, err = stream.Reply(); err != nil {
				t.Fatal(err)
			}
			same(t, "streamed", r.Tools[0].Name, got)
		})
	}
}

func same(t *testing.T, how, tool string, got llm.Response) {
	t.Helper()
	calls := got.Message.Calls()
	if len(calls) != 1 || calls[0].Name != tool || got.Message.Text() != "So." || got.Usage.Output != 2 {
		t.Errorf("%s: want So., 2 tokens and a call of %q, got %+v", how, tool, got)
	}
}

// events returns what an SDK would hand out of the stream of a reply: the payloads, here
// with a new line in each, as some servers write them.
func events(t *testing.T, c codecs.Full, r llm.Response) []string {
	t.Helper()
	var out []string
	encoder := c.NewEncoder()
	for _, e := range wire.Events(r) {
		chunk, err := encoder.Append(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(chunk)) {
			if _, data, ok := strings.Cut(line, "data: "); ok {
				line = data
			}
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
				out = append(out, "{\n"+line[1:])
			}
		}
	}
	return out
}

// TestBodyCut: a stream that ends too early is no reply.
func TestBodyCut(t *testing.T) {
	body, err := codecs.Body(crossing(), "anthropic")
	if err != nil {
		t.Fatal(err)
	}
	stream := body.Stream()
	stream.Add(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`)
	if _, err := stream.Reply(); !errors.Is(err, wire.ErrCut) {
		t.Errorf("want ErrCut, got %v", err)
	}
}

// TestBodyMembers: an SDK that takes no bytes gets the same values, every digit of them.
func TestBodyMembers(t *testing.T) {
	body, err := codecs.Body(crossing(), "gemini")
	if err != nil {
		t.Fatal(err)
	}
	members, err := body.Members()
	if err != nil {
		t.Fatal(err)
	}
	if len(members["contents"].([]any)) != 3 {
		t.Errorf("want 3 contents, got %v", members["contents"])
	}
	if _, err := codecs.Body(llm.Request{Model: "m"}, "x"); err == nil || !strings.Contains(err.Error(), "anthropic, openai-responses") {
		t.Errorf("want an error that names the dialects, got %v", err)
	}
	if _, err := codecs.Body(llm.Request{}, "gemini"); err == nil || !strings.Contains(err.Error(), "Target.Model") {
		t.Errorf("want an error that names the option, got %v", err)
	}
}

// TestBodyMore: members that no neutral request has stand in the body, the same ones as the
// same bytes, and thinking that an edit has broken is asked to be dropped only where
// thinking is on.
func TestBodyMore(t *testing.T) {
	r := crossing()
	r.Settings.DropBrokenThinking = true
	more := codecs.Members{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}, "metadata": map[string]any{"user_id": "u"}, "max_tokens": 2000}
	first, err := codecs.Body(r, "anthropic", more)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _ := codecs.Body(r, "anthropic", more); string(again.JSON) != string(first.JSON) {
			t.Fatalf("want the same bytes, got\n%s\n%s", first.JSON, again.JSON)
		}
	}
	for _, want := range []string{`"max_tokens":2000`, `"metadata":{"user_id":"u"}`, `"prefix_mismatch_behavior":"drop_block"`} {
		if !strings.Contains(string(first.JSON), want) {
			t.Errorf("want %s, got %s", want, first.JSON)
		}
	}
	if len(first.Betas) != 1 || strings.Count(string(first.JSON), "max_tokens") != 1 {
		t.Errorf("want one beta and one max_tokens, got %v and %s", first.Betas, first.JSON)
	}
	plain, err := codecs.Body(r, "anthropic", codecs.Members{"temperature": 0})
	if err != nil || len(plain.Betas) != 0 || strings.Contains(string(plain.JSON), "drop_block") {
		t.Errorf("want nothing to drop where nothing thinks, got %v, %v, %s", err, plain.Betas, plain.JSON)
	}
	if _, err := codecs.Body(r, "anthropic", codecs.Members{"x": func() {}}); err == nil || !strings.Contains(err.Error(), "member x") {
		t.Errorf("want an error that names the member, got %v", err)
	}
}
