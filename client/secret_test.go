package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
)

// No way of printing shows a secret, also not of what holds one in a field that package
// fmt looks into without asking.
func TestSecret(t *testing.T) {
	const text = "sk-very-secret"
	s := client.NewSecret(text)
	if s.Reveal() != text || s.IsZero() {
		t.Fatal("the secret is not there")
	}
	if zero := client.NewSecret(""); !zero.IsZero() || zero.Reveal() != "" {
		t.Error("no text is a secret")
	}
	credential := client.Credential{Key: s}
	values := []any{s, &s, credential, &credential, []client.Secret{s}, map[string]client.Secret{"k": s}, struct{ hidden client.Secret }{s}, client.Provider{Credentials: []client.Credential{credential}}}
	var out bytes.Buffer
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%10s"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		b, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
		}
		out.Write(b)
	}
	fmt.Fprintln(&out, s, s.String(), s.GoString())
	for _, leak := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text)} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%s is printed", leak)
		}
	}
	contains(t, out.String(), "[secret]")
}
