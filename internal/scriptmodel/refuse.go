package scriptmodel

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// fault returns the error of an HTTP status as the dialect of x words it. An empty message
// stands for the usual one.
func (x *exchange) fault(status int, message string) *wire.Error {
	e := &wire.Error{Class: wire.ClassOfStatus(status), Status: status, Message: message}
	var usual string
	switch x.route.dialect {
	case messages:
		e.Type, usual = messagesFault(status)
	case chat, responses:
		e.Type, e.Code, usual = openFault(status)
	case generate:
		e.Type, usual = generateFault(status)
	default:
		usual = nativeFault(status)
	}
	if e.Message == "" {
		e.Message = usual
	}
	return e
}

// bad returns a 400, with the name of the parameter where the dialect says it.
func (x *exchange) bad(message, param string) *wire.Error {
	e := x.fault(400, message)
	if x.route.dialect == chat || x.route.dialect == responses {
		e.Param = param
	}
	return e
}

// messagesFault returns the error type of a status (platform.claude.com, API errors).
func messagesFault(status int) (kind, usual string) {
	switch status {
	case 401:
		return "authentication_error", "invalid x-api-key"
	case 402:
		return "billing_error", "Your credit balance is too low to access the API."
	case 403:
		return "permission_error", "Your API key may not use this resource."
	case 404:
		return "not_found_error", "Not Found"
	case 413:
		return "request_too_large", "Request exceeds the maximum size"
	case 429:
		return "rate_limit_error", "This request would exceed the rate limit of your organization."
	case 504:
		return "timeout_error", "Request timed out."
	case 529:
		return "overloaded_error", "Overloaded"
	}
	if status >= 500 {
		return "api_error", "Internal server error"
	}
	return "invalid_request_error", http.StatusText(status)
}

// openFault returns type and code of a status (platform.openai.com, error codes).
func openFault(status int) (kind, code, usual string) {
	switch status {
	case 401:
		return "invalid_request_error", "invalid_api_key", "Incorrect API key provided."
	case 402:
		return "insufficient_quota", "insufficient_quota", "You exceeded your current quota."
	case 404:
		return "invalid_request_error", "", "Not Found"
	case 413:
		return "invalid_request_error", "request_too_large", "Request body is too large."
	case 429:
		return "tokens", "rate_limit_exceeded", "Rate limit reached on tokens per min (TPM)."
	case 503, 529:
		return "server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."
	}
	if status >= 500 {
		return "server_error", "", "The server had an error while processing your request."
	}
	return "invalid_request_error", "", http.StatusText(status)
}

// generateFault returns the status word of a status (google.rpc.Code).
func generateFault(status int) (kind, usual string) {
	switch status {
	case 401:
		return "UNAUTHENTICATED", "Request had invalid authentication credentials."
	case 403:
		return "PERMISSION_DENIED", "The caller does not have permission."
	case 404:
		return "NOT_FOUND", "Requested entity was not found."
	case 429:
		return "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."
	case 503, 529:
		return "UNAVAILABLE", "The model is overloaded. Please try again later."
	case 504:
		return "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."
	}
	if status >= 500 {
		return "INTERNAL", "An internal error has occurred."
	}
	return "INVALID_ARGUMENT", http.StatusText(status)
}

// nativeFault returns the message of a status (ollama/ollama, server/routes.go).
func nativeFault(status int) string {
	switch status {
	case 404:
		return "404 page not found"
	case 503, 529:
		return "server busy, please try again. maximum pending requests exceeded"
	}
	return strings.ToLower(http.StatusText(status))
}

// coded gives an error of Chat or Responses a code that has no class of its own.
func coded(e *wire.Error, code string) *wire.Error {
	e.Code = code
	var param any
	if e.Param != "" {
		param = e.Param
	}
	e.Body = object("error", rawJSON(object("message", e.Message, "type", e.Type, "param", param, "code", code)))
	return e
}

// tooBig returns the error of a body above the limit.
func (x *exchange) tooBig() *wire.Error {
	if x.route.dialect != generate {
		return x.fault(413, "")
	}
	e := x.fault(400, fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", x.script.Bytes))
	e.Class = wire.TooLarge
	return e
}

// badKey returns the error of a key that is missing or wrong.
func (x *exchange) badKey(missing bool) *wire.Error {
	switch {
	case x.route.dialect == generate && missing:
		return x.fault(403, "Method doesn't allow unregistered callers (callers without established identity).")
	case x.route.dialect == generate:
		e := x.fault(400, "API key not valid. Please pass a valid API key.")
		e.Class = wire.Auth
		return e
	case missing && x.route.dialect == messages:
		return x.fault(401, "x-api-key header is required")
	case missing:
		return x.fault(401, "You didn't provide an API key.")
	}
	return x.fault(401, "")
}

// notJSON returns the error of a body that is no JSON.
func (x *exchange) notJSON() *wire.Error {
	switch x.route.dialect {
	case messages:
		return x.bad("The request body is not valid JSON", "")
	case generate:
		return x.bad("Invalid JSON payload received.", "")
	case native:
		return x.bad("invalid character in request body", "")
	}
	return x.bad("We could not parse the JSON body of your request.", "")
}

// noAddress returns the error of an address that is none.
func (x *exchange) noAddress() *wire.Error {
	if x.route.dialect == chat {
		return x.fault(404, fmt.Sprintf("Invalid URL (%s %s)", x.req.Method, x.req.URL.Path))
	}
	return x.fault(404, "")
}

// refuse returns the answer that says e.
func (x *exchange) refuse(e *wire.Error) answer {
	if x.route.dialect == responses && e.Class == wire.TooLong && x.streams() {
		return x.failed(e)
	}
	status, body := x.codec.EncodeError(e)
	a := jsonAnswer(body)
	a.status = status
	if e.RetryAfter > 0 {
		a.header.Set("retry-after", itoa(int(e.RetryAfter/time.Second)))
	}
	return a
}

// upgradeRequired is the answer to a client that wants a WebSocket: it falls back to HTTP,
// where every request carries its whole input.
func upgradeRequired() answer {
	a := jsonAnswer(object("error", "Upgrade Required"))
	a.status = http.StatusUpgradeRequired
	return a
}

// signsThinking reports whether thinking in d carries a proof that the server can check.
func signsThinking(d llm.Dialect) bool { return d == messages || d == responses || d == generate }
