package frameworktest

import (
	"context"
	"net/http"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
)

// adkAgent is an agent of the ADK, on its Gemini model.
func adkAgent(ctx context.Context, httpClient *http.Client, _ string, stream bool) (string, error) {
	model, err := gemini.NewModel(ctx, "gemini-2.5-pro", &genai.ClientConfig{HTTPClient: httpClient})
	if err != nil {
		return "", err
	}
	read, err := functiontool.New(functiontool.Config{Name: "read_file", Description: "Reads a file."},
		func(_ agent.Context, f file) (map[string]string, error) {
			return map[string]string{"output": output(&f)}, nil
		})
	if err != nil {
		return "", err
	}
	ships, err := llmagent.New(llmagent.Config{Name: "ships", Model: model, Instruction: "You look after ships.", Tools: []tool.Tool{read}})
	if err != nil {
		return "", err
	}
	r, err := runner.New(runner.Config{AppName: "ships", Agent: ships, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		return "", err
	}
	config := agent.RunConfig{StreamingMode: agent.StreamingModeNone}
	if stream {
		config.StreamingMode = agent.StreamingModeSSE
	}
	last := ""
	for e, err := range r.Run(ctx, "user", "session", genai.NewContentFromText("Where is the load line?", genai.RoleUser), config) {
		if err != nil {
			return "", err
		}
		if e.ErrorMessage != "" {
			last = e.ErrorMessage
		}
		if e.Content == nil || e.Partial {
			continue
		}
		for _, p := range e.Content.Parts {
			if p.Text != "" && !p.Thought {
				last = p.Text
			}
		}
	}
	return last, nil
}
