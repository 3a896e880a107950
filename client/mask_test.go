package client_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestKeyInPieces: what a provider repeats of a key in its error is hidden, whole or not,
// in any case, in base64 or with its middle left out; what is not of the key stays.
func TestKeyInPieces(t *testing.T) {
	const key = "mk-Harbour0815_Light-House4711qz"
	coded := func(before string, e *base64.Encoding) string { return e.EncodeToString([]byte(before + key + "!")) }
	secrets := map[string]string{
		"whole":                       key,
		"in capitals":                 strings.ToUpper(key),
		"twelve characters":           "rbour0815_Li",
		"twelve in another case":      "RBOUR0815_LI",
		"its end":                     "-House4711qz",
		"in base64":                   coded("", base64.StdEncoding),
		"in base64, one byte before":  coded(":", base64.StdEncoding),
		"in base64, two bytes before": coded("u:", base64.URLEncoding),
		"a user and the key":          "Basic " + coded("user:", base64.StdEncoding),
		"a piece in base64":           base64.RawStdEncoding.EncodeToString([]byte("xyHarbour0815_Lig")),
		"its middle as stars":         "mk-Harb*****11qz",
		"its middle as dots":          "mk-Harb...1qz",
		"only its begin":              "mk-Har****",
		"only its end":                "****4711qz",
		"another key":                 "sk-proj-abcdef***xyz",
		"another bearer":              "Bearer abcdefghijklmnop",
	}
	kept := []string{"try again", "Harbour", "the model", "3 ... 4", "**bold**", "xxxx"}
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			message := "try again <" + secret + "> Harbour, the model 3 ... 4 **bold** xxxx"
			body, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": message}})
			if err != nil {
				t.Fatal(err)
			}
			o := client.Options{Tries: 1, HTTP: &http.Client{Transport: &script{answers: answers{says(400, "application/json", string(body))}}}, Env: env("ANTHROPIC_API_KEY", key)}
			_, err = newClient(t, "anthropic", o).Complete(t.Context(), question())
			refused, ok := errors.AsType[*wire.Error](err)
			if !ok {
				t.Fatalf("error, want the provider's, got %v", err)
			}
			for where, text := range map[string]string{"text": err.Error(), "message": refused.Message, "body": string(refused.Body)} {
				if !strings.Contains(text, "[secret]") || leaks(text, secret) {
					t.Errorf("%s, want nothing of %s, got %s", where, secret, text)
				}
				for _, word := range kept {
					if !strings.Contains(text, word) {
						t.Errorf("%s, want %q as it was, got %s", where, word, text)
					}
				}
			}
			if !json.Valid(refused.Body) {
				t.Errorf("body, want JSON still, got %s", refused.Body)
			}
		})
	}
}

// leaks reports whether a text still has eight characters in a row of a secret.
func leaks(text, secret string) bool {
	const most = 8
	for i := range len(secret) - most + 1 {
		if piece := secret[i : i+most]; piece != " Harbour" && strings.Contains(text, piece) {
			return true
		}
	}
	return len(secret) < most && strings.Contains(text, secret)
}

// Words that only look a little like a key stay.
func TestOrdinaryWordsStay(t *testing.T) {
	const message = "The task-list of disk-1 is too long; see https://example.test/a/b?c=d, messages.0.content..."
	body := fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
	o := client.Options{Tries: 1, HTTP: &http.Client{Transport: &script{answers: answers{says(400, "application/json", body)}}}, Env: env("ANTHROPIC_API_KEY", "sk-0123456789")}
	_, err := newClient(t, "anthropic", o).Complete(t.Context(), question())
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || refused.Message != message || string(refused.Body) != body {
		t.Errorf("message, want it as it came, got %v", err)
	}
}
