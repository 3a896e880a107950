package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// mostModels is how much of a list of models is read, in bytes. OpenRouter's had 600 kB in 2025.
const mostModels = 8 << 20

// windowOf asks the provider of a request for the window of its model, as who makes the request:
// with its headers, which are kept nowhere.
func (t *Transport) windowOf(req *http.Request, route Route) func(context.Context, string) (int, error) {
	return func(ctx context.Context, model string) (int, error) {
		q, ok := codecs.WindowQueryAt(route.Dialect, req.URL.Path, model)
		if !ok {
			return 0, fmt.Errorf("transport: window of %s: the address of the request does not say where to ask", model)
		}
		out := withBody(req, q.Body).WithContext(ctx)
		u := *req.URL
		u.Path, u.RawPath = q.Path, ""
		out.Method, out.URL = q.Method, &u
		for _, name := range []string{"Content-Encoding", "Accept-Encoding", "Accept"} {
			out.Header.Del(name)
		}
		if q.Body == nil {
			out.Body, out.GetBody = http.NoBody, nil
			out.Header.Del("Content-Type")
			out.Header.Del("Content-Length")
		}
		body, err := fetched(t.base(), out)
		if err != nil {
			return 0, fmt.Errorf("transport: window of %s: %w", model, err)
		}
		return codecs.DecodeWindow(route.Dialect, model, body)
	}
}

// fetched returns the body of an answer that is one.
func fetched(base http.RoundTripper, req *http.Request) (body []byte, err error) {
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	packed, err := io.ReadAll(io.LimitReader(resp.Body, mostModels))
	_ = resp.Body.Close() // all that is wanted was read
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status, want 200, got %d", resp.StatusCode) // the body may repeat what was sent
	}
	body, err = Unpack(resp.Header.Get("Content-Encoding"), packed)
	return body, err
}
