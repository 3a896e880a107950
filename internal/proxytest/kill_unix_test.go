//go:build unix

package proxytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	root "github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A moment is when a program is killed.
type moment int

const (
	never   moment = iota
	between        // no exchange is under way
	asked          // the upstream has the request and has said nothing
	within         // half of the answer has come
	after          // the client has read the last byte
	moments
)

// A gate is an upstream that keeps what it gets, and can stop where its proxy is to die.
type gate struct {
	model http.Handler
	at    chan moment // what the next request stops at; none: at nothing
	came  chan bool   // it has stopped there

	mu     sync.Mutex
	bodies [][]byte
}

func newGate(t *testing.T) (*gate, string) {
	g := &gate{model: scripted(t, "window 8000\noutput 500\nreply always\n  words 20\n"), at: make(chan moment, 1), came: make(chan bool)}
	s := httptest.NewServer(g)
	t.Cleanup(s.Close)
	return g, s.URL
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.bodies = append(g.bodies, body)
	g.mu.Unlock()
	at := never
	select {
	case at = <-g.at:
	default:
	}
	answer := httptest.NewRecorder()
	if at != asked {
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.model.ServeHTTP(answer, r)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
	}
	whole := answer.Body.Bytes()
	if at == within {
		whole = whole[:len(whole)/2]
	}
	_, _ = w.Write(whole)
	_ = http.NewResponseController(w).Flush()
	if at == asked || at == within {
		g.came <- true
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}

// take returns the requests that have come since the last time.
func (g *gate) take() [][]byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	got := g.bodies
	g.bodies = nil
	return got
}

// kills returns how many conversations are made up.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PLIMSOLL_KILLS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// A mortal is a proxy that is killed, one that is not, and a client that says the same to
// both.
type mortal struct {
	t         *testing.T
	rnd       *rand.Rand
	calm      *running
	dying     []*running // of one file, which take turns
	calmGate  *gate
	dyingGate *gate
	db, url   string
	turn      int
	retries   bool // the client of the one that is not killed asks again, too, where the other one's has to
	killed    [moments]int
	edited    int
	requests  int
}

// TestKilled: the program is killed between and within exchanges, and started again; its
// client asks again. Each request leaves as it does from a program that is never killed,
// and the file has everything that was answered.
//
// Where clients go back in their conversations both clients ask again: with a retry the
// answer to a question in the background is taken in earlier, and a fork from there has it.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{1, 2} {
		t.Run(fmt.Sprintf("processes_%d", processes), func(t *testing.T) {
			m := &mortal{t: t}
			calmDB := filepath.Join(t.TempDir(), "calm.db")
			m.db = filepath.Join(t.TempDir(), "dying.db")
			var url string
			m.calmGate, url = newGate(t)
			m.calm = run(t, calmDB, url)
			m.dyingGate, m.url = newGate(t)
			for range processes {
				m.dying = append(m.dying, run(t, m.db, m.url))
			}
			for seed := range max(1, kills(t)/(2*processes-1)) {
				m.converse(seed)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			m.calm.end(t)
			for _, r := range m.dying {
				if text := r.end(t); strings.Contains(text, "level=WARN") || strings.Contains(text, "passed=") {
					t.Errorf("want nothing to warn of, got %s", text)
				}
			}
			t.Logf("%d requests, %d of them edited, kills %v", m.requests, m.edited, m.killed)
			if kills(t) >= 20 && (m.edited == 0 || processes == 1 && slices.Contains(m.killed[between:], 0)) {
				t.Errorf("%d requests were edited, the kills were %v, want some of each", m.edited, m.killed)
			}
			sameKept(t, calmDB, m.db)
		})
	}
}

// converse is one conversation.
func (m *mortal) converse(seed int) {
	m.rnd = rand.New(rand.NewPCG(uint64(seed), 7))
	m.retries = seed%2 == 1
	a := testagent.New("", []llm.Dialect{"anthropic", "openai-chat", "openai-responses"}[seed%3], seed%5 != 0)
	a.HTTP, a.History = plain, nil
	a.Says(fmt.Sprintf("Read them, for %d.", seed))
	if seed%4 < 2 {
		a.Header.Set("X-Session-Id", fmt.Sprint(seed))
	}
	m.request(a)
	for n := range 16 {
		switch p := m.rnd.IntN(100); {
		case p < 70:
			reads(a, n, 20+m.rnd.IntN(140))
		case p < 80:
			a.History = append(a.History, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "So it is."}}})
			a.Says(fmt.Sprintf("And what of %d?", n))
		case p < 88: // asks again
		case m.retries && len(a.History) > 6: // goes back
			a.History = slices.Clone(a.History[:len(a.History)-2])
			reads(a, 1000+n, 20+m.rnd.IntN(100))
		}
		if m.request(a); m.t.Failed() {
			m.t.Logf("request %d", n)
			return
		}
	}
}

