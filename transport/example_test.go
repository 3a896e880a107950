package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// A program sends a history that is longer than its model's window.
func Example() {
	httpClient := newClient()
	history := []string{`{"role":"user","content":"Read all of the logs."}`}
	for n := range 10 {
		history = append(history,
			fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, n),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, n, strings.Repeat("all is well; ", 400)))
	}
	body := `{"model":"a-model","messages":[` + strings.Join(history, ",") + `]}`

	server := serve("window 8000\nreply\n  text \"All is well.\"\n")
	defer server.Close()
	resp, err := httpClient.Post(server.URL+"/v1/chat/completions", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(reply), "All is well."), err)
	// Output:
	// openai, a-model: edited true, 1 request
	// 200 true <nil>
}

func newClient() *http.Client {
	g, err := gateway.New(gateway.Options{
		Window: func(provider, model string) budget.Window {
			if model == "a-model" {
				return budget.Window{Capacity: 8_000, OutputReserve: 1_000}
			}
			return budget.Window{} // what the catalogue has
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	through := transport.New(g)
	through.Done = func(_ *http.Request, r gateway.Report) {
		fmt.Printf("openai, %s: edited %t, %d request\n", r.Model, r.Edited, r.Attempts)
	}
	return &http.Client{Transport: through}
}

// The one line that there is to it.
func ExampleNew() {
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	httpClient := &http.Client{Transport: transport.New(g)}
	_ = httpClient // goes to the SDK
	// Output:
}

// Conversations in a file are those that they were after a restart.
func ExampleNew_file() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file, err := sqlite.Open(context.Background(), filepath.Join(folder, "conversations.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	g, err := gateway.New(gateway.Options{Store: file})
	if err != nil {
		log.Fatal(err)
	}
	_ = g
	// Output:
}

// A server that works for several people keeps them apart.
func ExampleTransport_owner() {
	type userKey struct{}
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		log.Fatal(err)
	}
	through := transport.New(g)
	through.Owner = func(r *http.Request) string { name, _ := r.Context().Value(userKey{}).(string); return name }
	_ = through
	// Output:
}

func serve(script string) *httptest.Server {
	s, err := scriptmodel.Parse(script)
	if err != nil {
		log.Fatal(err)
	}
	return httptest.NewServer(scriptmodel.New(s, scriptmodel.Options{}))
}
