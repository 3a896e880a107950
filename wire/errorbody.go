package wire

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeError reads the body of an answer with an HTTP status of 400 or more, or an error
// inside a stream, for which status is 0. Dialects are relayed, so that it knows the shapes
// and the words of all: a gateway answers in one dialect with the error of the provider
// behind it. It never fails: what no shape fits is classified by its status. The error
// keeps body.
func DecodeError(status int, body []byte) *Error {
	e := &Error{Status: status, Body: body}
	r := errorReader{Error: e}
	r.read(body)
	e.classify(r.beside, r.behind)
	return e
}

// TellsError reports whether a body or a payload, which may have come with a status of
// success, is an error: an object, or a list that begins with one, that has a member error
// or MiniMax's base_resp with a code.
func TellsError(body []byte) bool {
	b := raw.Trim(body)
	if raw.Check(b) != nil {
		return false
	}
	if first := firstOf(b); first != nil {
		b = first
	}
	v := raw.Values(b, "error", baseResp)
	return !raw.IsNone(v[0]) || raw.IsNonZero(raw.Value(v[1], "status_code"))
}

// An errorReader takes a provider's own words from the body of an error.
type errorReader struct {
	*Error
	beside string // words that tell the class and are no part of the message
	behind int    // the status of the model behind the provider; 0 if not stated
	depth  int    // of messages around this one
}

// deepest is how many messages may lie around one that is read, so that the work is bounded:
// a gateway, one behind it, a provider.
const deepest = 4

// read reads a body: an object, a list that begins with one (Vertex, where a stream was
// asked for), a JSON text, or no JSON.
func (r *errorReader) read(body []byte) {
	b := raw.Trim(body)
	if raw.Check(b) != nil {
		r.Message = plainBody(body)
		return
	}
	if first := firstOf(b); first != nil {
		b = first
	}
	switch {
	case raw.IsString(b):
		r.Message = raw.Unquote(b)
	case raw.IsObject(b):
		r.object(b)
	}
}

// object reads what an error is, or what it lies in.
func (r *errorReader) object(b []byte) {
	v := raw.Values(b, "error", "detail", "request_id", "message", "Message", "__type", "errors", "response", "base_resp")
	switch inside := raw.Value(v[7], "error"); {
	case raw.IsObject(v[0]):
		r.fields(v[0])
		r.inner(v[0])
	case raw.IsObject(inside): // an event response.failed
		r.fields(inside)
	case raw.IsNonZero(raw.Value(v[8], "status_code")):
		r.minimax(v[8])
	case raw.IsString(v[0]):
		r.fields(b)
		r.Message = raw.Unquote(v[0])
	case raw.IsObject(firstOf(v[6])): // Cloudflare, watsonx, GraphQL
		r.fields(firstOf(v[6]))
	case !raw.IsNone(v[1]):
		r.fields(b)
		r.Message = detailText(v[1])
	default:
		r.fields(b)
		r.Message = cmp.Or(r.Message, raw.Unquote(v[4])) // Bedrock, whose body is flat
		kind := raw.Unquote(v[5])
		r.Type = cmp.Or(r.Type, kind[strings.LastIndexByte(kind, '#')+1:])
		r.original(b)
	}
	r.RequestID = cmp.Or(raw.Unquote(v[2]), r.RequestID)
	if r.Message == "" && raw.IsString(v[3]) {
		r.Message = raw.Unquote(v[3])
	}
	r.nested()
}

// minimax reads the base_resp of MiniMax, whose HTTP status may be 200.
func (r *errorReader) minimax(b []byte) {
	v := raw.Values(b, "status_code", "status_msg")
	r.Type, r.Code, r.Message = baseResp, word(v[0]), raw.Unquote(v[1])
}

// original reads what the model behind Bedrock answered.
func (r *errorReader) original(b []byte) {
	v := raw.Values(b, "originalStatusCode", "originalMessage")
	r.behind = positive(v[0])
	if text := raw.Unquote(v[1]); text != "" && !strings.Contains(r.Message, text) {
		r.Message = strings.TrimSpace(r.Message + ": " + text)
	}
}

// firstOf returns the first element of a list; nil if b is none, or empty.
func firstOf(b []byte) []byte {
	if all := raw.Elements(b); raw.IsArray(b) && len(all) > 0 {
		return raw.Slice(b, all[0])
	}
	return nil
}

// fields reads the members that an error has: type, code, param and message of most, the
// status and details of Google, both sizes of llama.cpp, the reset of a used-up plan.
func (r *errorReader) fields(b []byte) {
	v := raw.Values(b, "type", "code", "param", "message", "status", "statusCode", "request_id", "n_prompt_tokens", "n_ctx", "details", "resets_in_seconds")
	r.Type, r.Param, r.Message = raw.Unquote(v[0]), raw.Unquote(v[2]), word(v[3])
	if raw.IsString(v[4]) {
		r.Type = cmp.Or(r.Type, raw.Unquote(v[4]))
	}
	r.Code = cmp.Or(word(v[1]), word(v[5]))
	if !raw.IsString(v[4]) {
		r.Code = cmp.Or(r.Code, word(v[4])) // Ollama, inside a stream
	}
	r.RequestID = raw.Unquote(v[6])
	r.Used, r.Window = positive(v[7]), positive(v[8])
	r.details(v[9])
	if seconds := positive(v[10]); seconds > 0 {
		r.RetryAfter = inSeconds(seconds)
	}
}

