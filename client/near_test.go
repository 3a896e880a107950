package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A key goes over http:// only to this machine and to private networks; without a key
// there is nothing to protect.
func TestPlain(t *testing.T) {
	for host, near := range map[string]bool{
		"127.0.0.1:8000": true, "localhost": true, "LOCALHOST:1": true, "[::1]:80": true, "10.1.2.3": true, "172.31.0.1": true, "192.168.0.9": true,
		"169.254.1.1": true, "[fd00::1]": true, "[fe80::1]": true, "vllm:8000": true, "box.local": true, "llm.svc.internal": true, "nas.home.arpa": true,
		"gateway.example": false, "8.8.8.8": false, "172.32.0.1": false, "134744072": false, "0x08080808": false, "local.example": false, "notlocal": true,
		"[2001:db8::1]": false, "x.localhost.example": false, "[::ffff:8.8.8.8]": false,
	} {
		sc := &script{answers: answers{good()}}
		o := client.Options{HTTP: &http.Client{Transport: sc}, Env: env("ANTHROPIC_BASE_URL", "http://"+host, "ANTHROPIC_API_KEY", "sk-12345678")}
		_, err := newClient(t, "anthropic", o).Complete(t.Context(), question())
		_, plain := errors.AsType[*client.PlainError](err)
		if plain == near || near && err != nil || plain && len(sc.times) > 1 {
			t.Errorf("%s: near %v, got %v", host, near, err)
		}
	}
	sc := &script{answers: answers{says(200, "application/json", chatShape().reply)}}
	c := newClient(t, "openai-compatible", client.Options{HTTP: &http.Client{Transport: sc}, Env: env("OPENAI_COMPATIBLE_BASE_URL", "http://gateway.example/v1")})
	reply, err := c.Complete(t.Context(), question())
	wantReply(t, reply, err)
}

// Without a scheme an address is one of this machine, or of Ollama; no other is guessed.
func TestNoScheme(t *testing.T) {
	for _, c := range []struct{ provider, base, want string }{
		{"openai", "127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"},
		{"openai", "localhost:8000/v1", "http://localhost:8000/v1"},
		{"openai", "gateway.example/v1", ""},
		{"openai", "0.0.0.0:8000", ""},
		{"openai", "10.0.0.1:8000/v1", ""},
		{"ollama", "gpu-box", "http://gpu-box:11434"},
		{"ollama", ":99", "http://127.0.0.1:99"},
		{"ollama", "0.0.0.0:1", "http://127.0.0.1:1"},
	} {
		p, _ := client.Lookup(c.provider)
		p.BaseURL, p.BaseEnv = c.base, nil // as a flag states it
		got := ""
		cl, err := client.New(p, client.Options{Env: env()})
		if err == nil {
			got = cl.BaseURL()
		}
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s at %s: got %q, %v, want %q", c.provider, c.base, got, err, c.want)
		}
	}
}

// A base URL has no key in its query, and what it has there is not shown.
func TestBaseQuery(t *testing.T) {
	for _, query := range []string{"key=x-secret", "api_key=x-secret", "api-key=x-secret", "subscription-key=x-secret", "access_token=x-secret", "Token=x-secret", "sig=x-secret", "q=sk-x-secret"} {
		p, _ := client.Lookup("openai")
		p.BaseURL = "https://h/v1?" + query
		_, err := client.New(p, client.Options{Env: env()})
		if e, ok := errors.AsType[*client.BaseURLError](err); !ok || e.Err == nil || strings.Contains(err.Error(), "x-secret") {
			t.Errorf("%s: got %v", query, err)
		}
	}
	p, _ := client.Lookup("openai")
	p.BaseURL = "https://h/v1?tenant=blue"
	c, err := client.New(p, client.Options{Env: env()})
	if err != nil || c.BaseURL() != "https://h/v1" {
		t.Errorf("got %q, %v", c.BaseURL(), err)
	}
	p.BaseURL = "ftp://h/v1?tenant=x-secret"
	if _, err = client.New(p, client.Options{Env: env()}); err == nil || strings.Contains(err.Error(), "x-secret") {
		t.Errorf("got %v", err)
	}
}

// A key that a provider repeats is in no part of the error: not in the request's id, not
// in a body that is no reply, not in what the network says.
func TestKeyEverywhere(t *testing.T) {
	const key = "k-1234567"
	for name, s := range map[string]step{
		"id in the head": says(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, "Request-Id", "req-"+key),
		"id in the body": says(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"no"},"request_id":"`+key+`"}`),
		"a page":         says(200, "text/html", "<html>You sent "+key),
		"another reply":  says(200, "application/json", `{"`+key+`":1}`),
		"the network":    breaks(errors.New("malformed header: " + key)),
	} {
		o := client.Options{Tries: 1, HTTP: &http.Client{Transport: &script{answers: answers{s}}}, Env: env("ANTHROPIC_BASE_URL", "http://model.internal", "ANTHROPIC_API_KEY", key)}
		_, err := newClient(t, "anthropic", o).Complete(t.Context(), question())
		if err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v", name, err)
		}
		if e, ok := errors.AsType[*wire.Error](err); ok && (strings.Contains(e.RequestID, key) || !strings.Contains(e.RequestID, "[secret]")) {
			t.Errorf("%s: request id %q", name, e.RequestID)
		}
		if e, ok := errors.AsType[*client.AnswerError](err); ok && strings.Contains(e.Start, key) {
			t.Errorf("%s: start %q", name, e.Start)
		}
	}
}

// What a program complains is told in one short line without the keys that are known.
func TestComplaint(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"what it printed": {"echo s3cret-part; echo 'cannot use s3cret-part' >&2; exit 1", "exit status 1: cannot use [secret]"},
		"another key":     {"echo 'tried hunter2-hunter2' >&2; exit 1", "exit status 1: tried [secret]"},
		"it looks like":   {"echo 'bad token sk-ant-s3cret-part' >&2; exit 1", "exit status 1: bad token [secret]"},
		"later lines":     {"printf 'locked\\ntoken s3cret-part\\n' >&2; exit 1", "exit status 1: locked"},
	} {
		path, _ := program(t, c.body)
		credential := client.Credential{Auth: client.AuthBearer, Command: []string{path}}
		_, err := keyed(t, "http://model.internal", env("OPENAI_API_KEY", "hunter2-hunter2"), credential).Complete(t.Context(), question())
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	path, _ := program(t, "head -c 190 /dev/zero | tr '\\0' x >&2; echo ' hunter2-hunter2 and so on' >&2; exit 1")
	_, err := keyed(t, "http://model.internal", env("OPENAI_API_KEY", "hunter2-hunter2"), client.Credential{Auth: client.AuthBearer, Command: []string{path}}).Complete(t.Context(), question())
	if err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("a key at the end of the line: %v", err)
	}
}
