package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store"
)

const asMain = "AGENTLOOP_TEST_MAIN" // makes the test binary the program

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A memory carries requests to a handler without a network.
type memory struct{ handler http.Handler }

func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.Body, in.RequestURI = io.NopCloser(bytes.NewReader(body)), req.URL.RequestURI()
	out := httptest.NewRecorder()
	m.handler.ServeHTTP(out, in)
	return out.Result(), nil
}

// A run is an agent against a script, and what came of it.
type run struct {
	*agent
	options plimsoll.Options
	server  *scriptmodel.Server
	answer  string
	err     error
	events  []plimsoll.Event
	told    bytes.Buffer
	folder  string
}

// small has room for one or two of the files that write makes; large for five.
var (
	small = budget.Target{Provider: "openai-compatible", Model: "gpt-5-mini", Window: budget.Window{Capacity: 9_000, Buffer: 500, OutputReserve: 1_000}}
	large = budget.Target{Provider: "anthropic", Model: "claude-haiku-4-5", Window: budget.Window{Capacity: 20_000, Buffer: 1_000, OutputReserve: 1_000}}
)

// begin readies an agent whose models follow a script.
func begin(t *testing.T, script, preset string, models ...budget.Target) *run {
	t.Helper()
	parsed, err := scriptmodel.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{server: scriptmodel.New(parsed, scriptmodel.Options{})}
	before := http.DefaultTransport
	http.DefaultTransport = memory{r.server} // which the client takes
	t.Cleanup(func() { http.DefaultTransport = before })
	folder := write(t)
	r.agent = &agent{
		models: models, base: "http://model.internal/v1", steps: 20,
		known: must(catalog.Load()), files: must(os.OpenRoot(folder)), told: &r.told,
	}
	t.Cleanup(func() { _ = r.files.Close() })
	r.folder = folder
	r.options = r.agent.options(must(policy.Preset(preset)), folder)
	r.options.Store = &store.Memory{}
	r.session = must(plimsoll.Open(t.Context(), r.options))
	return r
}

// finish works on a task to its end.
func (r *run) finish(t *testing.T) *run {
	t.Helper()
	r.answer, r.err = r.work(t.Context(), "Which file has the answer?")
	if err := r.session.Close(); err != nil {
		t.Fatal(err)
	}
	r.events = slices.Collect(r.session.Events(t.Context()))
	for i, c := range r.server.Log() {
		if c.Status == http.StatusOK && len(c.Faults) > 0 {
			t.Errorf("request %d: %v", i+1, c.Faults)
		}
	}
	return r
}

// write makes files of some 2,400 tokens, one that is longer than an output may be, and things that lead out of the folder.
func write(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	folder := filepath.Join(outside, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string]int{"a.txt": 160, "b.txt": 160, "c.txt": 160, "d.txt": 160, "long.txt": 500} {
		var page strings.Builder
		for n := range lines {
			fmt.Fprintf(&page, "line %d of %s says nothing: it goes on and on.\n", n, name)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("do not tell"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// results are what a request says about the outputs of tools, in order.
func results(r llm.Request) []llm.ToolResult {
	var all []llm.ToolResult
	for _, m := range r.Messages {
		all = append(all, m.Results()...)
	}
	return all
}

func toolNames(r llm.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// story tells the events in words: what was sent, answered, edited by which rule, and what the engine told.
func (r *run) story() (words []string) {
	for _, e := range r.events {
		switch e.Kind {
		case plimsoll.EventEdit:
			words = append(words, "edit "+e.Edit.Rule)
		case plimsoll.EventNotice:
			words = append(words, string(e.Notice.Kind))
		case plimsoll.EventSent:
			words = append(words, strings.TrimSuffix(fmt.Sprintf("sent to %s %s", e.Sent.Target.Provider, e.Sent.Final), " "))
		default:
			words = append(words, string(e.Kind))
		}
	}
	return words
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}
