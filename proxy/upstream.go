package proxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// find returns where a request goes, and its path there, escaped as it came; nil if nobody
// knows.
func (s *Server) find(r *http.Request) (up *upstream, path string) {
	path = r.URL.EscapedPath()
	if first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); s.upstreams[first] != nil {
		return s.upstreams[first], "/" + rest
	}
	return s.upstreams[guess(path, r.Header)], path
}

// guess names the upstream of a path that does not begin with a name: by the path where
// that tells, else by the headers that each provider's clients send; empty: none.
func guess(path string, h http.Header) string {
	switch {
	case below(path, "/v1/messages"), below(path, "/v1/complete"):
		return anthropicName
	case below(path, "/v1beta"), below(path, "/v1alpha"):
		return geminiName
	case isOllama(path):
		return ollamaName
	case h.Get("X-Goog-Api-Key") != "" || h.Get("X-Goog-Api-Client") != "":
		return geminiName
	case h.Get("Anthropic-Version") != "" || h.Get("Anthropic-Beta") != "" || h.Get("X-Api-Key") != "":
		return anthropicName
	case below(path, "/v1"), slices.ContainsFunc(bare, func(p string) bool { return below(path, p) }), h.Get("Openai-Beta") != "":
		return openaiName
	}
	return ""
}

// bare are paths of OpenAI's for clients whose base URL lacks /v1.
var bare = []string{"/chat/completions", "/responses", "/models", "/embeddings"}

// below reports whether a path is another or lies under it.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// ollamaPaths are those of Ollama's API below /api. Facts: its documentation.
var ollamaPaths = []string{
	"blobs", "chat", "copy", "create", "delete", "embed", "embeddings", "generate", "ps", "pull", "push", "show", "tags", "version", "me",
}

func isOllama(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/")
	name, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(ollamaPaths, name)
}

// route returns what a request asks for, with the name of where it goes; ok is false if
// it asks no model.
func route(r *http.Request, up *upstream, path string) (transport.Route, bool) {
	plain, err := url.PathUnescape(path)
	if err != nil { // it came parsed
		return transport.Route{}, false
	}
	found, ok := transport.RouteOf(r.Method, plain)
	found.Provider = up.name
	return found, ok
}

// dialect returns the dialect that errors have at a path of an upstream, where up may be nil.
func dialect(up *upstream, path string) llm.Dialect {
	if r, ok := transport.RouteOf(http.MethodPost, path); ok {
		return r.Dialect
	}
	name := ""
	if up != nil {
		name = up.name
	}
	switch name {
	case anthropicName:
		return anthropic.Dialect
	case geminiName:
		return gemini.Dialect
	case ollamaName:
		return ollama.Dialect
	}
	return openai.DialectChat
}
