package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// An Error is a call that failed. Err is what was wrong, of the last attempt:
//   - *[wire.Error]: the provider refused or broke off,
//   - an error that matches [wire.ErrCut]: the reply was cut,
//   - *[TimeoutError]: one of the limits of [Options] was met,
//   - *[AnswerError]: what came is no reply,
//   - *[NoKeyError], *[PlainError], *[UnsupportedError], *[RedirectError],
//   - the cause of the caller's context,
//   - an error of package net or of a codec.
type Error struct {
	Provider, Model string
	Op              string // "complete", "stream", "count tokens", "model" or "cache"
	Attempts        int    // that were made
	Err             error
}

// Error returns e in one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("client: %s: %s/%s: %v", e.Op, e.Provider, e.Model, e.Err)
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (attempt %d)", e.Attempts)
	}
	return text
}

// Unwrap returns what was wrong.
func (e *Error) Unwrap() error { return e.Err }

// A TimeoutError says which limit was met.
type TimeoutError struct {
	Limit string // "attempt", "idle" or "total", as in [Options]
	After time.Duration
}

// Error returns e in one line.
func (e *TimeoutError) Error() string {
	if e.Limit == "idle" {
		return fmt.Sprintf("stream, want a byte within %v, got none", e.After)
	}
	return fmt.Sprintf("%s, want an end within %v, got none", e.Limit, e.After)
}

// Timeout returns true, as errors of package net do.
func (e *TimeoutError) Timeout() bool { return true }

// A NoKeyError says that a provider wants a key, and why there is none.
type NoKeyError struct {
	Provider string
	Env      []string // environment variables that could hold it
	Program  string   // the program that should have printed it; empty if none should
	Err      error    // what was wrong with the program or the key; nil if there was just none
}

// Error returns e in one line, without what a program printed.
func (e *NoKeyError) Error() string {
	switch {
	case e.Program != "":
		return fmt.Sprintf("key of %s from %s: %v", e.Provider, e.Program, e.Err)
	case e.Err != nil:
		return fmt.Sprintf("key of %s from %s: %v", e.Provider, strings.Join(e.Env, " or "), e.Err)
	case len(e.Env) > 0:
		return fmt.Sprintf("key of %s, want one in %s, got none", e.Provider, strings.Join(e.Env, " or "))
	}
	return fmt.Sprintf("key of %s, want one, got none", e.Provider)
}

// Unwrap returns what was wrong with the program.
func (e *NoKeyError) Unwrap() error { return e.Err }

// A BaseURLError says that nothing states the base URL of a provider that has none of
// its own, or what is wrong with the one that is stated.
type BaseURLError struct {
	Provider string
	Env      []string // environment variables that could state it
	From     string   // the one that does; empty if it is the provider's own
	Err      error    // what is wrong; nil if none is stated
}

// Error returns e in one line.
func (e *BaseURLError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("client: provider %s: base URL%s, want http(s)://host/path, got %v", e.Provider, prefixed(" from ", e.From), e.Err)
	}
	return fmt.Sprintf("client: provider %s: base URL, want one stated%s, got none", e.Provider, prefixed(", as in ", strings.Join(e.Env, " or ")))
}

// Unwrap returns what is wrong with the URL.
func (e *BaseURLError) Unwrap() error { return e.Err }

// A PlainError says that a key would have gone over http:// to a host that need not be
// near, where others can read it on the way. Near are this machine, the addresses of
// private networks (RFC 1918, RFC 4193, link-local), and names that only these have:
// without a dot, or below .localhost, .local, .internal, .lan or .home.arpa.
type PlainError struct {
	Provider string
	Host     string
}

// Error returns e in one line.
func (e *PlainError) Error() string {
	return fmt.Sprintf("key of %s, want https:// to send it to %s, got http://: it could be read on the way", e.Provider, e.Host)
}

// An AnswerError says that what came with a status of success is neither a reply of the
// provider's dialect nor an error: the page of a login, another service's answer, nothing.
type AnswerError struct {
	Status int    // of HTTP
	Type   string // the content type that was stated; empty if none was
	Start  string // of the body, in one line
	Err    error  // why a JSON text is no reply; nil if it is none
}

// Error returns e in one line.
func (e *AnswerError) Error() string {
	what := prefixed(": ", e.Start)
	if what == "" {
		what = ": nothing"
	}
	if e.Err != nil {
		what += fmt.Sprintf(" (%v)", e.Err)
	}
	return fmt.Sprintf("answer, want a reply, got %d%s%s", e.Status, prefixed(" ", e.Type), what)
}

// Unwrap returns what the codec found wrong.
func (e *AnswerError) Unwrap() error { return e.Err }

// An UnsupportedError says that a provider cannot do something.
type UnsupportedError struct {
	Provider string
	What     string
}

// Error returns e in one line.
func (e *UnsupportedError) Error() string { return e.Provider + " cannot " + e.What }

// A RedirectError says that a provider sent the request elsewhere. It was not followed.
type RedirectError struct {
	Status int
	To     string // scheme and host
}

// Error returns e in one line.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("redirect %d to %s, want an answer: it is not followed, since key and prompt would go there", e.Status, e.To)
}

// TooLong reports whether err is a provider's refusal of a prompt that does not fit its
// window, and how many tokens it said that the prompt and the window have; 0 if it did
// not say. The window is what the engine's Rejected input learns from.
func TooLong(err error) (used, window int, ok bool) {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Class != wire.TooLong {
		return 0, 0, false
	}
	return e.Used, e.Window, true
}

// without takes secrets that a provider repeats out of an error. Of one that has them in
// an unexpected place, the text is replaced.
func without(err error, m mask) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		for _, field := range []*string{&e.Type, &e.Code, &e.Param, &e.Message, &e.RequestID} {
			*field = m.text(*field)
		}
		e.Body = m.body(e.Body)
	}
	if e, ok := errors.AsType[*AnswerError](err); ok {
		e.Start = m.text(e.Start)
	}
	said := err.Error()
	if text := m.text(said); text != said {
		return &maskedError{text, err}
	}
	return err
}

// A maskedError is an error with another text.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }
