package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The tokens of a prompt are asked for with a body that the provider takes.
func TestCountTokens(t *testing.T) {
	for _, c := range []struct{ provider, path, reply string }{
		{"anthropic", "/v1/messages/count_tokens", `{"input_tokens":2095}`},
		{"gemini", "/v1beta/models/m-1:countTokens", `{"totalTokens":2095,"promptTokensDetails":[]}`},
	} {
		t.Run(c.provider, func(t *testing.T) {
			var path string
			var body map[string]json.RawMessage
			cl := dial(t, shapeOf(t, c.provider), serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path = r.URL.RequestURI()
				if err := json.Unmarshal(b, &body); err != nil {
					t.Errorf("%v in %s", err, b)
				}
				answer(w, 200, "application/json", c.reply)
			}), client.Options{})
			r := question()
			r.Sections = []llm.Section{{Text: "Be brief."}}
			r.Settings.Temperature, r.Settings.Stop = "0.5", []string{"x"}
			n, err := cl.CountTokens(t.Context(), r)
			if err != nil || n != 2095 || path != c.path {
				t.Errorf("got %d, %v from %s", n, err, path)
			}
			if c.provider == "gemini" {
				var inner map[string]json.RawMessage
				if err := json.Unmarshal(body["generateContentRequest"], &inner); err != nil {
					t.Fatal(err)
				}
				contains(t, string(inner["model"])+string(inner["contents"])+string(inner["systemInstruction"]), `"models/m-1"`, "Say hello.", "Be brief.")
				return
			}
			contains(t, string(body["model"])+string(body["messages"])+string(body["system"]), `"m-1"`, "Say hello.", "Be brief.")
			for _, refused := range []string{"max_tokens", "stream", "temperature", "stop_sequences"} {
				if body[refused] != nil {
					t.Errorf("%s is sent, which the provider refuses", refused)
				}
			}
		})
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		provider, method, path, reply string
		want                          int
	}{
		{"anthropic", "GET", "/v1/models/m-1", `{"type":"model","id":"m-1","max_input_tokens":1000000,"max_tokens":128000}`, 1_000_000},
		{"gemini", "GET", "/v1beta/models/m-1", `{"name":"models/m-1","inputTokenLimit":1048576,"outputTokenLimit":65536}`, 1_048_576},
		{"ollama", "POST", "/api/show", `{"parameters":"stop \"x\"\nnum_ctx                        8192\n","model_info":{"llama.context_length":131072}}`, 8192},
		{"ollama", "POST", "/api/show", `{"model_info":{"general.architecture":"llama","llama.context_length":131072}}`, 4_096},
		{"openrouter", "GET", "/models", `{"data":[{"id":"other","context_length":1},{"id":"m-1","context_length":32768}]}`, 32_768},
		{"openrouter", "GET", "/models", `{"data":[{"id":"other","context_length":1}]}`, 0},
		{"openai-compatible", "GET", "/models", `{"object":"list","data":[{"id":"m-1","object":"model","owned_by":"vllm","max_model_len":40960}]}`, 40_960},
		{"openai-compatible", "GET", "/models", `{"object":"list","data":[{"id":"m-1","object":"model"}]}`, 0},
		{"anthropic", "GET", "/v1/models/m-1", `{"type":"model","id":"m-1"}`, 0},
		{"anthropic", "GET", "/v1/models/m-1", `nonsense`, 0},
	} {
		var got string
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/ps" {
				answer(w, 200, "application/json", `{"models":[{"name":"m-2","context_length":16384}]}`)
				return
			}
			got = r.Method + " " + r.URL.RequestURI()
			answer(w, 200, "application/json", c.reply)
		})
		p, _ := client.Lookup(c.provider)
		p.BaseURL, p.BaseEnv, p.KeyOptional = url, nil, true
		cl, err := client.New(p, client.Options{Env: env()})
		if err != nil {
			t.Fatal(err)
		}
		n, err := cl.Window(t.Context(), "m-1")
		if n != c.want || (err == nil) != (c.want > 0) || got != c.method+" "+c.path {
			t.Errorf("%s: got %d, %v from %s, want %d", c.reply, n, err, got, c.want)
		}
		if n, err := cl.Window(t.Context(), "m-2"); c.provider == "ollama" && (n != 16384 || err != nil) {
			t.Errorf("a running model: got %d, %v", n, err)
		}
	}
}
