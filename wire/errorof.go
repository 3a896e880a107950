package wire

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// ErrorOf returns the provider's error that err is or wraps: an *[Error], or the error of
// another program's client, which is known without its package by what it offers:
//   - a method RawJSON with the body or its member error, or DumpResponse with the answer, as
//     the errors of the official Go SDKs of OpenAI and Anthropic have them;
//   - a text with a body in it, or in the form of Google's SDK ("Error 400, Message: …,
//     Status: …, Details: …"), of "status code: 400 …", or of an error inside a stream.
//
// ok is false if err is none of these. A text that states neither a status nor a body is
// none: what it says may be anybody's words.
func ErrorOf(err error) (*Error, bool) {
	if err == nil {
		return nil, false
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e, e != nil
	}
	if e := errorOfSDK(err); e != nil {
		return e, true
	}
	return errorOfText(err.Error())
}

// errorOfSDK asks the methods of an SDK's error; nil if there are none, or they say nothing.
func errorOfSDK(err error) (e *Error) {
	defer func() {
		if recover() != nil {
			e = nil // they look into an answer, which an error that somebody made by hand does not have
		}
	}()
	var sdk interface {
		error
		RawJSON() string
	}
	if !errors.As(err, &sdk) {
		return nil
	}
	status := statusIn(sdk.Error())
	body := []byte(sdk.RawJSON())
	if answer, ok := sdk.(interface{ DumpResponse(body bool) []byte }); ok && len(body) == 0 {
		head, dumped, _ := bytes.Cut(answer.DumpResponse(true), []byte("\r\n\r\n"))
		body = dumped
		if bytes.Contains(bytes.ToLower(head), []byte("\r\ntransfer-encoding: chunked")) {
			body = unchunked(dumped)
		}
	}
	if len(raw.Trim(body)) == 0 {
		return nil
	}
	return DecodeError(status, body)
}

// unchunked returns a body that came in chunks, each behind its size.
func unchunked(b []byte) []byte {
	var out []byte
	for {
		size, rest, ok := bytes.Cut(b, []byte("\r\n"))
		n, err := strconv.ParseUint(string(size), 16, 31)
		if !ok || err != nil || n == 0 || int(n) > len(rest) {
			return out
		}
		out = append(out, rest[:n]...)
		b = bytes.TrimPrefix(rest[n:], []byte("\r\n"))
	}
}

// errorOfText reads the text of an error.
func errorOfText(text string) (*Error, bool) {
	if e, ok := errorOfGoogle(text); ok {
		return e, true
	}
	status := statusIn(text)
	_, streamed, inStream := strings.Cut(text, "received error while streaming: ")
	if body := objectIn(text); body != nil && (status > 0 || inStream || isEvent(body) || raw.IsObject(raw.Value(body, "error"))) {
		return DecodeError(status, body), true
	}
	switch {
	case inStream:
		return DecodeError(0, raw.Quote(streamed)), true
	case status > 0:
		return DecodeError(status, raw.Quote(text)), true
	}
	return nil, false
}

// isEvent reports whether an object is an event of the Responses API that tells an error.
func isEvent(b []byte) bool {
	kind := raw.Value(b, "type")
	return raw.Named(kind, "error") || raw.Named(kind, "response.failed")
}

// errorOfGoogle reads "Error 400, Message: …, Status: …, Details: …".
func errorOfGoogle(text string) (*Error, bool) {
	_, rest, ok := strings.Cut(text, "Error ")
	code, rest, ok1 := strings.Cut(rest, ", Message: ")
	at := strings.LastIndex(rest, ", Status: ")
	if !ok || !ok1 || at < 0 || !isNumber(code) {
		return nil, false
	}
	status := leadingNumber(code)
	if status < 400 || status >= 600 {
		status = 0 // the SDK has it from the body, which may lack it
	}
	message, state := rest[:at], rest[at+len(", Status: "):]
	state, details, _ := strings.Cut(state, ", Details: ")
	if raw.IsObject([]byte(message)) && raw.Check([]byte(message)) == nil {
		return DecodeError(status, []byte(message)), true // a body that the SDK did not know
	}
	e := &Error{Status: status, Type: state, Message: message, Body: []byte(text)}
	e.classify(details, 0)
	return e, true
}

// statusIn returns the HTTP status of an error that text states; 0 if it states none.
func statusIn(text string) int {
	for _, mark := range []string{"status code: ", "status code ", "StatusCode: ", "API error: ", "Error code: ", `": `} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			if n := leadingNumber(after); n >= 400 && n < 600 {
				return n
			}
			rest = after
		}
	}
	return 0
}

// objectIn returns the JSON object that stands in text; nil if there is none.
func objectIn(text string) []byte {
	const tries = 8 // braces behind the object that are no part of it
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return nil
	}
	b := []byte(text[at:])
	for range tries {
		end := bytes.LastIndexByte(b, '}')
		if end < 0 {
			return nil
		}
		if raw.Check(b[:end+1]) == nil {
			return b[:end+1]
		}
		b = b[:end]
	}
	return nil
}
