package frameworktest

import (
	"context"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

// langchainAgent is a loop on langchaingo's OpenAI model.
func langchainAgent(ctx context.Context, httpClient *http.Client, _ string, stream bool) (string, error) {
	model, err := openai.New(openai.WithModel("gpt-5"), openai.WithHTTPClient(httpClient))
	if err != nil {
		return "", err
	}
	options := []llms.CallOption{llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "read_file", Description: "Reads a file.",
		Parameters: map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}},
	}}})}
	if stream {
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	history := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "You look after ships."), llms.TextParts(llms.ChatMessageTypeHuman, "Where is the load line?"),
	}
	for range 2 * steps {
		reply, err := model.GenerateContent(ctx, history, options...)
		if err != nil {
			return "", err
		}
		said := reply.Choices[0]
		if len(said.ToolCalls) == 0 {
			return said.Content, nil
		}
		back := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		if said.Content != "" && !stream { // a stream's content has the calls in it, too
			back.Parts = append(back.Parts, llms.TextPart(said.Content))
		}
		for _, c := range said.ToolCalls {
			back.Parts = append(back.Parts, c)
		}
		history = append(history, back)
		for _, c := range said.ToolCalls {
			history = append(history, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: output(nil)},
			}})
		}
	}
	return "", errEndless
}
