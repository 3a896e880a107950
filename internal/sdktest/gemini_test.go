package sdktest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	sdk "google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

func geminiClient(t *testing.T, url string) *sdk.Client {
	t.Helper()
	client, err := sdk.NewClient(context.Background(), &sdk.ClientConfig{
		APIKey: "key", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		t.Fatalf("client: %v", err)
	}
	return client
}

// geminiHeard reads the chunks of a reply as a program would; a whole reply is one chunk.
func geminiHeard(t *testing.T, chunks []*sdk.GenerateContentResponse) heard {
	t.Helper()
	var h heard
	for _, r := range chunks {
		h.ID, h.Model = r.ResponseID, r.ModelVersion
		if u := r.UsageMetadata; u != nil {
			h.Usage = llm.Usage{
				Input: int(u.PromptTokenCount - u.CachedContentTokenCount), CacheRead: int(u.CachedContentTokenCount),
				Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Reasoning: int(u.ThoughtsTokenCount),
			}
			if u.TotalTokenCount != u.PromptTokenCount+u.CandidatesTokenCount+u.ThoughtsTokenCount {
				t.Errorf("totalTokenCount, want the sum, got %+v", u)
			}
		}
		for _, c := range r.Candidates {
			h.Stop += string(c.FinishReason)
			if c.Content == nil {
				continue
			}
			if c.Content.Role != "model" {
				t.Errorf("role, want model, got %q", c.Content.Role)
			}
			h.addParts(t, c.Content.Parts)
		}
	}
	return h
}

// addParts adds the parts of one chunk. A thought without a signature goes on in the next.
func (h *heard) addParts(t *testing.T, parts []*sdk.Part) {
	t.Helper()
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil:
			args, err := json.Marshal(p.FunctionCall.Args)
			if err != nil {
				t.Errorf("args: %v", err)
			}
			h.Calls = append(h.Calls, spoken{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
		case p.Thought:
			n := len(h.Thoughts) - 1
			if n < 0 || h.Thoughts[n].Signature != "" {
				h.Thoughts = append(h.Thoughts, thought{})
				n++
			}
			h.Thoughts[n].Text += p.Text
			h.Thoughts[n].Signature += base64.StdEncoding.EncodeToString(p.ThoughtSignature)
		default:
			h.Text += p.Text
		}
	}
}

var geminiStops = map[llm.Stop]sdk.FinishReason{
	llm.StopEnd: sdk.FinishReasonStop, llm.StopTool: sdk.FinishReasonStop, llm.StopLength: sdk.FinishReasonMaxTokens,
	llm.StopRefusal: sdk.FinishReasonSafety,
}

// geminiExpected allows for what the SDK or the format does not have: it reads numbers as
// floats, and it has no count of what was written to the cache.
func geminiExpected(t *testing.T, s said) heard {
	t.Helper()
	h := s.expected(t, string(geminiStops[s.stop]))
	h.Usage.Input += h.Usage.CacheWrite5m
	h.Usage.CacheWrite5m = 0
	for i, c := range h.Calls {
		h.Calls[i].Args = floats(t, c.Args)
	}
	return h
}

func floats(t *testing.T, text string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("arguments: %v", err)
	}
	if len(v) == 0 {
		v = nil // the SDK leaves out what is empty
	}
	return string(marshal(t, v))
}

func geminiCases() []said {
	return append(replies(), thinking(func(s string) string { return base64.StdEncoding.EncodeToString([]byte("seal of " + s)) })...)
}

func geminiStream(t *testing.T, url string) []*sdk.GenerateContentResponse {
	t.Helper()
	var chunks []*sdk.GenerateContentResponse
	for r, err := range geminiClient(t, url).Models.GenerateContentStream(context.Background(), "test-model-1", sdk.Text("Go on."), nil) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		chunks = append(chunks, r)
	}
	return chunks
}

func TestGemini(t *testing.T) {
	for _, c := range geminiCases() {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: gemini.Codec{}, reply: c.response(gemini.Dialect)}
			url := p.start()
			want := geminiExpected(t, c)
			whole, err := geminiClient(t, url).Models.GenerateContent(context.Background(), "test-model-1", sdk.Text("Go on."), nil)
			if err != nil {
				t.Fatalf("generate: %v", err)
			}
			got := geminiHeard(t, []*sdk.GenerateContentResponse{whole})
			same(t, "whole", want, withNoArgs(got))
			if whole.Text() != want.Text || len(whole.FunctionCalls()) != len(want.Calls) {
				t.Errorf("Text and FunctionCalls, want those of the parts, got %q, %v", whole.Text(), whole.FunctionCalls())
			}
			known(t, p.whole())
			p.chunk = chunkOf(p.streamed())
			same(t, "streamed", want, withNoArgs(geminiHeard(t, geminiStream(t, url))))
		})
	}
}

// withNoArgs writes empty arguments in one way: what the SDK gives for them depends on
// whether there were any.
func withNoArgs(h heard) heard {
	for i, c := range h.Calls {
		if c.Args == "{}" {
			h.Calls[i].Args = "null"
		}
	}
	return h
}

