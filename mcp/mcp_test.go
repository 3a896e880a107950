package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/mcp"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

const token = "a secret"

// mine and others are outputs of two sessions of one store.
var (
	mine   = strings.Repeat("nothing here\n", 3000) + "the height of the mast is 31 m\n" + strings.Repeat("nor here\n", 3000)
	others = "the height of the mast is a secret\n"
)

// options are those of a server for the session "mine", with all tools.
func options(t *testing.T) mcp.Options {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	for session, text := range map[string]string{"mine": mine, "others": others} {
		err := errors.Join(
			st.Append(t.Context(), session, 0, [][]byte{[]byte("a record")}),
			st.Put(t.Context(), session, []edit.Blob{{Ref: llm.RefOf([]byte(text)), Data: []byte(text)}}),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	kit, err := builtin.New(builtin.Names())
	if err != nil {
		t.Fatal(err)
	}
	source := plimsoll.Contents(st, "mine")
	return mcp.Options{Kit: kit, Source: func(context.Context) (builtin.Source, error) { return source, nil }}
}

// overPipes starts a server for one client.
func overPipes(t *testing.T, o mcp.Options) sdk.Transport {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.New(o).Pipe(t.Context(), in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close() // the client is gone
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return &sdk.IOTransport{Reader: fromServer, Writer: toServer}
}

// overHTTP starts a server on loopback.
func overHTTP(t *testing.T, o mcp.Options) sdk.Transport {
	t.Helper()
	server := httptest.NewServer(mcp.New(o).Handler())
	t.Cleanup(server.Close)
	return &sdk.StreamableClientTransport{Endpoint: server.URL + mcp.Path, HTTPClient: &http.Client{Transport: stating{o.Token}}, DisableStandaloneSSE: true}
}

// A stating transport states a token.
type stating struct{ token string }

func (s stating) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func connect(t *testing.T, to sdk.Transport) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestServer: a client finds the tools as they are, and reads through them what one session
// sees, and nothing else.
func TestServer(t *testing.T) {
	for name, over := range map[string]func(*testing.T, mcp.Options) sdk.Transport{
		"pipes": overPipes, "HTTP": overHTTP,
		"HTTP with a token": func(t *testing.T, o mcp.Options) sdk.Transport {
			o.Token = token
			return overHTTP(t, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			c := connect(t, over(t, o))
			listed, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range listed.Tools {
				got = append(got, tool.Name)
				if !tool.Annotations.ReadOnlyHint || tool.Description == "" {
					t.Errorf("%s: want a described tool that only reads, got %+v", tool.Name, tool)
				}
			}
			if diff := cmp.Diff([]string{"read_result", "search_context", "tool_output", "tool_output_cache", "tool_output_cache_grep", "tool_output_cache_line"}, got); diff != "" {
				t.Errorf("tools, - want, + got\n%s", diff)
			}
			ref, hidden := string(llm.RefOf([]byte(mine))), string(llm.RefOf([]byte(others)))
			for _, call := range []struct {
				id, tool string
				args     map[string]any
				want     string
				fails    bool
			}{
				{"R001-7", "tool_output_cache", map[string]any{"ref_id": ref, "offset": 3000, "limit": 1}, " 3001  the height of the mast is 31 m", false},
				{"R001-8", "tool_output_cache_grep", map[string]any{"ref_id": ref, "pattern": "mast"}, " 3001  the height of the mast is 31 m", false},
				{"R002-7", "read_result", map[string]any{"ref_id": ref, "offset": 39_000, "limit": 30}, "the height of the mast is 31 m", false},
				{"R000-21", "tool_output", map[string]any{"handle": ref, "extract": "height of the mast"}, "the height of the mast is 31 m", false},
				{"law2", "search_context", map[string]any{"query": "height of the mast"}, "the height of the mast is 31 m", false},
				{"law2_of_another", "tool_output_cache", map[string]any{"ref_id": hidden}, "not found, it may have expired", false},
				{"law2_no_pattern", "tool_output_cache_grep", map[string]any{"ref_id": ref}, "pattern: want a text, got none", true},
			} {
				t.Run(call.id+"_"+call.tool, func(t *testing.T) {
					answer, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.args})
					if err != nil {
						t.Fatal(err)
					}
					text := answer.Content[0].(*sdk.TextContent).Text
					if !strings.Contains(text, call.want) || strings.Contains(text, "secret") || answer.IsError != call.fails {
						t.Errorf("want %q, an error: %t, got %.300q, %t", call.want, call.fails, text, answer.IsError)
					}
				})
			}
		})
	}
}

// TestFault: what goes wrong in a store is told in the log, and without its words to the
// client.
func TestFault(t *testing.T) {
	var log bytes.Buffer
	o := options(t)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Source = func(context.Context) (builtin.Source, error) { return nil, errors.New("the disk is gone") }
	c := connect(t, overPipes(t, o))
	answer, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "search_context", Arguments: map[string]any{"query": "mast"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := answer.Content[0].(*sdk.TextContent).Text; !answer.IsError || text != "The store cannot be read now." {
		t.Errorf("want the stated error, got %q, %t", text, answer.IsError)
	}
	if !strings.Contains(log.String(), "the disk is gone") {
		t.Errorf("the log has no cause: %s", log.String())
	}
}

// TestAdmitted: whoever may not ask gets nothing.
func TestAdmitted(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		name, token string // of the server
		header      [2]string
		host        string
		body        string
		want        int
	}{
		{"a client of this machine", "", [2]string{}, "", body, 200},
		{"with the token", token, [2]string{"Authorization", "bearer  a secret"}, "", body, 200},
		{"without the token", token, [2]string{}, "", body, 401},
		{"with another token", token, [2]string{"Authorization", "Bearer a secreT"}, "", body, 401},
		{"with the token in another scheme", token, [2]string{"Authorization", "Basic a secret"}, "", body, 401},
		{"a page of another origin", "", [2]string{"Origin", "https://example.org"}, "", body, 403},
		{"a page under a name that leads here", "", [2]string{}, "example.org", body, 403},
		{"more than a call can have", "", [2]string{}, "", body + strings.Repeat(" ", 2<<20), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			o.Token = c.token
			server := httptest.NewServer(mcp.New(o).Handler())
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+mcp.Path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			r.Host = c.host
			got, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Body.Close()
			text, _ := io.ReadAll(got.Body)
			if got.StatusCode != c.want || strings.Contains(string(text), "read_result") != (c.want == 200) {
				t.Errorf("want status %d, got %d: %.200s", c.want, got.StatusCode, text)
			}
		})
	}
}

// TestServe: without a token a server listens to this machine alone, and it ends with its
// context.
func TestServe(t *testing.T) {
	o := options(t)
	for address, want := range map[string]error{"0.0.0.0:0": mcp.ErrOpen, "127.0.0.1:0": nil} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var listening net.ListenConfig
		l, err := listening.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := mcp.New(o).Serve(ctx, l); !errors.Is(err, want) {
			t.Errorf("%s: want %v, got %v", address, want, err)
		}
	}
}
