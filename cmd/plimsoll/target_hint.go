package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// explain adds to what went wrong what can be done about it.
func (t target) explain(err error, url string) error {
	if err == nil {
		return nil
	}
	hint := t.hintAboutSetup(err, url)
	if e, ok := errors.AsType[*wire.Error](err); ok && hint == "" {
		hint = t.hintAboutRefusal(e)
	}
	return fail(&askError{"ask: " + t.words(err), err}, hint)
}

// An askError is an error with another text.
type askError struct {
	text string
	err  error
}

func (e *askError) Error() string { return e.text }

func (e *askError) Unwrap() error { return e.err }

// hintAboutSetup is for what came from this side, or from the way between.
func (t target) hintAboutSetup(err error, url string) string {
	if e, ok := errors.AsType[*client.NoKeyError](err); ok {
		return keyHint(e)
	}
	if e, ok := errors.AsType[*client.BaseURLError](err); ok {
		if e.Err != nil {
			return "a base URL is like https://gateway.example/v1; a key is sent in a header (plimsoll config --help)"
		}
		return "state one with --base-url URL" + or(e.Env) + ", or in the settings (plimsoll config --help)"
	}
	if e, ok := errors.AsType[*client.PlainError](err); ok {
		return "is https://" + e.Host + " there? a key goes over http:// to this machine and private networks alone"
	}
	if _, ok := errors.AsType[*client.AnswerError](err); ok {
		return "is " + url + " the address of " + t.provider.Name + ", and no login or proxy between?"
	}
	if e, ok := errors.AsType[*client.RedirectError](err); ok {
		return "if " + e.To + " is the right place, say so with --base-url"
	}
	if e, ok := errors.AsType[*client.TimeoutError](err); ok {
		if e.Limit == "total" {
			return "--timeout lets it take longer"
		}
		return "the trouble is the provider's, and may pass"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of " + url + " is not trusted on this machine"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "is " + url + " the right address, and is there a network?"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && t.provider.Name == "ollama":
		return "nothing listens at " + url + "; ollama serve starts the server, OLLAMA_HOST or --base-url names another address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + url + "; --base-url names another address"
	case brokeOff(err):
		return "the provider, or something on the way to it, closed the connection; try again"
	}
	return ""
}

// brokeOff reports whether an answer has no end, and not for a reason that was told.
func brokeOff(err error) bool {
	_, refused := errors.AsType[*wire.Error](err)
	return !refused && errors.Is(err, wire.ErrCut)
}

// keyHint says where a key may be put.
func keyHint(e *client.NoKeyError) string {
	switch {
	case e.Program != "":
		return "keyCommand in the settings names the program (plimsoll config --help)"
	case len(e.Env) == 0:
		return "name a variable or a program in the settings (plimsoll config --help)"
	}
	return "export " + e.Env[len(e.Env)-1] + "=..., or name another variable or a program in the settings (plimsoll config --help)"
}

func or(env []string) string {
	if len(env) == 0 {
		return ""
	}
	return " or " + strings.Join(env, " or ")
}

// hintAboutRefusal is for what the provider answered.
func (t target) hintAboutRefusal(e *wire.Error) string {
	switch e.Class {
	case wire.Auth:
		if source := t.keySource(); source != "" {
			return "the provider does not take the key from " + source
		}
		return "the provider wants a key (plimsoll config --help)"
	case wire.Billing:
		return "the account has no credit or quota left"
	case wire.NotFound:
		return t.hintAboutName()
	case wire.TooLong:
		if e.Window > 0 {
			return fmt.Sprintf("the model's window has %s tokens", edit.Thousands(e.Window))
		}
		return "the prompt and the room for the answer (--max-output) do not fit the model's window"
	case wire.TooLarge:
		return "the request has more bytes than the provider takes"
	case wire.RateLimited, wire.Overloaded, wire.ServerFault, wire.Timeout:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("the provider says to come back in %v", e.RetryAfter)
		}
		return "the trouble is the provider's, and may pass"
	}
	return ""
}

// keySource says where the key that was sent comes from.
func (t target) keySource() string {
	for _, c := range t.provider.Credentials {
		if len(c.Command) > 0 {
			return "the program " + c.Command[0]
		}
		if c.Env != "" && strings.TrimSpace(os.Getenv(c.Env)) != "" {
			return c.Env
		}
	}
	return ""
}

// hintAboutName guesses what an unknown model should be called.
func (t target) hintAboutName() string {
	hint := "is " + t.model + " the provider's own name for the model, and the address right?"
	if t.provider.Name == "ollama" {
		return "ollama pull " + t.model + " fetches a model; ollama list shows what is there"
	}
	cat, err := catalog.Load()
	if err != nil {
		return hint
	}
	var ids []string
	for _, m := range cat.Models() {
		if providerFor(m.ID) == t.provider.Name {
			ids = append(ids, m.ID)
		}
	}
	if near := policy.Nearest(strings.ToLower(t.model), ids); near != "" && near != t.model {
		hint = "did you mean " + t.provider.Name + "/" + near + "?"
	}
	return hint
}

// words says what went wrong with a call, for a person who did not write the program.
func (t target) words(err error) string {
	name := t.provider.Name + "/" + t.model
	if e, ok := errors.AsType[*client.TimeoutError](err); ok {
		text := map[string]string{
			"total":   fmt.Sprintf("no answer within %s (--timeout)", shortTime(e.After)),
			"attempt": fmt.Sprintf("no answer within %s", shortTime(e.After)),
			"idle":    fmt.Sprintf("the answer stopped: nothing came for %s", shortTime(e.After)),
		}[e.Limit] + " (" + name + ")"
		if refused, ok := errors.AsType[*wire.Error](err); ok {
			text += "; before that: " + refused.Error()
		}
		return text
	}
	if brokeOff(err) {
		return "the answer broke off before its end (" + name + ")"
	}
	text := strings.TrimPrefix(err.Error(), "client: ")
	for _, op := range []string{"complete: ", "stream: "} {
		text = strings.TrimPrefix(text, op)
	}
	return text
}
