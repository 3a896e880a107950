package sdktest

import (
	"context"
	"encoding/json"

	"google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// The recipes of docs/library.md: one Step on the official SDK, whole and streamed.

func geminiStep(ctx context.Context, session *plimsoll.Session, client *genai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "gemini"))
	config := &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{ExtraBody: must(body.Members())}}
	response, err := client.Models.GenerateContent(ctx, send.Target.Model, nil, config)
	try(err)
	try(session.Reply(ctx, must(body.Reply(string(must(json.Marshal(response)))))))
}

func geminiStreamStep(ctx context.Context, session *plimsoll.Session, client *genai.Client) {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "gemini"))
	reply := body.Stream()
	config := &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{ExtraBody: must(body.Members())}}
	for chunk, err := range client.Models.GenerateContentStream(ctx, send.Target.Model, nil, config) {
		try(err)
		reply.Add(string(must(json.Marshal(chunk))))
	}
	try(session.Reply(ctx, must(reply.Reply())))
}
