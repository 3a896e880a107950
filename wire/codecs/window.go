package codecs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A WindowQuery is a request by which a provider is asked what it tells about a model.
type WindowQuery struct {
	Method, Path string
	Body         []byte // JSON; nil: none
}

// WindowQueryAt returns how the provider is asked for the window of a model that has its calls
// at a path. ok is false where the path is not that of a call.
func WindowQueryAt(d llm.Dialect, path, model string) (q WindowQuery, ok bool) {
	end, instead := "", ""
	q.Method = "GET"
	switch d {
	case anthropic.Dialect:
		end, instead = "/messages", "/models/"+model
	case openai.DialectChat:
		end, instead = "/chat/completions", "/models"
	case openai.DialectResponses:
		end, instead = "/responses", "/models"
	case gemini.Dialect:
		before, verb, found := strings.Cut(path, ":")
		q.Path = before
		return q, found && verb != "" && strings.HasSuffix(before, "/"+model)
	case ollama.Dialect:
		end, instead, q.Method = "/api/chat", "/api/show", "POST"
		body, err := json.Marshal(map[string]string{"model": model})
		if err != nil {
			return WindowQuery{}, false
		}
		q.Body = body
	default:
		return WindowQuery{}, false
	}
	before, ok := strings.CutSuffix(path, end)
	q.Path = before + instead
	return q, ok
}

// A modelInfo is what providers tell about a model, each by its own names.
type modelInfo struct {
	ID            string      `json:"id"`
	Anthropic     int         `json:"max_input_tokens"`
	Gemini        int         `json:"inputTokenLimit"`
	ContextLength int         `json:"context_length"` // OpenRouter, in a list of all models
	MaxLength     int         `json:"max_model_len"`  // vLLM, in the same
	List          []modelInfo `json:"data"`
}

// DecodeWindow finds the window of a model in tokens in what a provider tells about it, or about
// all of its models: input and output together, but for Gemini, which states the input alone.
func DecodeWindow(d llm.Dialect, model string, body []byte) (int, error) {
	if d == ollama.Dialect {
		return ollama.DecodeShow(body)
	}
	var info modelInfo
	if err := json.Unmarshal(body, &info); err != nil {
		return 0, fmt.Errorf("model, want JSON, got %w", err)
	}
	window := info.ContextLength
	switch d {
	case anthropic.Dialect:
		window = info.Anthropic
	case gemini.Dialect:
		window = info.Gemini
	}
	for _, m := range info.List {
		if m.ID == model {
			window = max(m.ContextLength, m.MaxLength)
		}
	}
	if window <= 0 {
		return 0, errors.New("model, want its window, got an answer without it")
	}
	return window, nil
}
