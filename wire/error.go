package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrCut is the error of a stream that ended before its reply was whole.
var ErrCut = errors.New("wire: stream, want the end of the reply, got the end of the bytes")

// Class says what a caller can do about a provider's error.
type Class uint8

// The classes of errors.
const (
	Unclassified Class = iota
	TooLong            // more tokens than the window: shrink and send again
	TooLarge           // more bytes than the provider takes: shrink and send again
	RateLimited        // wait
	Overloaded         // wait; the provider's trouble
	Auth               // the key is wrong or may not do this
	Billing            // no money, or no quota left
	NotFound           // no such model, or no such address
	BadRequest         // the request is wrong
	BadThinking        // a signature or encrypted reasoning does not fit: send it without
	Timeout            // the provider took too long
	ServerFault        // any other trouble of the provider
)

// String returns the name of c in lower case.
func (c Class) String() string {
	names := [...]string{
		"unclassified", "too long", "too large", "rate limited", "overloaded", "auth", "billing", "not found", "bad request",
		"bad thinking", "timeout", "server fault",
	}
	if int(c) < len(names) {
		return names[c]
	}
	return names[0]
}

// Retryable reports whether the same request may succeed later.
func (c Class) Retryable() bool {
	return c == RateLimited || c == Overloaded || c == Timeout || c == ServerFault
}

// An Error is a provider's error, from an error body or from inside a stream.
type Error struct {
	Class      Class
	Status     int    // HTTP status; 0 if it came inside a stream
	Type       string // the provider's own words: error type, code, parameter, message
	Code       string
	Param      string
	Message    string
	Used       int           // of TooLong: tokens that the request has; 0 if not stated
	Window     int           // of TooLong: tokens that the window has; 0 if not stated
	RetryAfter time.Duration // as the body states it; 0 if it does not
	RequestID  string
	Body       []byte // as it came
}

// Error returns e in one line.
func (e *Error) Error() string {
	what := e.Message
	if what == "" {
		what = string(e.Body[:min(len(e.Body), maxShown)])
	}
	from := e.Type
	if e.Code != "" && e.Code != e.Type {
		from += " " + e.Code
	}
	if e.Status > 0 {
		from = strings.TrimSpace(strconv.Itoa(e.Status) + " " + from)
	}
	what = strings.Join(strings.Fields(strings.ToValidUTF8(what, "\ufffd")), " ") // as one line
	return fmt.Sprintf("provider: %s (%s): %s", e.Class, from, what)
}

// maxShown is how much of a body that nobody can read an error shows, in bytes.
const maxShown = 200

// ClassOfStatus returns the class that an HTTP status alone tells.
func ClassOfStatus(status int) Class {
	switch {
	case status == 401 || status == 403:
		return Auth
	case status == 402:
		return Billing
	case status == 404:
		return NotFound
	case status == 408 || status == 504 || status == 524:
		return Timeout
	case status == 413:
		return TooLarge
	case status == 429:
		return RateLimited
	case status == 503 || status == 529:
		return Overloaded
	case status >= 500 || status == 424: // Bedrock, of the model behind it
		return ServerFault
	case status >= 400:
		return BadRequest
	}
	return Unclassified
}

// RefusedLength returns what the error says about the length of the request that was
// refused: the window and what was used of it in tokens, as far as they are stated, and
// whether it was the bytes that were too many. ok is false if it is about something else.
func (e *Error) RefusedLength() (window, used int, bytes, ok bool) {
	return e.Window, e.Used, e.Class == TooLarge, e.Class == TooLong || e.Class == TooLarge
}
