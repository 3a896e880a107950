package scriptmodel

import (
	"net/http"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A route is what an address asks for.
type route struct {
	dialect llm.Dialect
	action  action
	model   string // where the address names it
	id      string // of a stored response
	stream  bool   // where the address says so
	array   bool   // a stream as one JSON array
	form    bool   // the address takes this method; else 405
}

// An action is a kind of request.
type action uint8

const (
	actNone    action = iota // no such address
	actReply                 // the model is to answer
	actCount                 // tokens are to be counted
	actCompact               // a conversation is to be compacted
	actKept                  // the beginning of prompts is to be kept, shown, or given up
	actStored                // a stored response is to be fetched or deleted
	actModels                // the models are to be listed
	actModel                 // one model is to be shown
	actVersion               // the server is to name its version
)

// routeOf reads the address of a request. Gateways put things before the paths, so these
// are matched at their end.
func routeOf(req *http.Request) route {
	path := strings.TrimSuffix(req.URL.Path, "/")
	post, get := req.Method == http.MethodPost, req.Method == http.MethodGet
	named := func(d llm.Dialect, a action, form bool) route { return route{dialect: d, action: a, form: form} }
	ends := func(suffix string) bool { return strings.HasSuffix(path, suffix) }
	switch {
	case ends("/messages/count_tokens"):
		return named(messages, actCount, post)
	case ends("/messages"):
		return named(messages, actReply, post)
	case ends("/chat/completions"):
		return named(chat, actReply, post)
	case ends("/responses/compact"):
		return named(responses, actCompact, post)
	case ends("/responses"):
		return named(responses, actReply, post)
	case path == "/api/chat":
		return named(native, actReply, post)
	case path == "/api/show":
		return named(native, actModel, post)
	case path == "/api/tags":
		return named(native, actModels, get)
	case path == "/api/version":
		return named(native, actVersion, get)
	}
	if r, ok := responseRoute(req, path); ok {
		return r
	}
	if r, ok := keptRoute(req.Method, path); ok {
		return r
	}
	return modelRoute(req, path)
}

// responseRoute reads .../responses/ID.
func responseRoute(req *http.Request, path string) (route, bool) {
	_, id, ok := strings.Cut(path, "/responses/")
	if !ok || id == "" || strings.Contains(id, "/") {
		return route{}, false
	}
	form := req.Method == http.MethodGet || req.Method == http.MethodDelete
	return route{dialect: responses, action: actStored, id: id, form: form}, true
}

// modelRoute reads .../models, .../models/NAME and .../models/NAME:VERB; anything else is
// no address at all.
func modelRoute(req *http.Request, path string) route {
	r := route{dialect: guess(req), form: req.Method == http.MethodGet}
	at := strings.LastIndex(path+"/", "/models/")
	if at < 0 {
		return r
	}
	name, verb, ok := strings.Cut(strings.TrimPrefix(path[at:], "/models"), ":")
	name = strings.TrimPrefix(name, "/")
	switch {
	case name == "":
		r.action = actModels
	case !ok:
		r.action, r.model = actModel, name
	default:
		return verbRoute(req, name, verb)
	}
	return r
}

func verbRoute(req *http.Request, model, verb string) route {
	r := route{dialect: generate, model: model, form: req.Method == http.MethodPost}
	switch verb {
	case "generateContent":
		r.action = actReply
	case "streamGenerateContent":
		r.action, r.stream, r.array = actReply, true, req.URL.Query().Get("alt") != "sse"
	case "countTokens":
		r.action = actCount
	}
	return r
}

// guess returns the dialect of a request whose address does not tell it.
func guess(req *http.Request) llm.Dialect {
	path := req.URL.Path
	switch {
	case req.Header.Get("anthropic-version") != "":
		return messages
	case strings.HasPrefix(path, "/v1beta") || strings.HasPrefix(path, "/v1alpha") || req.Header.Get("x-goog-api-key") != "":
		return generate
	case strings.HasPrefix(path, "/api/"):
		return native
	}
	return chat
}

// keyOf returns the key that a request carries.
func keyOf(d llm.Dialect, req *http.Request) string {
	bearer, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	var own string
	switch d {
	case messages:
		own = req.Header.Get("x-api-key")
	case chat, responses:
		own = req.Header.Get("api-key")
	case generate:
		own = req.Header.Get("x-goog-api-key")
		if own == "" {
			own = req.URL.Query().Get("key")
		}
	}
	if own != "" {
		return own
	}
	return bearer
}
