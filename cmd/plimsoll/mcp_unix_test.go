//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// mcpToken is what the clients of the tests state.
const mcpToken = "a secret"

// A heard is what a client heard from a server.
type heard struct {
	Tools   []string `json:"tools"`
	Answers []string `json:"answers"`
}

// An mcpCall is a call of a tool, as a client is told to make it.
type mcpCall struct {
	tool string
	args map[string]any
}

// MarshalJSON implements [json.Marshaler].
func (c mcpCall) MarshalJSON() ([]byte, error) { return json.Marshal([]any{c.tool, c.args}) }

// An mcpClient makes calls of a server: a program, or what answers at an address.
type mcpClient func(t *testing.T, calls []mcpCall, to ...string) heard

// TestMCP: clients that others wrote read through the program, over pipes and over HTTP, what
// the session sees that was last written to; and what another one sees, where it is named.
func TestMCP(t *testing.T) {
	older, newer := "the mast is 31 m high\n", "the mast is painted black\n"
	db := twoSessions(t, older, newer)
	calls := func(text string) []mcpCall {
		ref := string(llm.RefOf([]byte(text)))
		return []mcpCall{
			{"tool_output_cache", map[string]any{"ref_id": ref, "limit": 1}},
			{"tool_output_cache_grep", map[string]any{"ref_id": ref, "pattern": "mast"}},
			{"search_context", map[string]any{"query": "mast"}},
		}
	}
	t.Setenv(tokenVariable, mcpToken)
	for name, client := range map[string]mcpClient{"Go": askGo, "Python": askPython} {
		t.Run(name, func(t *testing.T) {
			told(t, client(t, calls(newer), "plimsoll", "mcp", "--db", db), newer)
			told(t, client(t, calls(older), "plimsoll", "mcp", "--db", db, "--session", "older"), older)
			url, end := startMCP(t, "--db", db)
			defer end()
			told(t, client(t, calls(newer), url), newer)
		})
	}
}

// told compares what a client heard with the line that is all that a session sees.
func told(t *testing.T, h heard, line string) {
	t.Helper()
	for _, want := range []string{"tool_output_cache", "tool_output_cache_grep", "search_context"} {
		if !slices.Contains(h.Tools, want) {
			t.Errorf("want a tool %s, got %q", want, h.Tools)
		}
	}
	if len(h.Answers) != 3 {
		t.Fatalf("want 3 answers, got %q", h.Answers)
	}
	for i, a := range h.Answers {
		if want := "    1  " + line[:len(line)-1]; !strings.Contains(a, want) || strings.Count(a, "mast") != 1 {
			t.Errorf("answer %d: want %q and no other line, got %q", i, want, a)
		}
	}
}

// twoSessions makes a store with the sessions "older" and "newer", each with an output.
func twoSessions(t *testing.T, older, newer string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kept.db")
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	put := func(session, text string) error {
		return st.Put(t.Context(), session, []edit.Blob{{Ref: llm.RefOf([]byte(text)), Data: []byte(text)}})
	}
	record := [][]byte{[]byte("a record")}
	err = errors.Join(
		st.Append(t.Context(), "newer", 0, record), st.Append(t.Context(), "older", 0, record), st.Append(t.Context(), "newer", 1, record),
		put("newer", newer), put("older", older), st.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startMCP runs the program over HTTP. end lets it end by itself.
func startMCP(t *testing.T, args ...string) (url string, end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "plimsoll", append([]string{"mcp", "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(stderr).ReadString('\n')
	m := regexp.MustCompile(`msg=listening url=(\S+)`).FindStringSubmatch(first)
	if m == nil {
		t.Fatal(first, err)
	}
	return m[1], func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("the program ends with %v", err)
		}
	}
}

// A stating transport states the token.
type stating struct{}

// RoundTrip implements [http.RoundTripper].
func (stating) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+mcpToken)
	return http.DefaultTransport.RoundTrip(r)
}

// askGo is a client with the SDK for Go.
func askGo(t *testing.T, calls []mcpCall, to ...string) (h heard) {
	t.Helper()
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: to[0], HTTPClient: &http.Client{Transport: stating{}}, DisableStandaloneSSE: true}
	if len(to) > 1 {
		transport = &sdk.CommandTransport{Command: exec.CommandContext(t.Context(), to[0], to[1:]...)} //nolint:gosec // the test's own
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		h.Tools = append(h.Tools, tool.Name)
	}
	for _, call := range calls {
		answer, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.args})
		if err != nil {
			t.Fatal(err)
		}
		h.Answers = append(h.Answers, answer.Content[0].(*sdk.TextContent).Text)
	}
	if err := c.Close(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	return h
}

// askPython is a client with the SDK for Python.
func askPython(t *testing.T, calls []mcpCall, to ...string) (h heard) {
	t.Helper()
	python := os.Getenv("PLIMSOLL_PYTHON_SDKS")
	if python == "" && os.Getenv("CI") == "true" {
		t.Fatal("PLIMSOLL_PYTHON_SDKS, want the interpreter that scripts/sdks made, got nothing")
	}
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON_SDKS is not set: the Python client of MCP is not tested (scripts/sdks DIR installs it)")
	}
	text, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", "mcp", "client.py"), string(text)}, to...)...) //nolint:gosec // the test's own
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &h)
	}
	if err != nil {
		t.Fatalf("client.py: %v\n%s", err, out)
	}
	return h
}
