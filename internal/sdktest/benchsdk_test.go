package sdktest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	antstream "github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	"github.com/openai/openai-go/v3"
	oaistream "github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// inMemory answers every request with one stream.
type inMemory []byte

func (m inMemory) RoundTrip(*http.Request) (*http.Response, error) { return m.response(), nil }

func (m inMemory) response() *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(m)),
	}
}

// sdkReader returns a function that reads a stream with an SDK's own reader and returns how
// many events it has.
func sdkReader(b *testing.B, name string, stream inMemory) func() int {
	b.Helper()
	switch name {
	case "anthropic":
		return func() int {
			res := stream.response()
			defer func() { _ = res.Body.Close() }()
			return drain(b, antstream.NewStream[anthropic.MessageStreamEventUnion](antstream.NewDecoder(res), nil))
		}
	case "chat":
		return func() int {
			res := stream.response()
			defer func() { _ = res.Body.Close() }()
			return drain(b, oaistream.NewStream[openai.ChatCompletionChunk](oaistream.NewDecoder(res), nil))
		}
	case "responses":
		return func() int {
			res := stream.response()
			defer func() { _ = res.Body.Close() }()
			return drain(b, oaistream.NewStream[responses.ResponseStreamEventUnion](oaistream.NewDecoder(res), nil))
		}
	}
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: stream},
	})
	if err != nil {
		b.Fatal(err)
	}
	return func() int {
		n := 0
		for _, err := range client.Models.GenerateContentStream(context.Background(), "test-model-1", genai.Text("Go on."), nil) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		return n
	}
}

func drain(b *testing.B, stream interface {
	Next() bool
	Err() error
},
) int {
	b.Helper()
	n := 0
	for stream.Next() {
		n++
	}
	if err := stream.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}
