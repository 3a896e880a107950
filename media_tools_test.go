package plimsoll_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// TestImageComesBack: an image that was taken out of the view is shown again to a model that
// reads what is under its Ref: in the output, or behind it where its provider's format has no
// images in outputs.
func TestImageComesBack(t *testing.T) {
	for _, c := range codecs.All() {
		t.Run("R001-10_an_image_"+string(c.Dialect()), func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, "balanced"), Targets: []budget.Target{{
				Provider: "p", Model: "gpt-4o", Window: budget.Window{Capacity: 60_000, OutputReserve: 1000, MaxImages: 2},
			}}})
			add(t, s, human("I shall show you three."), reply("Do."))
			var images []string
			for i := range 3 {
				r, data := withImage(t, c, i)
				images = append(images, data)
				add(t, s, r.Messages[0], reply("I see."))
			}
			add(t, s, human("What was in the first one?"))
			body := encode(t, c, prepare(t, s).Request())
			ref := regexp.MustCompile(`r[a-z2-7]{26}`).FindString(string(body))
			if bytes.Contains(body, []byte(images[0])) || ref == "" {
				t.Fatalf("want the first image taken out, with its Ref, got %.300s", body)
			}
			call := llm.ToolCall{CallID: "b1", Name: policy.ToolOutputCache, Args: fmt.Sprintf(`{"ref_id":%q}`, ref)}
			add(t, s, llm.AssistantText("", call))
			if served, err := s.Builtin(t.Context(), call); err != nil || !served {
				t.Fatal(served, err)
			}
			body = encode(t, c, prepare(t, s).Request())
			if !bytes.Contains(body, []byte(images[0])) {
				t.Errorf("want the image shown, got %s", body)
			}
			if !strings.Contains(string(body), "bytes in base64: they cannot be shown as text.") {
				t.Errorf("want it described, got %.3000s", body)
			}
		})
	}
}

// withImage is a request with an image, as it came from a client of that dialect.
func withImage(t *testing.T, c codecs.Full, n int) (r llm.Request, data string) {
	t.Helper()
	image := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10")
	noise := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // to be repeatable is the point
	for range 3000 {
		image = append(image, byte(noise.Uint32()))
	}
	data = base64.StdEncoding.EncodeToString(image)
	from, _ := codecs.For("anthropic")
	r, err := from.DecodeRequest(fmt.Appendf(nil, `{"model":"gpt-4o","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Look."},`+
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}]}`, data))
	must(t, err)
	d, _ := dialects(t).Dialect(c.Dialect())
	body, err := c.EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
	must(t, err)
	r, err = c.DecodeRequest(body)
	must(t, err)
	return r, data
}

// encode returns a request as it leaves, which keeps to its provider's rules.
func encode(t *testing.T, c codecs.Full, r llm.Request) []byte {
	t.Helper()
	body, err := codecs.Body(r, c.Dialect())
	must(t, err)
	for _, f := range check.Request(c.Dialect(), body.JSON) {
		t.Errorf("%v", f)
	}
	return body.JSON
}
