package gemini

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/overflow"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads the body of an answer with an error status, or an error inside a
// stream, for which status is 0: {"error": {"code", "message", "status", "details"}}, also
// as the element of an array. Type is the status, Code the reason of its ErrorInfo, Param
// the first field that was violated. A body that is none of that is classified by status.
func DecodeError(status int, body []byte) *wire.Error {
	e := &wire.Error{Status: status, Class: wire.ClassOfStatus(status), Body: body}
	obj := raw.Trim(body)
	if raw.Check(obj) != nil {
		e.Message = string(obj[:min(len(obj), maxMessage)])
		relayed(e)
		return e
	}
	if all := raw.Elements(obj); len(all) > 0 {
		obj = raw.Slice(obj, all[0])
	}
	value := raw.Value(obj, "error")
	if raw.IsString(value) {
		e.Message = raw.Unquote(value)
	}
	v := raw.Values(value, "code", "message", "status", "details", "type")
	e.Type, e.Code = cmp.Or(raw.Unquote(v[2]), raw.Unquote(v[4])), raw.Unquote(v[0]) // type and a code in words are other formats'
	if raw.IsString(v[1]) {
		e.Message = raw.Unquote(v[1])
	}
	readDetails(e, v[3])
	code, _ := raw.Int(v[0])
	if status == 0 {
		e.Class = wire.ClassOfStatus(code)
	}
	nested(e)
	classify(e)
	return e
}

// maxMessage is how much of a body that is not JSON is taken as the message, in bytes.
const maxMessage = 1000

// nested reads the error that some gateways put, as text, into the message of their own.
func nested(e *wire.Error) {
	text := []byte(strings.TrimSpace(e.Message))
	if !raw.IsObject(text) || raw.Check(text) != nil {
		return
	}
	v := raw.Values(raw.Value(text, "error"), "message", "status", "details")
	if !raw.IsString(v[0]) {
		return
	}
	e.Message = raw.Unquote(v[0])
	if raw.IsString(v[1]) {
		e.Type = raw.Unquote(v[1])
	}
	readDetails(e, v[2])
}

// readDetails reads ErrorInfo, RetryInfo and BadRequest (google.rpc error details).
func readDetails(e *wire.Error, details []byte) {
	for _, s := range raw.Elements(details) {
		v := raw.Values(raw.Slice(details, s), "@type", "reason", "retryDelay", "fieldViolations")
		switch kind := raw.Unquote(v[0]); {
		case strings.HasSuffix(kind, ".ErrorInfo"):
			e.Code = raw.Unquote(v[1])
		case strings.HasSuffix(kind, ".RetryInfo"):
			e.RetryAfter = wait(raw.Unquote(v[2]))
		case strings.HasSuffix(kind, ".BadRequest"):
			if all := raw.Elements(v[3]); len(all) > 0 {
				e.Param = raw.Unquote(raw.Value(raw.Slice(v[3], all[0]), "field"))
			}
		}
	}
}

