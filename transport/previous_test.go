package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
)

const read = `{"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}`

// answers sends a request of the Responses API and returns the status and the response.
func answers(t *testing.T, c *http.Client, url, input, previous string, stream bool) (int, gjson.Result) {
	t.Helper()
	body := fmt.Sprintf(`{"model":"scripted-model","input":%s,"tools":[%s],"stream":%t}`, input, read, stream)
	if previous != "" {
		body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"previous_response_id":%q}`, previous)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/responses", strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	if !stream || resp.StatusCode != http.StatusOK {
		return resp.StatusCode, gjson.ParseBytes(data)
	}
	for line := range bytes.Lines(data) {
		if event, ok := bytes.CutPrefix(line, []byte("data: ")); ok && gjson.GetBytes(event, "type").Str == "response.completed" {
			return resp.StatusCode, gjson.GetBytes(event, "response")
		}
	}
	t.Fatalf("a stream without response.completed: %s", data)
	return 0, gjson.Result{}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPreviousResponse: a client that leaves its history to the provider sends the id
// alone while nothing is due, also to a process that was started meanwhile; once an edit is
// due the whole input is sent, without the id.
func TestPreviousResponse(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream_%t", stream), func(t *testing.T) {
			server, url := scripted(t, script)
			s := &store.Memory{}
			client := func() *http.Client {
				g, err := gateway.New(gateway.Options{Store: s, Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 8000, OutputReserve: 500}
				}})
				must(t, err)
				return &http.Client{Transport: transport.New(g)}
			}
			c, input, previous := client(), `"Read all of them."`, ""
			for n := 1; ; n++ {
				if n == 3 || n == 20 {
					c = client()
				}
				status, reply := answers(t, c, url, input, previous, stream)
				if status != http.StatusOK {
					t.Fatalf("step %d: %d %s", n, status, reply.Raw)
				}
				previous = reply.Get("id").Str
				call := reply.Get(`output.#(type=="function_call").call_id`).Str
				if call == "" {
					break
				}
				input = fmt.Sprintf(`[{"type":"function_call_output","call_id":%q,"output":%q}]`, call, strings.Repeat(fmt.Sprintf("line of file %d\n", n), 200))
			}
			alone, whole := 0, 0
			for i, call := range server.Log() {
				if call.Error != nil || len(call.Faults) > 0 {
					t.Fatalf("call %d: %v %v", i+1, call.Error, call.Faults)
				}
				if gjson.GetBytes(call.Body, "previous_response_id").Str != "" {
					alone++
				} else {
					whole++
				}
			}
			if alone < 2 || whole < 2 || alone+whole != 41 {
				t.Errorf("%d requests with the id alone, %d with everything, want some of both and 41", alone, whole)
			}
		})
	}
}

// TestUnknownHistory: a history that did not pass through here is refused as the provider
// refuses one that it does not have, so that the client sends all of it.
func TestUnknownHistory(t *testing.T) {
	server, url := scripted(t, script)
	g, err := gateway.New(gateway.Options{})
	must(t, err)
	status, body := answers(t, &http.Client{Transport: transport.New(g)}, url, `"Go on."`, "resp_of_somebody", false)
	if status != http.StatusBadRequest || body.Get("error.code").Str != "previous_response_not_found" || len(server.Log()) != 0 {
		t.Errorf("got %d %s after %d calls upstream", status, body.Raw, len(server.Log()))
	}
}
