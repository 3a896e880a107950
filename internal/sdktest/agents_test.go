package sdktest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"

	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// An agent is a program on an SDK that knows nothing of us but its http.Client: it holds its
// whole history, sends all of it with every request and answers calls until there are none.
// It returns the last text. Where the provider is the environment says.
type agent func(ctx context.Context, httpClient *http.Client, stream bool) (last string, err error)

func agents() map[string]agent {
	return map[string]agent{
		"chat": chatAgent, "responses": responsesAgent, "messages": messagesAgent, "gemini": geminiAgent, "ollama": ollamaAgent,
	}
}

// environment is where each SDK looks for its provider and its key.
func environment(url string) map[string]string {
	return map[string]string{
		"OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "key", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key",
		"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "key", "OLLAMA_HOST": url,
	}
}

// errEndless says that a task took more Steps than it has.
var errEndless = errors.New("want an end, got none")

func chatAgent(ctx context.Context, httpClient *http.Client, stream bool) (string, error) {
	client := openai.NewClient(option.WithHTTPClient(httpClient))
	p := chatParams(openai.SystemMessage("You look after ships."), openai.UserMessage("Where is the load line?"))
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "read_file", Parameters: openai.FunctionParameters{"type": "object", "properties": schema},
	})}
	for n := range 2 * growingSteps {
		completion, err := chatOnce(ctx, client, p, stream)
		if err != nil {
			return "", err
		}
		m := completion.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		p.Messages = append(p.Messages, m.ToParam())
		for _, call := range m.ToolCalls {
			p.Messages = append(p.Messages, openai.ToolMessage(output(n), call.ID))
		}
	}
	return "", errEndless
}

func chatOnce(ctx context.Context, client openai.Client, p openai.ChatCompletionNewParams, stream bool) (*openai.ChatCompletion, error) {
	if !stream {
		return client.Chat.Completions.New(ctx, p)
	}
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	var all openai.ChatCompletionAccumulator
	s := client.Chat.Completions.NewStreaming(ctx, p)
	for s.Next() {
		all.AddChunk(s.Current())
	}
	return &all.ChatCompletion, s.Err()
}

func responsesAgent(ctx context.Context, httpClient *http.Client, stream bool) (string, error) {
	client := openai.NewClient(option.WithHTTPClient(httpClient))
	p := responsesParams()
	p.Instructions = openai.String("You look after ships.")
	p.Reasoning = openai.ReasoningParam{Effort: openai.ReasoningEffortMedium, Summary: openai.ReasoningSummaryAuto}
	p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("read_file", map[string]any{"type": "object", "properties": schema}, false)}
	for n := range 2 * growingSteps {
		response, err := responsesOnce(ctx, client, p, stream)
		if err != nil {
			return "", err
		}
		said, answers := responsesItems(response, output(n))
		if len(answers) == 0 {
			return response.OutputText(), nil
		}
		p.Input.OfInputItemList = append(append(p.Input.OfInputItemList, said...), answers...)
	}
	return "", errEndless
}

// responsesItems returns what a response said, to be sent back, and an answer to each call.
func responsesItems(r *responses.Response, output string) (said, answers []responses.ResponseInputItemUnionParam) {
	for _, item := range r.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			p := item.ToParam()
			said = append(said, responses.ResponseInputItemUnionParam{OfOutputMessage: &p})
		case responses.ResponseReasoningItem:
			p := item.ToParam()
			said = append(said, responses.ResponseInputItemUnionParam{OfReasoning: &p})
		case responses.ResponseFunctionToolCall:
			p := item.ToParam()
			said = append(said, responses.ResponseInputItemUnionParam{OfFunctionCall: &p})
			out := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.Opt(item.CallID)}
			out.Output.OfString = openai.String(output)
			answers = append(answers, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &out})
		}
	}
	return said, answers
}

func responsesOnce(ctx context.Context, client openai.Client, p responses.ResponseNewParams, stream bool) (*responses.Response, error) {
	if !stream {
		return client.Responses.New(ctx, p)
	}
	var last responses.Response
	s := client.Responses.NewStreaming(ctx, p)
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.completed":
			last = e.Response
		case "response.failed":
			return nil, errors.New(e.Response.Error.Message)
		}
	}
	return &last, s.Err()
}

func geminiAgent(ctx context.Context, httpClient *http.Client, stream bool) (string, error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{HTTPClient: httpClient})
	if err != nil {
		return "", err
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("You look after ships.", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: "read_file", ParametersJsonSchema: map[string]any{"type": "object", "properties": schema}},
		}}},
		ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
	}
	history := genai.Text("Where is the load line?")
	for n := range 2 * growingSteps {
		said, err := geminiOnce(ctx, client, history, config, stream)
		if err != nil {
			return "", err
		}
		last, answer := "", &genai.Content{Role: genai.RoleUser}
		for _, p := range said.Parts {
			if c := p.FunctionCall; c != nil {
				r := genai.NewPartFromFunctionResponse(c.Name, map[string]any{"output": output(n)})
				r.FunctionResponse.ID = c.ID
				answer.Parts = append(answer.Parts, r)
			} else if !p.Thought {
				last += p.Text
			}
		}
		if len(answer.Parts) == 0 {
			return last, nil
		}
		history = append(history, said, answer)
	}
	return "", errEndless
}

func geminiOnce(
	ctx context.Context, client *genai.Client, history []*genai.Content, config *genai.GenerateContentConfig, stream bool,
) (*genai.Content, error) {
	if !stream {
		r, err := client.Models.GenerateContent(ctx, "test-model-1", history, config)
		if err != nil {
			return nil, err
		}
		return r.Candidates[0].Content, nil
	}
	var chunks []*genai.GenerateContentResponse
	for r, err := range client.Models.GenerateContentStream(ctx, "test-model-1", history, config) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, r)
	}
	return geminiJoined(chunks), nil
}

func ollamaAgent(ctx context.Context, httpClient *http.Client, stream bool) (string, error) {
	base, err := url.Parse(os.Getenv("OLLAMA_HOST"))
	if err != nil {
		return "", err
	}
	client := api.NewClient(base, httpClient)
	think := api.ThinkValue{Value: true}
	request := &api.ChatRequest{
		Model: "test-model-1", Stream: &stream, Think: &think, Tools: ollamaTools()[:1],
		Messages: []api.Message{{Role: "system", Content: "You look after ships."}, {Role: "user", Content: "Where is the load line?"}},
	}
	for n := range 2 * growingSteps {
		var lines []api.ChatResponse
		if err := client.Chat(ctx, request, func(r api.ChatResponse) error {
			lines = append(lines, r)
			return nil
		}); err != nil {
			return "", err
		}
		said := ollamaMessage(lines)
		if len(said.ToolCalls) == 0 {
			return said.Content, nil
		}
		request.Messages = append(request.Messages, said)
		for _, c := range said.ToolCalls {
			request.Messages = append(request.Messages, api.Message{Role: "tool", ToolName: c.Function.Name, ToolCallID: c.ID, Content: output(n)})
		}
	}
	return "", errEndless
}
