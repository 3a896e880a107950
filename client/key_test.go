package client_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// keyed returns a client of Anthropic with other credentials.
func keyed(t testing.TB, url string, environment func(string) string, credentials ...client.Credential) *client.Client {
	t.Helper()
	p, _ := client.Lookup("anthropic")
	p.BaseURL, p.BaseEnv, p.Credentials = url, nil, credentials
	c, err := client.New(p, client.Options{Env: environment, Tries: 2})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// program writes a shell script that counts its calls by the lines of a file.
func program(t testing.TB, body string) (path, log string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	dir := t.TempDir()
	path, log = filepath.Join(dir, "print-key"), filepath.Join(dir, "log")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$@\" >> '"+log+"'\n"+body), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	return path, log
}

func linesOf(t testing.TB, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// A program is run once, without a shell, and its key is sent without the white space.
func TestKeyCommand(t *testing.T) {
	path, log := program(t, "printf '  t-777 \\n\\n'")
	var keys []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		answer(w, 200, "application/json", anthropicShape().reply)
	})
	c := keyed(t, url, env(), client.Credential{Auth: client.AuthBearer, Command: []string{path, "$(id)", "a b", ";"}})
	for range 3 {
		reply, err := c.Complete(t.Context(), question())
		wantReply(t, reply, err)
	}
	if got := strings.Join(keys, ","); got != "Bearer t-777,Bearer t-777,Bearer t-777" {
		t.Errorf("keys %s", got)
	}
	if got := linesOf(t, log); len(got) != 1 || got[0] != "$(id) a b ;" {
		t.Errorf("the program was called as %q", got)
	}
}

// A key that a program printed some time ago and that is refused now is asked for again,
// once; one that it has just printed is not.
func TestKeyCommandAgain(t *testing.T) {
	path, log := program(t, `wc -l < "$(dirname "$0")/log"`)
	valid := "1"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid {
			answer(w, 401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"invalid token"}}`)
			return
		}
		answer(w, 200, "application/json", anthropicShape().reply)
	})
	c := keyed(t, url, env(), client.Credential{Auth: client.AuthBearer, Command: []string{path, "print"}})
	reply, err := c.Complete(t.Context(), question())
	wantReply(t, reply, err)
	valid = "2"
	reply, err = c.Complete(t.Context(), question())
	wantReply(t, reply, err)
	valid = "none"
	_, err = c.Complete(t.Context(), question())
	if refused, ok := errors.AsType[*wire.Error](err); !ok || refused.Class != wire.Auth {
		t.Errorf("got %v", err)
	}
	if got := linesOf(t, log); len(got) != 3 {
		t.Errorf("the program ran %d times, want 3", len(got))
	}
}

// A program that gives no key is an error that names it, and shows nothing that it
// printed on standard output.
func TestKeyCommandFails(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for name, c := range map[string]struct{ body, want string }{
		"nothing":    {"true", "got nothing"},
		"failure":    {"echo half-a-key; echo 'not signed in' >&2; exit 3", "exit status 3: not signed in"},
		"two lines":  {"echo half-a-key; echo other", "one line"},
		"two words":  {"echo half-a-key other", "without spaces"},
		"too long":   {"yes half-a-key", "at most"},
		"no program": {"", "no-such-program"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := program(t, c.body)
			if name == "too long" {
				path, _ = program(t, "yes half-a-key | head -c 100000")
			}
			if name == "no program" {
				path = "/no-such-folder/no-such-program"
			}
			_, err := keyed(t, url, env(), client.Credential{Auth: client.AuthBearer, Command: []string{path}}).Complete(t.Context(), question())
			e, ok := errors.AsType[*client.NoKeyError](err)
			if !ok || e.Program != filepath.Base(path) || e.Provider != "anthropic" {
				t.Fatalf("got %v", err)
			}
			contains(t, err.Error(), c.want)
			if strings.Contains(err.Error(), "half-a-key") {
				t.Errorf("the error shows what was printed: %v", err)
			}
		})
	}
}

// A key that is missing is told with the places where it was looked for, and one that
// cannot be sent without repeating it.
func TestNoKey(t *testing.T) {
	p, _ := client.Lookup("anthropic")
	c, err := client.New(p, client.Options{Env: env("ANTHROPIC_BASE_URL", "http://model.internal")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(t.Context(), question())
	e, ok := errors.AsType[*client.NoKeyError](err)
	if !ok || strings.Join(e.Env, " ") != "ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY" {
		t.Errorf("got %v", err)
	}
	contains(t, err.Error(), "want one in ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY, got none")
	c, _ = client.New(p, client.Options{Env: env("ANTHROPIC_API_KEY", "k\x00ey-value")})
	_, err = c.Complete(t.Context(), question())
	if _, ok := errors.AsType[*client.NoKeyError](err); !ok || strings.Contains(err.Error(), "ey-value") {
		t.Errorf("got %v", err)
	}
}

// Nothing is sent as a key where none is needed and none is there.
func TestKeyOptional(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if got := r.Header.Values(name); len(got) != 0 {
				t.Errorf("%s: %v", name, got)
			}
		}
		answer(w, 200, "application/json", chatShape().reply)
	})
	// OPENAI_API_KEY belongs to another provider: it does not go to an address that can be anybody's.
	c := newClient(t, "openai-compatible", client.Options{Env: env("OPENAI_COMPATIBLE_BASE_URL", url+"/v1", "OPENAI_API_KEY", "k-secret")})
	reply, err := c.Complete(t.Context(), question())
	wantReply(t, reply, err)
}

// A provider that repeats the key in its error does not get it into a log.
func TestKeyRepeated(t *testing.T) {
	const key = "sk-0123456789"
	synctest.Test(t, func(t *testing.T) {
		var told []client.Attempt
		s := &script{answers: answers{
			says(500, "application/json", `{"type":"error","error":{"type":"api_error","message":"no good: `+key+`"}}`),
			says(401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key `+key+`"}}`),
		}}
		p, _ := client.Lookup("anthropic")
		c, err := client.New(p, client.Options{
			HTTP: &http.Client{Transport: s}, Env: env("ANTHROPIC_API_KEY", key),
			OnRetry: func(a client.Attempt) { told = append(told, a) },
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), question())
		refused, ok := errors.AsType[*wire.Error](err)
		if !ok || refused.Class != wire.Auth || len(told) != 1 {
			t.Fatalf("got %v", err)
		}
		if text := err.Error() + string(refused.Body) + told[0].Err.Error(); strings.Contains(text, key) {
			t.Errorf("the key is in %s", text)
		}
		contains(t, err.Error(), "[secret]")
	})
}
