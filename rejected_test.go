package plimsoll_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// mostBytes is what the server of these tests takes, which nobody tells the session.
const mostBytes = 100_000

// A narrow is a model server that takes mostBytes, and a client of it.
type narrow struct {
	client  *client.Client
	dialect catalog.Dialect
	size    *int64 // bytes of the last request
}

func newNarrow(t *testing.T, provider string) narrow {
	t.Helper()
	script, err := scriptmodel.Parse(fmt.Sprintf("window 1000000\nbytes %d\nreply always\n  text \"Seen.\"\n", mostBytes))
	if err != nil {
		t.Fatal(err)
	}
	n, server := narrow{size: new(int64)}, scriptmodel.New(script, scriptmodel.Options{})
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*n.size = r.ContentLength
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(at.Close)
	p, ok := client.Lookup(provider)
	if !ok {
		t.Fatalf("provider %q, want a known one", provider)
	}
	n.client, err = client.New(p, client.Options{HTTP: at.Client(), Tries: 1, Env: func(name string) string {
		switch {
		case strings.HasSuffix(name, "_BASE_URL"):
			return at.URL
		case strings.HasSuffix(name, "_KEY"):
			return "sk-test"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	n.dialect, _ = known.Dialect(p.Dialect)
	return n
}

// send sends a request and returns how many bytes it had.
func (n narrow) send(t *testing.T, s *engine.Send) (size int64, reply llm.Response, err error) {
	t.Helper()
	fit := convert.Request(s.Request(), n.dialect, convert.Options{})
	reply, err = n.client.Complete(t.Context(), fit.Request)
	return *n.size, reply, err
}

// picture is a screenshot as a client has it, of some n bytes in base64.
func picture(name string, n int) llm.Media {
	data := base64.StdEncoding.EncodeToString([]byte(name + strings.Repeat(" ", n*3/4)))
	block := fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}`, data)
	return llm.Media{Type: "image/png", Width: 800, Height: 600, Size: len(data), Raw: llm.Raw{Data: []byte(block)}}
}

// TestRequestTooLarge goes the whole way of a 413: the server refuses the bytes, Rejected
// returns less, and that is accepted, as is what follows, also after a restart.
func TestRequestTooLarge(t *testing.T) {
	for _, c := range []struct {
		name, provider, model, policy string
		size                          int // bytes of an image in each Round; 0: none
	}{
		{"images to Anthropic", "anthropic", "claude-opus-4-6", "balanced", 4000},
		{"images to OpenAI", "openai", "gpt-5", "guard", 4000},
		{"text to OpenAI Chat", "openai-compatible", "gpt-5", "layered", 0},
		{"text to Gemini", "gemini", "gemini-2.5-flash", "guard", 0}, // says it with a 400
	} {
		t.Run(c.name, func(t *testing.T) {
			kept := new(store.Memory)
			o := plimsoll.Options{Policy: preset(t, c.policy), Store: kept, Targets: []budget.Target{{Provider: c.provider, Model: c.model, Window: budget.Window{Capacity: 1_000_000}}}}
			model, s := newNarrow(t, c.provider), open(t, o)
			add(t, s, human("Look around."))
			for i := range 60 {
				call, out := round(i)
				content := []llm.Part{llm.Text{Text: fmt.Sprintf("page %d: %s", i, numbered(2000))}}
				if c.size > 0 {
					content = []llm.Part{llm.Text{Text: fmt.Sprintf("page %d", i)}, picture(fmt.Sprint("screen ", i), c.size)}
				}
				out.Parts[0] = llm.ToolResult{CallID: out.Results()[0].CallID, Content: content}
				add(t, s, call, out)
			}
			accepted(t, model, s, 1)
			call, out := round(200)
			add(t, s, call, out)
			s = open(t, o)
			accepted(t, model, s, 0)
			if c.size > 0 {
				for i, text := range outputs(s)[:60] {
					if !strings.Contains(text, fmt.Sprintf("page %d", i)) {
						t.Errorf("output %d, want its words beside the image that went, got %q", i, text)
					}
				}
			}
		})
	}
}

// accepted sends requests until one is accepted. Each of those that are refused, least of
// them at least, is a tenth larger than the next.
func accepted(t *testing.T, model narrow, s *plimsoll.Session, least int) {
	t.Helper()
	send := prepare(t, s)
	last := int64(0)
	for refused := 0; ; refused++ {
		size, reply, err := model.send(t, send)
		if last > 0 && size > last*92/100 {
			t.Errorf("after a refusal of %d bytes, want a tenth less, got %d", last, size)
		}
		if err == nil {
			if size > mostBytes || refused < least {
				t.Errorf("accepted, want at most %d bytes after at least %d refusals, got %d after %d", mostBytes, least, size, refused)
			}
			observe(t, s, reply.Usage)
			add(t, s, reply.Message)
			return
		}
		if !plimsoll.IsTooLong(err) || refused > 20 {
			t.Fatalf("request %d of %d bytes, want it accepted or refused for its length, got %v", refused, size, err)
		}
		if send, err = s.Rejected(t.Context(), err); err != nil {
			t.Fatal(err)
		}
		last = size
	}
}

// TestRefusalTeachesOnlyWhoRefused: the next target keeps its window, and the call goes
// there as it is.
func TestRefusalTeachesOnlyWhoRefused(t *testing.T) {
	for _, name := range []string{"guard", "balanced", "layered", "turn-budget"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, name), Targets: []budget.Target{
				{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 200_000, OutputReserve: 1000}},
				{Provider: "b", Model: "gpt-4o", Window: budget.Window{Capacity: 400_000, OutputReserve: 1000}},
			}})
			add(t, s, human(strings.Repeat("a word and another one. ", 20_000)))
			first := prepare(t, s)
			again, err := s.Rejected(t.Context(), &refusal{window: 96_000})
			if err != nil {
				t.Fatal(err)
			}
			if first.Target.Provider != "a" || again.Target.Provider != "b" || again.Target.Window.Capacity != 400_000 || again.Final != engine.ReasonNone {
				t.Errorf("want a, then b with its window of 400,000 and no final Step, got %s, then %s with %d, final %q",
					first.Target.Name(), again.Target.Name(), again.Target.Window.Capacity, again.Final)
			}
		})
	}
}

// TestRefusalBelowBufferAndReserve: a stated window in which buffer and reserve alone
// would not fit is worked with, and remembered, under every policy.
func TestRefusalBelowBufferAndReserve(t *testing.T) {
	for _, name := range []string{"guard", "balanced", "layered", "turn-budget"} {
		t.Run(name, func(t *testing.T) {
			o := plimsoll.Options{Policy: preset(t, name), Store: new(store.Memory), Targets: []budget.Target{{Model: "mystery-7b", Window: budget.Window{Capacity: 64_000}}}}
			s := open(t, o)
			add(t, s, human(strings.Repeat("alpha river stone window ", 200)))
			prepare(t, s)
			again, err := s.Rejected(t.Context(), &refusal{window: 4096})
			if err != nil {
				t.Fatal(err)
			}
			for _, send := range []*engine.Send{again, prepare(t, s), prepare(t, open(t, o))} {
				if w := send.Target.Window; w.Capacity != 4096 || send.Limit < 4096*3/4 || send.Count.Bound > send.Limit || send.MaxOutput > 4096/4 {
					t.Errorf("want a request within a window of 4,096, got %d of %d in %+v, output %d", send.Count.Bound, send.Limit, w, send.MaxOutput)
				}
			}
		})
	}
}