// known fails the test if a body has members that the SDK's types do not.
func known(t *testing.T, body []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(new(sdk.GenerateContentResponse)); err != nil {
		t.Errorf("reply, want one of known members, got %v\n%s", err, body)
	}
}

// TestGeminiSecondTurn lets the SDK's own chat keep the history. Of streams it keeps every
// chunk as a message of its own, which the provider does not take where there are calls
// (googleapis/go-genai#692), so that a program keeps these itself.
func TestGeminiSecondTurn(t *testing.T) {
	for _, c := range geminiCases() {
		if c.parts == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: gemini.Codec{}, reply: signed(c).response(gemini.Dialect)}
			url := p.start()
			chat, err := geminiClient(t, url).Chats.Create(context.Background(), "test-model-1", nil, nil)
			if err != nil {
				t.Fatalf("chat: %v", err)
			}
			r, err := chat.SendMessage(context.Background(), sdk.Part{Text: "Go on."})
			if err != nil {
				t.Fatalf("send: %v", err)
			}
			if _, err = chat.SendMessage(context.Background(), geminiResults(r.FunctionCalls())...); err != nil {
				t.Fatalf("send: %v", err)
			}
			accepted(t, p.codec, p.calls()[1].body, asFloats(t, c.parts))
			history := append(sdk.Text("Go on."), geminiJoined(geminiStream(t, url)))
			geminiContinue(t, url, history)
			accepted(t, p.codec, p.calls()[3].body, asFloats(t, c.parts))
		})
	}
}

// TestGeminiStreamedChat: the SDK's chat sends back every chunk of a text as a message.
func TestGeminiStreamedChat(t *testing.T) {
	c := said{parts: []llm.Part{llm.Text{Text: "It lies deeper now."}}, stop: llm.StopEnd, usage: llm.Usage{Input: 1, Output: 1}}
	p := &provider{t: t, codec: gemini.Codec{}, reply: c.response(gemini.Dialect)}
	events := wire.Events(p.reply)
	half := events[2]
	half.Text, events[2].Text = "It lies ", "deeper now."
	p.stream = encodeStream(t, p.codec, slices.Insert(events, 2, half))
	chat, err := geminiClient(t, p.start()).Chats.Create(context.Background(), "test-model-1", nil, nil)
	if err != nil {
		t.Fatalf("chat: %v", err)
	}
	for range 2 {
		for _, err := range chat.SendMessageStream(context.Background(), sdk.Part{Text: "Go on."}) {
			if err != nil {
				t.Fatalf("send: %v", err)
			}
		}
	}
	accepted(t, p.codec, p.calls()[1].body, c.parts)
}

// geminiJoined returns the message that the chunks of a stream are, as a program sends it
// back: without parts that hold nothing.
func geminiJoined(chunks []*sdk.GenerateContentResponse) *sdk.Content {
	out := &sdk.Content{Role: sdk.RoleModel}
	for _, r := range chunks {
		for _, p := range r.Candidates[0].Content.Parts {
			if p.Text != "" || p.FunctionCall != nil || p.ThoughtSignature != nil {
				out.Parts = append(out.Parts, p)
			}
		}
	}
	return out
}

// geminiContinue answers the last message of history.
func geminiContinue(t *testing.T, url string, history []*sdk.Content) {
	t.Helper()
	var calls []*sdk.FunctionCall
	for _, p := range history[len(history)-1].Parts {
		if p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	answer := &sdk.Content{Role: sdk.RoleUser}
	for _, p := range geminiResults(calls) {
		answer.Parts = append(answer.Parts, &p)
	}
	if _, err := geminiClient(t, url).Models.GenerateContent(context.Background(), "test-model-1", append(history, answer), nil); err != nil {
		t.Fatalf("generate: %v", err)
	}
}

// asFloats returns parts with arguments as the SDK gives them back.
func asFloats(t *testing.T, parts []llm.Part) []llm.Part {
	t.Helper()
	parts = slices.Clone(parts)
	for i, p := range parts {
		if c, ok := p.(llm.ToolCall); ok {
			if c.Args = floats(t, c.Args); c.Args == "null" {
				c.Args = "{}"
			}
			parts[i] = c
		}
	}
	return parts
}

// signed returns c with the proof that Gemini's models put beside the first call of a
// message. The neutral part has no place for it but its bytes.
func signed(c said) said {
	parts := append([]llm.Part(nil), c.parts...)
	for i, p := range parts {
		if call, ok := p.(llm.ToolCall); ok {
			call.Data = []byte(`{"functionCall":{"id":"` + call.CallID + `","name":"` + call.Name + `","args":` + call.Args + `},"thoughtSignature":"c2VhbA=="}`)
			parts[i] = call
			break
		}
	}
	c.parts = parts
	return c
}

func geminiResults(calls []*sdk.FunctionCall) []sdk.Part {
	parts := make([]sdk.Part, 0, len(calls))
	for _, c := range calls {
		parts = append(parts, sdk.Part{FunctionResponse: &sdk.FunctionResponse{
			ID: c.ID, Name: c.Name, Response: map[string]any{"output": resultOf(c.Name)},
		}})
	}
	if len(parts) == 0 {
		parts = append(parts, sdk.Part{Text: "And then?"})
	}
	return parts
}
