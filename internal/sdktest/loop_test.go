package sdktest

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// rounds is how many calls of the model a loop may take.
const rounds = 5

func codecOf(t *testing.T, d llm.Dialect) codecs.Full {
	t.Helper()
	c, ok := codecs.For(d)
	if !ok {
		t.Fatalf("codec, want one of %q, got none", d)
	}
	return c
}

var schema = map[string]any{"path": map[string]any{"type": "string"}, "limit": map[string]any{"type": "integer"}}

func anthropicLoop(t *testing.T, url string, stream bool) (tools []string, last string) {
	t.Helper()
	client := anthropicClient(url, 0)
	p := anthropicParams()
	p.MaxTokens = 4096
	p.System = []anthropic.TextBlockParam{{Text: "You look after ships.", CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	p.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
	for _, name := range []string{"read_file", "list_files"} {
		p.Tools = append(p.Tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema}, name))
	}
	for range rounds {
		var m *anthropic.Message
		if stream {
			m = anthropicStream(t, url, p)
		} else {
			var err error
			if m, err = client.Messages.New(context.Background(), p); err != nil {
				t.Fatalf("new: %v", err)
			}
		}
		h := anthropicHeard(t, m)
		last = h.Text
		for _, c := range h.Calls {
			tools = append(tools, c.Name)
		}
		if m.StopReason != anthropic.StopReasonToolUse {
			return tools, last
		}
		p.Messages = append(p.Messages, m.ToParam(), anthropicResults(m))
	}
	t.Errorf("loop, want an end, got none after %d rounds", rounds)
	return tools, last
}

func chatLoop(t *testing.T, url string, stream bool) (tools []string, last string) {
	t.Helper()
	p := chatParams(openai.SystemMessage("You look after ships."), openai.UserMessage("Go on."))
	for _, name := range []string{"read_file", "list_files"} {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: name, Parameters: openai.FunctionParameters{"type": "object", "properties": schema},
		}))
	}
	for range rounds {
		c := chatSend(t, url, stream, p)
		h := chatHeard(t, c)
		last = h.Text
		p.Messages = append(p.Messages, c.Choices[0].Message.ToParam())
		for _, call := range h.Calls {
			tools = append(tools, call.Name)
			p.Messages = append(p.Messages, openai.ToolMessage(resultOf(call.Name), call.ID))
		}
		if h.Stop != "tool_calls" {
			return tools, last
		}
	}
	t.Errorf("loop, want an end, got none after %d rounds", rounds)
	return tools, last
}

func chatSend(t *testing.T, url string, stream bool, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	client := openaiClient(url, 0)
	if !stream {
		c, err := client.Chat.Completions.New(context.Background(), p)
		if err != nil {
			t.Fatalf("new: %v", err)
		}
		return c
	}
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	return chatGather(t, client.Chat.Completions.NewStreaming(context.Background(), p)).completion
}

func responsesLoop(t *testing.T, url string, stream bool) (tools []string, last string) {
	t.Helper()
	client := openaiClient(url, 0)
	p := responsesParams()
	p.Instructions = openai.String("You look after ships.")
	p.Reasoning = openai.ReasoningParam{Effort: openai.ReasoningEffortMedium, Summary: openai.ReasoningSummaryAuto}
	for _, name := range []string{"read_file", "list_files"} {
		p.Tools = append(p.Tools, responses.ToolParamOfFunction(name, map[string]any{"type": "object", "properties": schema}, false))
	}
	for range rounds {
		var r *responses.Response
		if stream {
			r = responsesGather(t, client.Responses.NewStreaming(context.Background(), p)).last
		} else {
			var err error
			if r, err = client.Responses.New(context.Background(), p); err != nil {
				t.Fatalf("new: %v", err)
			}
		}
		h := responsesHeard(t, r)
		last = h.Text
		for _, c := range h.Calls {
			tools = append(tools, c.Name)
		}
		if len(h.Calls) == 0 {
			return tools, last
		}
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, responsesBack(t, r)...)
	}
	t.Errorf("loop, want an end, got none after %d rounds", rounds)
	return tools, last
}

func geminiLoop(t *testing.T, url string, stream bool) (tools []string, last string) {
	t.Helper()
	declarations := []*genai.FunctionDeclaration{
		{Name: "read_file", ParametersJsonSchema: map[string]any{"type": "object", "properties": schema}},
		{Name: "list_files"},
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You look after ships.", genai.RoleUser),
		Tools:             []*genai.Tool{{FunctionDeclarations: declarations}},
		ThinkingConfig:    &genai.ThinkingConfig{IncludeThoughts: true},
	}
	history := genai.Text("Go on.")
	for range rounds {
		chunks := geminiSend(t, url, stream, history, config)
		last = geminiHeard(t, chunks).Text
		reply := geminiJoined(chunks)
		var calls []*genai.FunctionCall
		for _, p := range reply.Parts {
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall)
				tools = append(tools, p.FunctionCall.Name)
			}
		}
		if len(calls) == 0 {
			return tools, last
		}
		answer := &genai.Content{Role: genai.RoleUser}
		for _, p := range geminiResults(calls) {
			answer.Parts = append(answer.Parts, &p)
		}
		history = append(history, reply, answer)
	}
	t.Errorf("loop, want an end, got none after %d rounds", rounds)
	return tools, last
}

func geminiSend(
	t *testing.T, url string, stream bool, history []*genai.Content, config *genai.GenerateContentConfig,
) (chunks []*genai.GenerateContentResponse) {
	t.Helper()
	models := geminiClient(t, url).Models
	if !stream {
		r, err := models.GenerateContent(context.Background(), "test-model-1", history, config)
		if err != nil {
			t.Fatalf("generate: %v", err)
		}
		return append(chunks, r)
	}
	for r, err := range models.GenerateContentStream(context.Background(), "test-model-1", history, config) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		chunks = append(chunks, r)
	}
	return chunks
}