// wait reads a duration such as 34.4s; 0 if it is none.
func wait(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// classify sets the class by what the provider says, which tells more than the status.
func classify(e *wire.Error) {
	text := strings.ToLower(e.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("input token count", "input tokens exceed", "exceeds the maximum number of tokens", "maximum number of input tokens"):
		e.Class = wire.TooLong
		e.Used, e.Window = figures(text)
	case has("payload size exceeds", "request is too large", "exceeds the maximum request size"):
		e.Class = wire.TooLarge
	case has("thought_signature", "thought signature", "thoughtsignature"):
		e.Class = wire.BadThinking
	case e.Code == "API_KEY_INVALID" || has("api key not valid", "api key expired", "api_key_invalid"):
		e.Class = wire.Auth
	case e.Code == "BILLING_DISABLED" || has("requires billing", "billing to be enabled", "enable billing", "credits are depleted"):
		e.Class = wire.Billing
	default:
		if class, ok := classOf(e.Type); ok {
			e.Class = class
		}
		relayed(e)
	}
	if e.RetryAfter == 0 && e.Class.Retryable() {
		if _, after, ok := strings.Cut(text, "please retry in "); ok {
			word, _, _ := strings.Cut(after, " ")
			e.RetryAfter = wait(strings.TrimRight(word, "."))
		}
	}
}

// relayed looks for the words of other providers for a prompt that is too long.
func relayed(e *wire.Error) {
	switch e.Class {
	case wire.BadRequest, wire.Unclassified, wire.TooLarge, wire.ServerFault:
		words := overflow.Error{Type: e.Type, Code: e.Code, Message: e.Message}
		if words.Read(&e.Used, &e.Window) {
			e.Class = wire.TooLong
		}
	}
}

// classOf returns the class of a status (google.rpc.Code).
func classOf(status string) (wire.Class, bool) {
	switch status {
	case "RESOURCE_EXHAUSTED":
		return wire.RateLimited, true
	case "UNAVAILABLE":
		return wire.Overloaded, true
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return wire.Auth, true
	case "NOT_FOUND":
		return wire.NotFound, true
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED":
		return wire.BadRequest, true
	case "DEADLINE_EXCEEDED":
		return wire.Timeout, true
	case "INTERNAL", "UNKNOWN", "ABORTED", "DATA_LOSS":
		return wire.ServerFault, true
	}
	return wire.Unclassified, false
}

// figures returns the tokens that a message about too long a prompt names: with two
// numbers the prompt and the window, with one the window.
func figures(text string) (used, window int) {
	var all []int
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == ',' && end > i && nextIsDigit(text, end)) {
			end++
		}
		if end == i {
			i++
			continue
		}
		if n, err := strconv.Atoi(strings.ReplaceAll(text[i:end], ",", "")); err == nil {
			all = append(all, n)
		}
		i = end
	}
	switch {
	case len(all) >= 2:
		return all[0], all[1]
	case len(all) == 1:
		return 0, all[0]
	}
	return 0, 0
}

func nextIsDigit(text string, i int) bool {
	return i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9'
}

// EncodeError returns the status and the body that the provider would answer e with: its
// own body where it has one.
func EncodeError(e *wire.Error) (int, []byte) {
	status, body := newError(e)
	if len(e.Body) > 0 {
		return status, bytes.Clone(e.Body)
	}
	return status, body
}

// errorPayload returns e as a payload of a stream: as it came where it is one of this format.
func errorPayload(e *wire.Error) []byte {
	if obj, err := raw.CheckObject(e.Body); err == nil && raw.IsObject(raw.Value(obj, "error")) {
		return obj
	}
	_, body := newError(e)
	return body
}

// newError returns the status and a body that is written from the fields of e.
func newError(e *wire.Error) (int, []byte) {
	status, word := answer(e.Class)
	if e.Status > 0 {
		status = e.Status
	}
	if _, ok := classOf(e.Type); ok {
		word = e.Type
	}
	message := e.Message
	if e.Class == wire.TooLong && e.Used > 0 && e.Window > 0 {
		message = "The input token count (" + strconv.Itoa(e.Used) + ") exceeds the maximum number of tokens allowed (" + strconv.Itoa(e.Window) + ")."
	}
	inner := new(raw.Object).Raw("code", strconv.AppendInt(nil, int64(status), 10)).Text("message", message).Text("status", word)
	var details [][]byte
	if e.Code != "" {
		details = append(details, detail("ErrorInfo", "reason", e.Code))
	}
	if e.RetryAfter > 0 {
		seconds := strconv.FormatFloat(e.RetryAfter.Seconds(), 'f', -1, 64)
		details = append(details, detail("RetryInfo", "retryDelay", seconds+"s"))
	}
	if len(details) > 0 {
		inner.Raw("details", raw.Array(details))
	}
	return status, new(raw.Object).Raw("error", inner.Bytes()).Bytes()
}

func detail(kind, name, value string) []byte {
	return new(raw.Object).Text("@type", "type.googleapis.com/google.rpc."+kind).Text(name, value).Bytes()
}

// answer returns the status that the provider answers errors of a class with.
func answer(c wire.Class) (int, string) {
	switch c {
	case wire.TooLong, wire.TooLarge, wire.BadRequest, wire.BadThinking:
		return 400, "INVALID_ARGUMENT"
	case wire.RateLimited, wire.Billing:
		return 429, "RESOURCE_EXHAUSTED"
	case wire.Overloaded:
		return 503, "UNAVAILABLE"
	case wire.Auth:
		return 401, "UNAUTHENTICATED"
	case wire.NotFound:
		return 404, "NOT_FOUND"
	case wire.Timeout:
		return 504, "DEADLINE_EXCEEDED"
	}
	return 500, "INTERNAL"
}
