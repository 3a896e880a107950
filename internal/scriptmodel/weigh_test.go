package scriptmodel

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// bytesScale takes a token for every byte of the body, and for every three of a text.
type bytesScale struct{}

func (bytesScale) Prompt(_ llm.Dialect, _ string, body []byte) int { return len(body) }

func (bytesScale) Reply(_ string, m llm.Message) int { return (len(m.Text()) + 2) / 3 }

// TestScale: another's count decides what is refused and what is reported.
func TestScale(t *testing.T) {
	for _, d := range []llm.Dialect{messages, chat, generate} {
		r := start(t, d, "window 3000\ncache off\nreply always\n  text \"one two three four\"\n")
		r.server = New(r.server.script, Options{Scale: bytesScale{}})
		listener := httptest.NewServer(r.server)
		t.Cleanup(listener.Close)
		r.url = listener.URL

		body := r.opening("x", false)
		reply := r.ask(body, false)
		if u := reply.Usage; u.Prompt() != len(body) || u.Output != 6 {
			t.Errorf("%s: usage, want %d in and 6 out, got %+v", d, len(body), u)
		}
		if e := r.refused(r.opening(strings.Repeat("a", 3000), false)); e.Class != wire.TooLong {
			t.Errorf("%s: a body above the window, want it too long, got %v", d, e)
		}
		if got := r.server.Log(); len(got) != 2 || got[0].Prompt != len(body) {
			t.Errorf("%s: log, want two calls, the first of %d tokens, got %d", d, len(body), len(got))
		}
	}
}
