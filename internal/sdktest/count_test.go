package sdktest

import (
	"context"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"google.golang.org/genai"
)

// TestCountTokens: the SDKs' requests to count are read, and say what the call then costs.
func TestCountTokens(t *testing.T) {
	text := strings.Repeat("The ship lies deeper. ", 50)
	const script = "reply always\n  text \"yes\"\n"
	t.Run("anthropic", func(t *testing.T) {
		server, url := scripted(t, script, false)
		client := anthropicClient(url, 0)
		messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))}
		n, err := client.Messages.CountTokens(context.Background(), anthropic.MessageCountTokensParams{Model: "test-model-1", Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		m, err := client.Messages.New(context.Background(), anthropicParams(messages...))
		if err != nil {
			t.Fatal(err)
		}
		if n.InputTokens != m.Usage.InputTokens || n.InputTokens < 100 {
			t.Errorf("tokens, want those of the call, %d, got %d", m.Usage.InputTokens, n.InputTokens)
		}
		roundTrip(t, server.Log()[0])
	})
	t.Run("gemini", func(t *testing.T) {
		server, url := scripted(t, script, false)
		models := geminiClient(t, url).Models
		n, err := models.CountTokens(context.Background(), "test-model-1", genai.Text(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := models.GenerateContent(context.Background(), "test-model-1", genai.Text(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n.TotalTokens != r.UsageMetadata.PromptTokenCount || n.TotalTokens < 100 {
			t.Errorf("tokens, want those of the call, %d, got %d", r.UsageMetadata.PromptTokenCount, n.TotalTokens)
		}
		roundTrip(t, server.Log()[0])
	})
}