// reads adds a Round: a call, and its output of that many lines.
func reads(a *testagent.Agent, n, lines int) {
	id := fmt.Sprintf("call_%d", n)
	a.History = append(a.History,
		llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"path":"%d.txt"}`, n)}}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("a line of file %d\n", n), lines)}}},
		}},
	)
}

// request makes the request of a conversation through both, and compares what leaves.
func (m *mortal) request(a *testagent.Agent) {
	m.t.Helper()
	m.requests++
	body, err := a.Body()
	must(m.t, err)
	at := never
	if m.rnd.IntN(8) == 0 {
		at = between + moment(m.rnd.IntN(int(moments-between)))
	}
	want := m.lives(a, body, at)
	if !bytes.Equal(want, body) {
		m.edited++
	}
	m.dies(a, body, at)
	for i, got := range m.dyingGate.take() {
		if !bytes.Equal(got, want) {
			m.t.Errorf("killed at %d: request %d left as another one: %d bytes of the client's, want %d, got %d", at, i, len(body), len(want), len(got))
		}
	}
}

// lives sends a body through the proxy that is not killed, and returns what left.
func (m *mortal) lives(a *testagent.Agent, body []byte, at moment) []byte {
	m.t.Helper()
	a.URL = m.calm.url
	if m.retries && (at == asked || at == within) {
		m.calmGate.at <- at
		m.breaksOff(a, body, m.calmGate)
	}
	_, err := a.Send(m.t.Context(), body)
	must(m.t, err)
	all := m.calmGate.take()
	for _, got := range all {
		if !bytes.Equal(got, all[0]) {
			m.t.Errorf("a retry left as another request: want %d bytes, got %d", len(all[0]), len(got))
		}
	}
	return all[0]
}

// breaksOff sends a body and goes when the upstream has stopped.
func (m *mortal) breaksOff(a *testagent.Agent, body []byte, g *gate) {
	ctx, cancel := context.WithCancel(m.t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := a.Send(ctx, body)
		gone <- err
	}()
	<-g.came
	cancel()
	if err := <-gone; err == nil {
		m.t.Error("an answer that was given up looks whole")
	}
}

// dies sends a body until it is answered, by a proxy that is killed at a moment.
func (m *mortal) dies(a *testagent.Agent, body []byte, at moment) {
	m.t.Helper()
	m.turn++
	i := m.turn % len(m.dying)
	begin := func() {
		m.killed[at]++
		m.dying[i].kill(m.t)
		m.dying[i] = run(m.t, m.db, m.url)
		a.URL = m.dying[i].url
	}
	a.URL = m.dying[i].url
	switch at {
	case between:
		begin()
	case asked, within:
		m.dyingGate.at <- at
		failed := make(chan error, 1)
		go func() {
			_, err := a.Send(m.t.Context(), body)
			failed <- err
		}()
		<-m.dyingGate.came
		url := a.URL
		begin()
		if err := <-failed; err == nil {
			m.t.Error("an answer that was broken off looks whole, from", url)
		}
	}
	_, err := a.Send(m.t.Context(), body)
	must(m.t, err)
	if at == after {
		begin()
	}
}

// sameKept fails unless both files are whole and say the same of each conversation.
func sameKept(t *testing.T, calm, dying string) {
	t.Helper()
	for _, db := range []string{calm, dying} {
		if out := plimsoll(t, "store", "verify", "--db", db); !strings.Contains(out, ": ok: ") {
			t.Errorf("%s: %s", db, out)
		}
	}
	names, replies := sessions(t, calm)
	if got, more := sessions(t, dying); !slices.Equal(names, got) || more < replies {
		t.Errorf("want %d replies and sessions %q, got %d and %q", replies, names, more, got)
	}
	want, got := kept(t, calm, names), kept(t, dying, names)
	for i, name := range names {
		if want[i] != got[i] {
			t.Errorf("session %s: want %s, got %s", name, want[i], got[i])
		}
	}
}

// sessions returns the names of the conversations of a file, and how many replies it has
// that are kept for those who go on from their ids.
func sessions(t *testing.T, db string) (names []string, replies int) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(plimsoll(t, "store", "sessions", "--json", "--db", db)))
	for d.More() {
		var s struct {
			Session string `json:"session"`
		}
		must(t, d.Decode(&s))
		if strings.Count(s.Session, "/") == 1 {
			replies++
		} else {
			names = append(names, s.Session)
		}
	}
	slices.Sort(names)
	return names, replies
}

// kept says in a line what a file has of each conversation: its messages and its edits.
func kept(t *testing.T, db string, names []string) (lines []string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), db, sqlite.Options{ReadOnly: true})
	must(t, err)
	defer s.Close()
	for _, name := range names {
		session, err := root.Open(t.Context(), root.Options{ID: name, Store: s, Targets: []budget.Target{{Provider: "p", Model: "scripted-model", Window: budget.Window{Capacity: window}}}})
		must(t, err)
		var at llm.Digest
		for _, m := range session.Messages() {
			at = llm.Chain(at, llm.DigestOf(m))
		}
		edits, err := json.Marshal(session.Edits())
		must(t, err)
		lines = append(lines, fmt.Sprintf("%d messages %x, edits %x", len(session.Messages()), at[:4], llm.RefOf(edits)))
	}
	return lines
}
