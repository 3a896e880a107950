package sdktest

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// The recipes of docs/library.md: one Step on the official SDK, whole and streamed.

func chatStep(ctx context.Context, session *plimsoll.Session, client openai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "openai-chat"))
	completion, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	try(err)
	try(session.Reply(ctx, must(body.Reply(completion.RawJSON()))))
}

func chatStreamStep(ctx context.Context, session *plimsoll.Session, client openai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request().Streamed(), "openai-chat"))
	reply := body.Stream()
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	for stream.Next() {
		reply.Add(stream.Current().RawJSON())
	}
	try(stream.Err())
	try(session.Reply(ctx, must(reply.Reply())))
}

func responsesStep(ctx context.Context, session *plimsoll.Session, client openai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "openai-responses"))
	response, err := client.Responses.New(ctx, responses.ResponseNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	try(err)
	try(session.Reply(ctx, must(body.Reply(response.RawJSON()))))
}

func responsesStreamStep(ctx context.Context, session *plimsoll.Session, client openai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request().Streamed(), "openai-responses"))
	reply := body.Stream()
	stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{},
		option.WithRequestBody("application/json", body.JSON))
	for stream.Next() {
		reply.Add(stream.Current().RawJSON())
	}
	try(stream.Err())
	try(session.Reply(ctx, must(reply.Reply())))
}
