package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// mostReply is how much of a reply to a question of ours is read, in bytes.
const mostReply = 16 << 20

// completeOf asks the model of a request something else, as who made it: at its address and with
// its headers, which are kept nowhere but in what is returned.
func (t *Transport) completeOf(req *http.Request, route Route) func(context.Context, llm.Request) (llm.Response, error) {
	asked := bare(req).Clone(context.Background()) // the client's own request ends before
	asked.Body, asked.GetBody = nil, nil
	return func(ctx context.Context, r llm.Request) (llm.Response, error) {
		codec, ok := codecs.For(route.Dialect)
		if !ok {
			return llm.Response{}, fmt.Errorf("transport: summary: unknown dialect %q", route.Dialect)
		}
		r.Settings.Stream = false
		body, err := codec.EncodeRequest(r)
		if err != nil {
			return llm.Response{}, fmt.Errorf("transport: summary: %w", err)
		}
		out := withBody(asked.WithContext(ctx), body)
		u := *out.URL
		if path, ok := strings.CutSuffix(u.Path, ":streamGenerateContent"); ok {
			q := u.Query()
			q.Del("alt")
			u.Path, u.RawPath, u.RawQuery = path+":generateContent", "", q.Encode()
		}
		out.URL = &u
		out.Header.Del("Content-Encoding")
		out.Header.Set("Content-Type", "application/json")
		out.Header.Set("Accept", "application/json")
		out.Header.Set("Accept-Encoding", "identity")
		resp, err := t.base().RoundTrip(out)
		if err != nil {
			return llm.Response{}, fmt.Errorf("transport: summary: %w", err)
		}
		answer, err := io.ReadAll(io.LimitReader(resp.Body, mostReply))
		_ = resp.Body.Close() // all that is wanted was read
		if err != nil {
			return llm.Response{}, fmt.Errorf("transport: summary: %w", err)
		}
		if resp.StatusCode != http.StatusOK { // what a provider says may repeat a key, and this is kept
			return llm.Response{}, fmt.Errorf("transport: summary: status, want 200, got %d (%s)", resp.StatusCode, codec.DecodeError(resp.StatusCode, answer).Class)
		}
		return codec.DecodeResponse(answer)
	}
}
