package sdktest

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// The recipes of docs/library.md: one Step on the official SDK, whole and streamed.

func messagesStep(ctx context.Context, session *plimsoll.Session, client anthropic.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "anthropic"))
	message, err := client.Messages.New(ctx, anthropic.MessageNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	try(err)
	try(session.Reply(ctx, must(body.Reply(message.RawJSON()))))
}

func messagesStreamStep(ctx context.Context, session *plimsoll.Session, client anthropic.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request().Streamed(), "anthropic"))
	reply := body.Stream()
	stream := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	for stream.Next() {
		reply.Add(stream.Current().RawJSON())
	}
	try(stream.Err())
	try(session.Reply(ctx, must(reply.Reply())))
}

func messagesThinkingStep(ctx context.Context, session *plimsoll.Session, client anthropic.Client) {
	send := must(session.Prepare(ctx))
	thinking := codecs.Members{"thinking": anthropic.ThinkingConfigParamOfEnabled(1024)}
	body := must(codecs.Body(send.Request(), "anthropic", thinking))
	options := []option.RequestOption{option.WithRequestBody("application/json", body.JSON)}
	for _, beta := range body.Betas {
		options = append(options, option.WithHeaderAdd("anthropic-beta", beta))
	}
	message, err := client.Messages.New(ctx, anthropic.MessageNewParams{}, options...)
	try(err)
	try(session.Reply(ctx, must(body.Reply(message.RawJSON()))))
}
