package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// CountTokens asks the provider how many tokens the prompt of r has. The error is an
// *[Error]; it wraps an *[UnsupportedError] where a dialect has no such call, which is
// where it is not Anthropic's or Gemini's.
func (c *Client) CountTokens(ctx context.Context, r llm.Request) (int, error) {
	r.Settings.Stream, r.MaxOutput = false, 0
	k, err := c.prepare(opCount, c.paths.Count, r)
	if err != nil {
		return 0, err
	}
	if k.body, err = countBody(c.p.Dialect, r.Model, k.body); err != nil {
		return 0, c.failed(k, err)
	}
	return retry(ctx, c, k, func(ctx context.Context) (int, error) {
		body, err := c.fetch(ctx, k)
		if err != nil {
			return 0, err
		}
		return countIn(c.p.Dialect, body)
	})
}

// countIn finds the count in an answer.
func countIn(d llm.Dialect, body []byte) (int, error) {
	if d == anthropic.Dialect {
		return anthropic.DecodeCount(body)
	}
	var count struct {
		Total *int `json:"totalTokens"`
	}
	switch err := json.Unmarshal(body, &count); {
	case err != nil:
		return 0, fmt.Errorf("count, want JSON, got %w", err)
	case count.Total == nil:
		return 0, errors.New("count, want totalTokens, got none")
	}
	return *count.Total, nil
}

// countBody turns the body of a request into that of a count. It is not sent to a model,
// so that the order of its members does not matter.
func countBody(d llm.Dialect, model string, body []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	if d != gemini.Dialect {
		for _, refused := range []string{"max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier", "container"} {
			delete(members, refused)
		}
		return json.Marshal(members)
	}
	const whole = "generateContentRequest" // only in this form is more counted than the contents
	if members[whole] != nil {
		return body, nil
	}
	name, err := json.Marshal("models/" + strings.TrimPrefix(model, "models/"))
	if err != nil {
		return nil, err
	}
	members["model"] = name
	return json.Marshal(map[string]map[string]json.RawMessage{whole: members})
}

// Window asks the provider for the size of a model's context window in tokens: input and
// output together, but for Gemini, which states the input alone. The error is an *[Error];
// it wraps an *[UnsupportedError] where a provider does not tell.
func (c *Client) Window(ctx context.Context, model string) (int, error) {
	k := &call{op: opModel, model: model, method: http.MethodGet, header: c.header()}
	if c.paths.Model == "" {
		return 0, c.failed(k, &UnsupportedError{c.p.Name, "tell a model's window"})
	}
	k.url = c.address(c.paths.Model, model)
	if c.p.Dialect == ollama.Dialect {
		if window, ok := c.running(ctx, model); ok {
			return window, nil
		}
		body, err := json.Marshal(map[string]string{"model": model})
		if err != nil {
			return 0, c.failed(k, err)
		}
		k.method, k.body = http.MethodPost, body
	}
	return retry(ctx, c, k, func(ctx context.Context) (int, error) {
		body, err := c.fetch(ctx, k)
		if err != nil {
			return 0, err
		}
		return codecs.DecodeWindow(c.p.Dialect, model, body)
	})
}

// running asks an Ollama server for the window that a model runs with. A server that does
// not tell is asked about the model instead.
func (c *Client) running(ctx context.Context, model string) (int, bool) {
	k := &call{op: opModel, model: model, method: http.MethodGet, header: c.header(), url: c.address("/api/ps", model)}
	body, err := c.fetch(ctx, k)
	if err != nil {
		return 0, false
	}
	return ollama.DecodeRunning(body, model)
}
