package transport_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// TestUnreadReply: a reply that is packed in an unknown way passes as it came; that nobody
// looked at it is reported, and its usage is not known.
func TestUnreadReply(t *testing.T) {
	const text = `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":5}}`
	for coding, want := range map[string]string{"nonsense": "the reply is packed in an unknown way", "gzip, br": "the reply is packed in an unknown way", "identity": ""} {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			g, err := gateway.New(gateway.Options{})
			must(t, err)
			tr := transport.New(g)
			tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
				body := io.NopCloser(strings.NewReader(text))
				return &http.Response{StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {kind}, "Content-Encoding": {coding}}, Body: body}, nil
			})
			var last gateway.Report
			tr.Done = func(_ *http.Request, r gateway.Report) { last = r }
			_, answer, err := ask(t, &http.Client{Transport: tr}, "http://model.invalid/v1/messages", small)
			must(t, err)
			if answer != text || last.Unread != want || want != "" && !last.Usage.IsZero() || want == "" && kind == "application/json" && last.Usage.IsZero() {
				t.Errorf("%s, %s: got %q, %+v", coding, kind, answer, last)
			}
		}
	}
}
