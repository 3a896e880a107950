package client_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
)

// A request of somebody else's gets the provider's key in the provider's way, but none over
// http to a host that is not near.
func TestAuthorize(t *testing.T) {
	p, _ := client.Lookup("anthropic")
	a := client.NewAuthorizer(p, env("ANTHROPIC_API_KEY", "k-1234567"))
	req := httptest.NewRequest("POST", "https://api.example/v1/messages", nil)
	if err := a.Authorize(t.Context(), req); err != nil || req.Header.Get("X-Api-Key") != "k-1234567" || req.Header.Get("Authorization") != "" {
		t.Errorf("got %v, %v", req.Header, err)
	}
	req = httptest.NewRequest("POST", "http://gateway.example/v1/messages", nil)
	if _, plain := errors.AsType[*client.PlainError](a.Authorize(t.Context(), req)); !plain || len(req.Header) > 0 {
		t.Errorf("over http: got %v", req.Header)
	}
	if _, missing := errors.AsType[*client.NoKeyError](client.NewAuthorizer(p, env()).Authorize(t.Context(), req)); !missing {
		t.Error("without a key: want an error")
	}
	p, _ = client.Lookup("ollama")
	if err := client.NewAuthorizer(p, env()).Authorize(t.Context(), req); err != nil || len(req.Header) > 0 {
		t.Errorf("where none is needed: got %v, %v", req.Header, err)
	}
}

// A base URL that somebody states is read as that of a provider, and its errors are quiet.
func TestParseBase(t *testing.T) {
	for text, want := range map[string]string{
		"https://h/api/v1/": "https://h/api/v1", "127.0.0.1:8000/v1": "http://127.0.0.1:8000/v1", "h.example/v1": "", "https://u:p@h": "", "https://h?key=s": "",
	} {
		u, err := client.ParseBase(text)
		if (err == nil) != (want != "") || err == nil && u.String() != want {
			t.Errorf("%s: got %v, %v", text, u, err)
		}
	}
	if got := client.JoinPath("/api/v1", "/v1/chat/completions"); got != "/api/v1/chat/completions" {
		t.Errorf("got %s", got)
	}
}
