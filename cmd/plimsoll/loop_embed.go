package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/client"
)

// Bounds of a question for vectors.
const (
	embedPatience = 20 * time.Second
	mostVectors   = 64 << 20 // bytes of an answer
)

// A loopEmbedder asks a server for vectors, as OpenAI's embeddings API has it.
type loopEmbedder struct {
	url   string
	model string
	auth  *client.Authorizer
	http  *http.Client
}

// embedder makes one of a model's name.
func (l loopModels) embedder(name string) (loop.Embedder, error) {
	t, err := targetNamed(l.settings, "loop: --embeddings", name)
	if err != nil {
		return nil, err
	}
	if e := withoutKey(t.provider); e != nil {
		return nil, usage(e, keyHint(e))
	}
	c, err := client.New(t.provider, client.Options{})
	if err != nil {
		return nil, fail(err, settingsPage)
	}
	u, err := url.Parse(c.BaseURL())
	if err != nil {
		return nil, fail(fmt.Errorf("loop: --embeddings: %w", err), settingsPage)
	}
	path := "v1/embeddings"
	if strings.HasSuffix(u.Path, "/v1") {
		path = "embeddings"
	}
	return &loopEmbedder{u.JoinPath(path).String(), t.model, client.NewAuthorizer(t.provider, nil), &http.Client{
		Timeout: embedPatience,
		// The texts are for this server, and so is the key.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Embed implements loop.Embedder.
func (e *loopEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "plimsoll/"+version())
	if err := e.auth.Authorize(ctx, req); err != nil {
		return nil, err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("embeddings of %s: want status 200, got %s", e.model, resp.Status)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostVectors)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("embeddings of %s: %w", e.model, err)
	}
	out := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(out) || len(d.Embedding) == 0 {
			return nil, fmt.Errorf("embeddings of %s: want a vector for each of %d texts, got number %d", e.model, len(out), d.Index)
		}
		out[d.Index] = d.Embedding
	}
	for i, v := range out {
		if len(v) == 0 || len(v) != len(out[0]) {
			return nil, fmt.Errorf("embeddings of %s: want vectors of one length, got %d and %d numbers for text %d", e.model, len(out[0]), len(v), i)
		}
	}
	return out, nil
}
