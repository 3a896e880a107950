//go:build unix

package proxytest

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
)

// TestFullDisk: a program whose file cannot grow any more passes on what fits, as the client
// wrote it, and says so; what it had written is whole, and with room again it goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "full.db")
	g, url := newGate(t)
	p := runAs(t, db, url, "sh", "-c", `ulimit -f 400; exec "$0" "$@"`, program(t)) // 200 or 400 kB
	a := testagent.New(p.url, "openai-chat", false)
	a.Model = "wide-model"
	g.model = scripted(t, "reply always\n  words 20\n")
	rnd := rand.New(rand.NewPCG(1, 2))
	say := func() {
		t.Helper()
		text := make([]byte, 30_000) // that does not pack well
		for i := range text {
			text[i] = byte(' ' + 1 + rnd.IntN(90))
		}
		a.Says(string(text))
		body, err := a.Body()
		must(t, err)
		_, err = a.Send(t.Context(), body)
		must(t, err)
		if got := g.take(); len(got) != 1 || string(got[0]) != string(body) {
			t.Errorf("%d requests left, or another one", len(got))
		}
		a.History = append(a.History, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "So it is."}}})
	}
	for range 24 {
		say()
	}
	if text := p.end(t); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "were not written") {
		t.Errorf("want a warning, got %s", text)
	}
	p = run(t, db, url)
	a.URL = p.url
	say()
	if text := p.end(t); strings.Contains(text, "level=WARN") || !strings.Contains(text, "session=gateway/") {
		t.Errorf("with room again: got %s", text)
	}
	if out := plimsoll(t, "store", "verify", "--db", db); !strings.Contains(out, ": ok: ") {
		t.Error(out)
	}
}
