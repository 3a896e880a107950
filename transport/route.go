package transport

import (
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A Route is what an address asks for: a model's reply in some dialect.
type Route struct {
	Provider string // such as anthropic
	Dialect  llm.Dialect
	Model    string // where the address states it
}

// RouteOf reads the address of a request. ok is false if it asks no model: whatever that
// is, it is none of ours. Gateways put things in front of the paths, so these are matched
// at their end.
func RouteOf(method, path string) (r Route, ok bool) {
	if method != http.MethodPost {
		return Route{}, false
	}
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.HasSuffix(path, "/messages") && !strings.Contains(path, "/threads/"): // OpenAI's Assistants have messages, too
		return Route{Provider: "anthropic", Dialect: anthropic.Dialect}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return Route{Provider: "openai", Dialect: openai.DialectChat}, true
	case strings.HasSuffix(path, "/responses"):
		return Route{Provider: "openai", Dialect: openai.DialectResponses}, true
	case strings.HasSuffix(path, "/api/chat"):
		return Route{Provider: "ollama", Dialect: ollama.Dialect}, true
	}
	return verbRoute(path)
}

// verbRoute reads …/models/NAME:generateContent and …:streamGenerateContent.
func verbRoute(path string) (Route, bool) {
	name, verb, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !ok || name == "" || verb != "generateContent" && verb != "streamGenerateContent" {
		return Route{}, false
	}
	return Route{Provider: "gemini", Dialect: gemini.Dialect, Model: name}, true
}