// inner reads what lies deeper in an error: OpenRouter has the answer of the provider behind
// it in metadata.raw, Azure the real code in innererror.
func (r *errorReader) inner(b []byte) {
	v := raw.Values(b, "metadata", "innererror")
	r.Type = cmp.Or(r.Type, raw.Unquote(raw.Value(v[1], "code")))
	text := word(raw.Value(v[0], "raw"))
	if text == "" {
		return
	}
	deep := errorReader{Error: new(Error)}
	deep.read([]byte(text))
	deep.Message = cmp.Or(deep.Message, text)
	r.Type = cmp.Or(r.Type, deep.Type)
	if deep.Code != "" && isNumber(r.Code) && !isNumber(deep.Code) {
		r.Code = deep.Code
	}
	if !strings.Contains(r.Message, deep.Message) {
		r.Message = strings.TrimSpace(r.Message + ": " + deep.Message)
	}
}

// nested reads the error that some gateways put, as text or as an object, into the message
// of their own.
func (r *errorReader) nested() {
	text := []byte(strings.TrimSpace(r.Message))
	if r.depth == deepest || !raw.IsObject(text) || raw.Check(text) != nil {
		return
	}
	deep := errorReader{Error: new(Error), depth: r.depth + 1}
	deep.read(text)
	if deep.Message == "" {
		return
	}
	r.Message, r.Type, r.beside = deep.Message, cmp.Or(deep.Type, r.Type), r.beside+deep.beside
	r.Code = cmp.Or(deep.Code, r.Code)
	r.RetryAfter = max(r.RetryAfter, deep.RetryAfter)
}

// details reads Google's list (google.rpc.ErrorInfo, RetryInfo, BadRequest, QuotaFailure)
// and the code that Anthropic has there.
func (r *errorReader) details(b []byte) {
	if raw.IsObject(b) {
		r.Code = cmp.Or(r.Code, raw.Unquote(raw.Value(b, "error_code")))
		return
	}
	for _, s := range raw.Elements(b) {
		v := raw.Values(raw.Slice(b, s), "@type", "reason", "retryDelay", "fieldViolations", "violations")
		switch kind := raw.Unquote(v[0]); {
		case strings.HasSuffix(kind, ".ErrorInfo"):
			r.Code = cmp.Or(raw.Unquote(v[1]), r.Code)
		case strings.HasSuffix(kind, ".RetryInfo"):
			r.RetryAfter = duration(raw.Unquote(v[2]))
		case strings.HasSuffix(kind, ".BadRequest"):
			if all := raw.Elements(v[3]); len(all) > 0 {
				r.Param = raw.Unquote(raw.Value(raw.Slice(v[3], all[0]), "field"))
			}
		case strings.HasSuffix(kind, ".QuotaFailure"):
			r.beside += " " + string(v[4])
		}
	}
}

// detailText returns the text of a FastAPI detail: a text, or a list of faults with msg.
func detailText(b []byte) string {
	if raw.IsString(b) {
		return raw.Unquote(b)
	}
	var texts []string
	for _, s := range raw.Elements(b) {
		if text := raw.Unquote(raw.Value(raw.Slice(b, s), "msg")); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		return strings.Join(texts, "; ")
	}
	return cmp.Or(raw.Unquote(raw.Value(b, "message")), string(b))
}

// plainBody returns the text of a body that is not JSON: the title of a page, else its begin
// as one line.
func plainBody(body []byte) string {
	const most = 1000
	text := string(body[:min(len(body), most)])
	if _, rest, ok := strings.Cut(text, "<title>"); ok {
		title, _, _ := strings.Cut(rest, "</title>")
		return strings.TrimSpace(title)
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ""
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
}

// word returns a value that is a text or a number as text.
func word(b []byte) string {
	switch raw.KindOf(b) {
	case "string":
		return raw.Unquote(b)
	case "number":
		return string(b)
	case "object":
		return string(b)
	}
	return ""
}

// isNumber reports whether a code is a number, as that of a status is.
func isNumber(code string) bool {
	_, err := strconv.Atoi(code)
	return err == nil
}

// positive returns a number of tokens or seconds; 0 if it is none.
func positive(b []byte) int {
	n, _ := raw.Int(b)
	return max(n, 0)
}

// year is the longest wait that is believed.
const year = 365 * 24 * time.Hour

// inSeconds returns so many seconds as a duration, at most a year.
func inSeconds(n int) time.Duration {
	return time.Duration(min(n, int(year/time.Second))) * time.Second
}

// duration reads such as 34.4s, 320ms and 6m0s, at most a year; 0 if it is none.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0
	}
	return min(d, year)
}
