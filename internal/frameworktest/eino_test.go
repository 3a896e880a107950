package frameworktest

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

// einoAgent is eino's ready-made one, on its OpenAI model.
func einoAgent(ctx context.Context, httpClient *http.Client, baseURL string, stream bool) (string, error) {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{Model: "gpt-5", BaseURL: baseURL + "/v1", HTTPClient: httpClient})
	if err != nil {
		return "", err
	}
	read, err := utils.InferTool("read_file", "Reads a file.", func(_ context.Context, f *file) (string, error) { return output(f), nil })
	if err != nil {
		return "", err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: model, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}, MaxStep: 4 * steps,
		StreamToolCallChecker: calls,
	})
	if err != nil {
		return "", err
	}
	history := []*schema.Message{schema.SystemMessage("You look after ships."), schema.UserMessage("Where is the load line?")}
	if !stream {
		said, err := agent.Generate(ctx, history)
		if err != nil {
			return "", err
		}
		return said.Content, nil
	}
	s, err := agent.Stream(ctx, history)
	if err != nil {
		return "", err
	}
	said, err := schema.ConcatMessageStream(s)
	if err != nil {
		return "", err
	}
	return said.Content, nil
}

// calls reports whether a reply calls a tool, wherever in it.
func calls(_ context.Context, s *schema.StreamReader[*schema.Message]) (bool, error) {
	defer s.Close()
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil || len(m.ToolCalls) > 0 {
			return err == nil, err
		}
	}
}
