package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/config"
)

// Vectors come from any server that speaks as OpenAI's does; what is wrong with its answers is
// an error without what it said.
func TestLoopEmbeddings(t *testing.T) {
	answer, auth, path := "", "", ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model != "small" {
			t.Errorf("want a question for the model, got %+v %v", asked, err)
		}
		auth, path = r.Header.Get("Authorization"), r.URL.Path
		if answer == "" {
			http.Error(w, "secret words", http.StatusTeapot)
			return
		}
		_, _ = fmt.Fprint(w, answer)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "k-1")
	for base, want := range map[string]string{server.URL: "/v1/embeddings", server.URL + "/v1": "/v1/embeddings", server.URL + "/openai/v1": "/openai/v1/embeddings"} {
		t.Setenv("OPENAI_BASE_URL", base)
		answer = `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}]}`
		e, err := (loopModels{config.Settings{}}).embedder("openai/small")
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Embed(t.Context(), []string{"a", "b"})
		if err != nil || fmt.Sprint(got) != "[[1 0.5] [0 1]]" || path != want || auth != "Bearer k-1" {
			t.Errorf("%s: want both in their order, got %v %v from %s with %s", base, got, err, path, auth)
		}
		for _, wrong := range []string{"", "{", `{"data":[]}`, `{"data":[{"index":7,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, `{"data":[{"index":0,"embedding":[]}]}`} {
			answer = wrong
			if _, err := e.Embed(t.Context(), []string{"a", "b"}); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: want an error without what was said, got %v", wrong, err)
			}
		}
	}
	t.Setenv("OPENAI_API_KEY", "")
	if _, err := (loopModels{config.Settings{}}).embedder("openai/small"); err == nil || !strings.Contains(hintOf(err), "OPENAI_API_KEY") {
		t.Errorf("want it said that there is no key, got %v", err)
	}
}
