package ollamatest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// vocabulary asks the server for the tokenizer of its model and returns it as a file that
// package tokenizers reads. What a GGUF file calls "smollm" is GPT-2's byte-level BPE, with each
// figure by itself.
func (s server) vocabulary(t *testing.T) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": s.model, "verbose": true})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.Post(s.url+"/api/show", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	var shown struct {
		Info struct {
			Pre    string   `json:"tokenizer.ggml.pre"`
			Tokens []string `json:"tokenizer.ggml.tokens"`
			Kinds  []int    `json:"tokenizer.ggml.token_type"`
			Merges []string `json:"tokenizer.ggml.merges"`
		} `json:"model_info"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	info := shown.Info
	if info.Pre != "smollm" || len(info.Tokens) == 0 || len(info.Kinds) != len(info.Tokens) || len(info.Merges) == 0 {
		t.Fatalf("tokenizer: want that of smollm, got %q with %d tokens, %d kinds, %d merges", info.Pre, len(info.Tokens), len(info.Kinds), len(info.Merges))
	}
	const control = 3 // of the kinds
	type added struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	}
	vocab, extra := map[string]int{}, []added{}
	for id, text := range info.Tokens {
		vocab[text] = id
		if info.Kinds[id] == control {
			extra = append(extra, added{id, text, true})
		}
	}
	file, err := json.Marshal(map[string]any{
		"version": "1.0", "added_tokens": extra,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Digits", "individual_digits": true},
			map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
		}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": info.Merges},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
