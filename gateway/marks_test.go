package gateway_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// marked returns a body with cache marks on the last block of some messages, counted from
// 0, as clients move them along.
func marked(t *testing.T, body []byte, at ...int) []byte {
	t.Helper()
	for _, i := range at {
		content := gjson.GetBytes(body, "messages").Array()[i].Get("content")
		blocks := content.Array()
		last := blocks[len(blocks)-1]
		end := content.Index + len(content.Raw) - 1 // the bracket
		if content.IsArray() && last.IsObject() {
			end = bytes.LastIndexByte(body[:end], '}')
			body = append(append(append([]byte(nil), body[:end]...), `,"cache_control":{"type":"ephemeral"}`...), body[end:]...)
		}
	}
	return body
}

func marks(body []byte) (at []int) {
	for i, m := range gjson.GetBytes(body, "messages").Array() {
		for _, block := range m.Get("content").Array() {
			if block.Get("cache_control").Exists() {
				at = append(at, i)
			}
		}
	}
	return at
}

// TestMarks: marks that the client moves from request to request stand where it has them,
// in edited requests too; one on what was taken out moves to what stands before it. There
// are never more than the client's.
func TestMarks(t *testing.T) {
	g := beginOldestFirst(t)
	c := newTalk(t, "Read them.").reads(2)
	edited := 0
	for n := range 40 {
		call := c.call()
		last := len(c.history) - 1
		call.Body = marked(t, call.Body, 2, last)
		x, err := g.Begin(t.Context(), call)
		must(t, err)
		got := marks(x.Body())
		if faults := faultsOf(x.Body()); len(faults) > 0 {
			t.Fatalf("request %d: %v", n, faults)
		}
		end := len(gjson.GetBytes(x.Body(), "messages").Array()) - 1
		if x.Edited() {
			edited++
			if len(got) != 2 || got[0] != 0 {
				t.Errorf("request %d: marks at %v, want that of message 2, which is gone, on message 0", n, got)
			}
		}
		if len(got) == 0 || len(got) > 2 || got[len(got)-1] != end {
			t.Errorf("request %d, edited %t: marks at %v of %d messages, want the last marked and at most one more", n, x.Edited(), got, end+1)
		}
		c.reads(100)
	}
	if edited == 0 {
		t.Error("nothing was edited")
	}
}

// TestMarkOnAnImage: a client's mark that moves on from an image or from what is not understood
// leaves the conversation the one that it was, also once it is taken up again.
func TestMarkOnAnImage(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for name, content := range map[string]string{
		"an image":          `{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}%s}`,
		"what nobody knows": `{"type":"text","text":"Look."},{"type":"container_upload","file_id":"f"%s}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := new(store.Memory)
			g := begin(t, s)
			body := func(first, last string) []byte {
				return fmt.Appendf(nil, `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":[`+content+`]}%s]}`, first, last)
			}
			call := newTalk(t, "Look.").call()
			call.Body = body(mark, "")
			x, err := g.Begin(t.Context(), call)
			must(t, err)
			ends(t, x)
			call.Body = body("", `,{"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"text","text":"And now?"`+mark+`}]}`)
			for _, g := range []*gateway.Gateway{g, begin(t, s)} {
				next, err := g.Begin(t.Context(), call)
				must(t, err)
				if got := next.Report(); got.Session != x.Report().Session || got.Match != gateway.MatchNext && got.Match != gateway.MatchRetry {
					t.Errorf("want %s to go on, got %+v", x.Report().Session, got)
				}
				ends(t, next)
			}
		})
	}
}

func faultsOf(body []byte) []check.Fault { return check.Request(dialect, body) }
