package scriptmodel

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// TestAnswersAreLawful: what the server answers keeps the rules of its dialect, which know
// nothing of the encoders that wrote it.
func TestAnswersAreLawful(t *testing.T) {
	scripts := map[string]string{
		"all at once":    everything,
		"text":           "reply always\n  text \"x\"\n",
		"nothing":        "reply always\n",
		"parallel calls": "reply always\n  call f {\"a\": 1}\n  call g\n  call f\n",
		"hidden":         "reply always\n  thinking hidden\n  text \"x\"\n",
		"thinking twice": "reply always\n  thinking \"a\"\n  call f\n  thinking \"b\"\n  call g\n",
		"length":         "reply always\n  words 20\n  stop length\n",
		"refusal":        "reply always\n  text \"No.\"\n  stop refusal\n",
		"usage":          "reply always\n  text \"x\"\n  usage input 3 read 2 write 1 output 5 reasoning 2\n",
	}
	each(t, func(t *testing.T, d llm.Dialect) {
		for name, script := range scripts {
			r := start(t, d, script)
			for _, f := range check.Response(d, r.send("POST", r.path(false), r.opening("x", false)).body) {
				t.Errorf("%s: reply, want no fault, got %s %s: %s", name, f.Rule, f.Path, f.Message)
			}
			g := r.send("POST", r.path(true), r.opening("x", true))
			for _, f := range check.Stream(d, g.body) {
				t.Errorf("%s: stream, want no fault, got %s %s: %s\n%s", name, f.Rule, f.Path, f.Message, g.body)
			}
			whole, streamed := r.ask(r.opening("x", false), false), r.ask(r.opening("x", true), true)
			if whole.Message.Text() != streamed.Message.Text() || whole.Stop != streamed.Stop || whole.Usage != streamed.Usage {
				t.Errorf("%s: want the same reply whole and streamed, got %+v and %+v", name, whole, streamed)
			}
		}
	})
}

// TestSameBytes: the same requests give the same bytes.
func TestSameBytes(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		var answers [2][]byte
		for i := range answers {
			r := start(t, d, toolRun)
			body := r.opening("start", true)
			first := r.ask(body, true)
			r.ask(r.extend(body, first.Message, answered(first.Message, "README.md")), true)
			for _, c := range r.server.Log() {
				answers[i] = append(answers[i], c.Answer...)
			}
		}
		if !bytes.Equal(answers[0], answers[1]) {
			t.Errorf("answers, want the same, got\n%s\nand\n%s", answers[0], answers[1])
		}
	})
}

// TestSideBySide: requests that come at once are all answered and all written down.
func TestSideBySide(t *testing.T) {
	r := start(t, chat, "reply 20 times\n  text \"x\"\n")
	body := r.opening("x", true)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if g := r.send("POST", r.path(true), body); g.status != 200 {
				t.Errorf("answer, want 200, got %d %s", g.status, g.body)
			}
		})
	}
	all.Wait()
	ids := map[string]bool{}
	for _, c := range r.server.Log() {
		ids[c.Reply.ID] = true
	}
	if len(ids) != 20 {
		t.Errorf("ids, want 20 different ones, got %d", len(ids))
	}
}

// FuzzServer: no request breaks the server, and every answer has a status that it knows.
func FuzzServer(f *testing.F) {
	addresses := []string{
		"/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses", "/v1/responses/compact",
		"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent", "/v1beta/models/m:countTokens", "/api/chat", "/api/show",
	}
	for i := range addresses {
		f.Add(uint8(i), `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"a"}],"input":"b","contents":[{"role":"user","parts":[{"text":"a"}]}]}`)
		f.Add(uint8(i), `{"stream":true,"thinking":{"type":"adaptive"},"input":[{"type":"reasoning","encrypted_content":"AA"}],"previous_response_id":"r"}`)
	}
	script, err := Parse("window 1000\n" + everything)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, at uint8, body string) {
		server := New(script, Options{})
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, addresses[int(at)%len(addresses)], strings.NewReader(body))
		req.Header.Set("anthropic-version", "2023-06-01")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, req)
		if w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Errorf("status, want 200, 400 or 413, got %d: %s", w.Code, w.Body)
		}
		if len(server.Log()) != 1 {
			t.Errorf("log, want one call, got %d", len(server.Log()))
		}
	})
}
