package sdktest

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func messagesAgent(ctx context.Context, httpClient *http.Client, stream bool) (string, error) {
	client := anthropic.NewClient(option.WithHTTPClient(httpClient))
	p := anthropicParams(anthropic.NewUserMessage(anthropic.NewTextBlock("Where is the load line?")))
	p.MaxTokens = 2000
	p.System = []anthropic.TextBlockParam{{Text: "You look after ships.", CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	p.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
	p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema}, "read_file")}
	for n := range 2 * growingSteps {
		m, err := messagesOnce(ctx, client, p, stream)
		if err != nil {
			return "", err
		}
		last, answers := "", []anthropic.ContentBlockParamUnion(nil)
		for _, b := range m.Content {
			switch b := b.AsAny().(type) {
			case anthropic.TextBlock:
				last = b.Text
			case anthropic.ToolUseBlock:
				answers = append(answers, anthropic.NewToolResultBlock(b.ID, output(n), false))
			}
		}
		if len(answers) == 0 {
			return last, nil
		}
		p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(answers...))
	}
	return "", errEndless
}

func messagesOnce(ctx context.Context, client anthropic.Client, p anthropic.MessageNewParams, stream bool) (*anthropic.Message, error) {
	if !stream {
		return client.Messages.New(ctx, p)
	}
	var all anthropic.Message
	s := client.Messages.NewStreaming(ctx, p)
	for s.Next() {
		if err := all.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &all, s.Err()
}
