package sdktest

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

func openaiClient(url string, retries int) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("key"), option.WithMaxRetries(retries))
}

func chatParams(messages ...sdk.ChatCompletionMessageParamUnion) sdk.ChatCompletionNewParams {
	if messages == nil {
		messages = []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Go on.")}
	}
	return sdk.ChatCompletionNewParams{Model: "test-model-1", Messages: messages}
}

// chatHeard reads a completion as a program would.
func chatHeard(t *testing.T, c *sdk.ChatCompletion) heard {
	t.Helper()
	if len(c.Choices) != 1 {
		t.Fatalf("choices, want 1, got %d", len(c.Choices))
	}
	u := c.Usage
	details := u.PromptTokensDetails
	h := heard{
		ID: c.ID, Model: c.Model, Stop: c.Choices[0].FinishReason,
		Usage: llm.Usage{
			Input: int(u.PromptTokens - details.CachedTokens - details.CacheWriteTokens), CacheRead: int(details.CachedTokens),
			CacheWrite5m: int(details.CacheWriteTokens), Output: int(u.CompletionTokens), Reasoning: int(u.CompletionTokensDetails.ReasoningTokens),
		},
	}
	if u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("total_tokens, want %d + %d, got %d", u.PromptTokens, u.CompletionTokens, u.TotalTokens)
	}
	m := c.Choices[0].Message
	h.Text = m.Content
	for _, call := range m.ToolCalls {
		if call.Type != "function" {
			t.Errorf("type of a call, want function, got %q", call.Type)
		}
		h.Calls = append(h.Calls, spoken{call.ID, call.Function.Name, sorted(t, call.Function.Arguments)})
	}
	return h
}

func chatAsk(t *testing.T, url string) *sdk.ChatCompletion {
	t.Helper()
	client := openaiClient(url, 0)
	c, err := client.Chat.Completions.New(context.Background(), chatParams())
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return c
}

// A chatStreamed is what the SDK gathers, and the reasoning, which it does not.
type chatStreamed struct {
	completion *sdk.ChatCompletion
	reasoning  string
}

func chatStream(t *testing.T, url string) chatStreamed {
	t.Helper()
	client := openaiClient(url, 0)
	p := chatParams()
	p.StreamOptions.IncludeUsage = sdk.Bool(true)
	return chatGather(t, client.Chat.Completions.NewStreaming(context.Background(), p))
}

func chatGather(t *testing.T, stream *ssestream.Stream[sdk.ChatCompletionChunk]) chatStreamed {
	t.Helper()
	var a sdk.ChatCompletionAccumulator
	var s chatStreamed
	var usage sdk.CompletionUsage
	for stream.Next() {
		chunk := stream.Current()
		if !a.AddChunk(chunk) {
			t.Fatalf("accumulate, want every chunk taken, got one refused: %s", chunk.RawJSON())
		}
		if string(chunk.Object) != "chat.completion.chunk" {
			t.Errorf("object of a chunk, got %q", chunk.Object)
		}
		if chunk.JSON.Usage.Valid() {
			usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			s.reasoning += reasoningOf(t, c.Delta.JSON.ExtraFields)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("stream: %v", err)
	}
	if got, want := a.Usage.TotalTokens, usage.TotalTokens; got != want {
		t.Errorf("usage accumulated, want that of the last chunk, %d, got %d", want, got)
	}
	a.Usage = usage // the accumulator leaves out cache_write_tokens
	s.completion = &a.ChatCompletion
	return s
}

// reasoningOf returns the reasoning that servers other than OpenAI's send beside the content.
func reasoningOf(t *testing.T, extra map[string]respjson.Field) string {
	t.Helper()
	f, ok := extra["reasoning_content"]
	if !ok || f.Raw() == "null" {
		return ""
	}
	var s string
	if err := json.Unmarshal([]byte(f.Raw()), &s); err != nil {
		t.Errorf("reasoning_content, want a string, got %s", f.Raw())
	}
	return s
}

var chatStops = map[llm.Stop]string{
	llm.StopEnd: "stop", llm.StopLength: "length", llm.StopTool: "tool_calls", llm.StopRefusal: "content_filter",
	llm.StopSequence: "stop", llm.StopWindow: "length",
}

func TestChat(t *testing.T) {
	for _, c := range replies() {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: openai.Chat{}, reply: c.response(openai.DialectChat)}
			url := p.start()
			want := c.expected(t, chatStops[c.stop])
			whole := chatAsk(t, url)
			same(t, "whole", want, chatHeard(t, whole))
			present(t, "whole", *whole)
			p.chunk = chunkOf(p.streamed())
			same(t, "streamed", want, chatHeard(t, chatStream(t, url).completion))
		})
	}
}

// TestChatReasoning: what servers that speak this format send as reasoning_content.
func TestChatReasoning(t *testing.T) {
	for _, c := range thinking(func(string) string { return "" }) {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: openai.Chat{}, reply: c.response(openai.DialectChat)}
			url := p.start()
			want := c.expected(t, chatStops[c.stop])
			var reasoning string
			for _, th := range want.Thoughts {
				reasoning += th.Text
			}
			want.Thoughts = nil
			whole := chatAsk(t, url)
			same(t, "whole", want, chatHeard(t, whole))
			streamed := chatStream(t, url)
			same(t, "streamed", want, chatHeard(t, streamed.completion))
			if streamed.reasoning != reasoning {
				t.Errorf("reasoning streamed, want %q, got %q", reasoning, streamed.reasoning)
			}
			if got := reasoningOf(t, whole.Choices[0].Message.JSON.ExtraFields); got != reasoning {
				t.Errorf("reasoning, want %q, got %q", reasoning, got)
			}
		})
	}
}

func TestChatSecondTurn(t *testing.T) {
	for _, c := range replies() {
		if c.parts == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: openai.Chat{}, reply: c.response(openai.DialectChat)}
			url := p.start()
			for _, m := range []*sdk.ChatCompletion{chatAsk(t, url), chatStream(t, url).completion} {
				messages := []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Go on."), m.Choices[0].Message.ToParam()}
				for _, call := range m.Choices[0].Message.ToolCalls {
					messages = append(messages, sdk.ToolMessage(resultOf(call.Function.Name), call.ID))
				}
				if len(m.Choices[0].Message.ToolCalls) == 0 {
					messages = append(messages, sdk.UserMessage("And then?"))
				}
				accepted(t, p.codec, marshal(t, chatParams(messages...)), c.parts)
			}
		})
	}
}
