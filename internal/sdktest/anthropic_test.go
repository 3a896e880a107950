package sdktest

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

func anthropicClient(url string, retries int) sdk.Client {
	return sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(retries), option.WithoutEnvironmentDefaults())
}

func anthropicParams(messages ...sdk.MessageParam) sdk.MessageNewParams {
	if messages == nil {
		messages = []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Go on."))}
	}
	return sdk.MessageNewParams{Model: "test-model-1", MaxTokens: 2048, Messages: messages}
}

// anthropicHeard reads a message as a program would.
func anthropicHeard(t *testing.T, m *sdk.Message) heard {
	t.Helper()
	u := m.Usage
	h := heard{
		ID: m.ID, Model: m.Model, Stop: string(m.StopReason), JSON: m.RawJSON(),
		Usage: llm.Usage{
			Input: int(u.InputTokens), CacheRead: int(u.CacheReadInputTokens),
			CacheWrite5m: int(u.CacheCreation.Ephemeral5mInputTokens), CacheWrite1h: int(u.CacheCreation.Ephemeral1hInputTokens),
			Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ThinkingTokens),
		},
	}
	switch written := int(u.CacheCreationInputTokens); h.Usage.CacheWrite5m + h.Usage.CacheWrite1h {
	case written:
	case 0:
		h.Usage.CacheWrite5m = written // a stream tells the parts at its start only, where another provider knows nothing yet
	default:
		t.Errorf("cache_creation_input_tokens, want the sum of its parts %s, got %d", u.CacheCreation.RawJSON(), written)
	}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case sdk.TextBlock:
			h.Text += b.Text
		case sdk.ThinkingBlock:
			h.Thoughts = append(h.Thoughts, thought{b.Thinking, b.Signature})
		case sdk.RedactedThinkingBlock:
			h.Thoughts = append(h.Thoughts, thought{"", b.Data})
		case sdk.ToolUseBlock:
			h.Calls = append(h.Calls, spoken{b.ID, b.Name, sorted(t, string(b.Input))})
		default:
			t.Errorf("block, want one that was said, got %s", m.RawJSON())
		}
	}
	return h
}

func anthropicAsk(t *testing.T, url string) *sdk.Message {
	t.Helper()
	client := anthropicClient(url, 0)
	m, err := client.Messages.New(context.Background(), anthropicParams())
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return m
}

func anthropicStream(t *testing.T, url string, p sdk.MessageNewParams) *sdk.Message {
	t.Helper()
	client := anthropicClient(url, 0)
	stream := client.Messages.NewStreaming(context.Background(), p)
	var m sdk.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatalf("accumulate: %v", err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatalf("stream: %v", err)
	}
	return &m
}

var anthropicStops = map[llm.Stop]sdk.StopReason{
	llm.StopEnd: sdk.StopReasonEndTurn, llm.StopLength: sdk.StopReasonMaxTokens,
	llm.StopTool: sdk.StopReasonToolUse, llm.StopRefusal: sdk.StopReasonRefusal,
	llm.StopSequence: sdk.StopReasonStopSequence, llm.StopPause: sdk.StopReasonPauseTurn,
	llm.StopWindow: sdk.StopReasonModelContextWindowExceeded,
}

func anthropicCases() []said {
	plain := llm.Usage{Input: 10, Output: 5}
	text := []llm.Part{llm.Text{Text: "So far."}}
	cases := append(replies(), thinking(func(s string) string { return "sig/" + s + "==" })...)
	return append(cases,
		said{"hidden thinking", []llm.Part{llm.Thinking{Signature: "b3BhcXVl", Redacted: true}, text[0]}, llm.StopEnd, plain},
		said{"thinking of which only the signature is shown", []llm.Part{llm.Thinking{Signature: "b3BhcXVl"}, text[0]}, llm.StopEnd, plain},
		said{"both cache lifetimes", text, llm.StopEnd, llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 30, CacheWrite1h: 400, Output: 5}},
		said{"pause", text, llm.StopPause, plain},
		said{"window", text, llm.StopWindow, plain},
		said{"sequence", text, llm.StopSequence, plain},
	)
}

func TestAnthropic(t *testing.T) {
	for _, c := range anthropicCases() {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: anthropic.Codec{}, reply: c.response(anthropic.Dialect), chunk: 7}
			url := p.start()
			want := c.expected(t, string(anthropicStops[c.stop]))
			whole := anthropicAsk(t, url)
			same(t, "whole", want, anthropicHeard(t, whole))
			present(t, "whole", *whole)
			p.chunk = chunkOf(p.streamed())
			streamed := anthropicStream(t, url, anthropicParams())
			same(t, "streamed", want, anthropicHeard(t, streamed))
			if a, b := sorted(t, whole.RawJSON()), sorted(t, streamed.RawJSON()); a != b {
				t.Errorf("accumulated JSON, want that of the whole reply\n%s, got\n%s", a, b)
			}
		})
	}
}

// TestAnthropicSecondTurn sends the reply back as the SDK's own parameter.
func TestAnthropicSecondTurn(t *testing.T) {
	for _, c := range anthropicCases() {
		if c.parts == nil {
			continue // nobody sends an empty message back
		}
		t.Run(c.name, func(t *testing.T) {
			p := &provider{t: t, codec: anthropic.Codec{}, reply: c.response(anthropic.Dialect)}
			url := p.start()
			for _, m := range []*sdk.Message{anthropicAsk(t, url), anthropicStream(t, url, anthropicParams())} {
				back := anthropicParams(sdk.NewUserMessage(sdk.NewTextBlock("Go on.")), m.ToParam(), anthropicResults(m))
				accepted(t, p.codec, marshal(t, back), c.parts)
			}
		})
	}
}

// anthropicResults answers all calls of m, and says something where there are none.
func anthropicResults(m *sdk.Message) sdk.MessageParam {
	var blocks []sdk.ContentBlockParamUnion
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			blocks = append(blocks, sdk.NewToolResultBlock(b.ID, resultOf(b.Name), false))
		}
	}
	if blocks == nil {
		blocks = append(blocks, sdk.NewTextBlock("And then?"))
	}
	return sdk.NewUserMessage(blocks...)
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return b
}
