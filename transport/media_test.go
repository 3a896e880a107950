package transport_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// TestHiddenImage: a model asks for an image that has left its view, in a Round that the client
// does not see, and sees it, in every format; also in the requests that follow.
func TestHiddenImage(t *testing.T) {
	for _, c := range codecs.All() {
		t.Run("R001-10_an_image_"+string(c.Dialect()), func(t *testing.T) { hiddenImage(t, c) })
	}
}

func hiddenImage(t *testing.T, c codecs.Full) {
	g, err := gateway.New(gateway.Options{Offer: true, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 60_000, OutputReserve: 1_000, MaxImages: 2}
	}})
	must(t, err)
	a := testagent.New("http://model.invalid", c.Dialect(), false)
	a.History = nil
	a.Says("I shall show you three.")
	images := make([]string, 3)
	seen := 0 // requests of the provider's that have the first image, once it had left
	ask := func(body []byte) llm.Message {
		r, err := c.DecodeRequest(body)
		must(t, err)
		for _, f := range check.Request(c.Dialect(), body) {
			t.Errorf("the provider finds %v", f)
		}
		ref := refIn.FindString(string(body))
		last := r.Messages[len(r.Messages)-1]
		switch {
		case ref == "":
			return llm.AssistantText("I see.")
		case bytes.Contains(body, []byte(images[0])):
			seen++
			return llm.AssistantText("It was noise.")
		case slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == policy.ToolOutputCache }) && strings.Contains(last.Text(), "first one"):
			return llm.AssistantText("", llm.ToolCall{CallID: "own1", Name: policy.ToolOutputCache, Args: fmt.Sprintf(`{"ref_id":%q}`, ref)})
		}
		return llm.AssistantText("Well.")
	}
	tr := transport.New(g)
	tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		must(t, err)
		reply := llm.Response{ID: "msg", Model: "scripted", Message: ask(body), Usage: llm.Usage{Input: len(body) / 4, Output: 20}, Stop: llm.StopEnd}
		if len(reply.Message.Calls()) > 0 {
			reply.Stop = llm.StopTool
		}
		out, err := c.EncodeResponse(reply)
		must(t, err)
		return &http.Response{
			StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewReader(out)), ContentLength: int64(len(out)),
		}, nil
	})
	a.HTTP = &http.Client{Transport: tr}
	must(t, a.Step(t.Context()))
	for i := range images {
		var m llm.Message
		m, images[i] = pictured(t, c, i)
		a.History = append(a.History, m)
		must(t, a.Step(t.Context()))
	}
	a.Says("What was in the first one?")
	must(t, a.Step(t.Context()))
	if got := a.History[len(a.History)-1].Text(); got != "It was noise." || seen != 1 {
		t.Fatalf("the model says %q, and has seen it in %d requests", got, seen)
	}
	a.Says("And now?")
	must(t, a.Step(t.Context()))
	if seen != 2 {
		t.Errorf("want the image in the next request, too, got it in %d", seen)
	}
}

// pictured is a message with an image, as a client of that dialect writes it.
func pictured(t *testing.T, c codecs.Full, n int) (m llm.Message, data string) {
	t.Helper()
	image := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10")
	noise := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // to be repeatable is the point
	for range 3000 {
		image = append(image, byte(noise.Uint32()))
	}
	data = base64.StdEncoding.EncodeToString(image)
	from, _ := codecs.For("anthropic")
	r, err := from.DecodeRequest(fmt.Appendf(nil, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Look."},`+
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}]}`, data))
	must(t, err)
	known, err := catalog.Load()
	must(t, err)
	d, _ := known.Dialect(c.Dialect())
	body, err := c.EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
	must(t, err)
	r, err = c.DecodeRequest(body)
	must(t, err)
	return r.Messages[0], data
}
