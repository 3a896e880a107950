package client_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// A key with characters that escapes are made for, as keys in base64 have them.
const slashedKey = "qaG+5mn/8Ht3Ld+9Xs/7Bw4Rf6Yj1Hk5Jc0Vd=="

// slashed returns a text as PHP and .NET escape it in JSON.
func slashed(text string) string {
	return strings.NewReplacer("+", `\u002B`, "/", `\/`, "=", `\u003D`).Replace(text)
}

// each returns a text with all its bytes in a form.
func each(form, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, form, c)
	}
	return b.String()
}

// refusal returns what a client makes of a provider's error: the text, and what it wraps.
func refusal(t testing.TB, key, body string) (string, *wire.Error) {
	t.Helper()
	o := client.Options{Tries: 1, HTTP: &http.Client{Transport: &script{answers: answers{says(400, "application/json", body)}}}, Env: env("ANTHROPIC_API_KEY", key)}
	_, err := newClient(t, "anthropic", o).Complete(t.Context(), question())
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("error, want the provider's, got %v", err)
	}
	return err.Error(), refused
}

// TestKeyEscaped: escapes do not save a key from being hidden, whatever the body is.
func TestKeyEscaped(t *testing.T) {
	piece := slashedKey[4:20]
	secrets := map[string]string{
		"JSON":                    slashed(slashedKey),
		"JSON, all of it":         each(`\u%04x`, slashedKey),
		"a piece in JSON":         slashed(piece),
		"JSON in JSON":            strings.ReplaceAll(slashed(slashedKey), `\`, `\\`),
		"JSON in JSON in JSON":    strings.ReplaceAll(slashed(slashedKey), `\`, `\\\\`),
		"of a URL":                url.QueryEscape(slashedKey),
		"of a URL, all of it":     each("%%%02X", slashedKey),
		"of a URL, in small":      each("%%%02x", piece),
		"of a URL, twice":         url.QueryEscape(url.QueryEscape(slashedKey)),
		"of HTML":                 each("&#%d;", slashedKey),
		"of HTML, partly":         strings.NewReplacer("+", "&#x2B;", "=", "&equals;").Replace(slashedKey),
		"base64 in small letters": base64.StdEncoding.EncodeToString([]byte(strings.ToLower(slashedKey))),
		"base64 in capitals":      base64.StdEncoding.EncodeToString([]byte("u:" + strings.ToUpper(slashedKey))),
		"base64 in any case":      base64.StdEncoding.EncodeToString([]byte("QAg" + slashedKey[3:])),
		"base64 of JSON":          base64.StdEncoding.EncodeToString([]byte(slashed(slashedKey))),
		"base64 of a URL":         base64.URLEncoding.EncodeToString([]byte("k=" + url.QueryEscape(slashedKey))),
		"base64 in lines":         base64.StdEncoding.EncodeToString([]byte(slashedKey[:17])) + `\r\n` + base64.StdEncoding.EncodeToString([]byte(slashedKey[17:])),
		"base64 in JSON":          strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("??>"+slashedKey)), "/", `\/`),
		"hexadecimal in any case": each("%02X", "QAg"+slashedKey[3:]),
		"hexadecimal":             each("%02x", slashedKey),
		"a gap":                   slashed(slashedKey[:7]) + `\u002a\u002a\u002a`,
		"another key":             `sk\u002Dproj\u002Dabcdefgh`,
	}
	bodies := map[string]string{
		"JSON":       `{"type":"error","error":{"type":"invalid_request_error","message":"bad <%s> ok"}}`,
		"a name":     `{"type":"error","error":{"message":"bad","<%s>":[1,"ok"]}}`,
		"cut":        `{"type":"error","error":{"type":"invalid_request_error","message":"bad <%s> ok`,
		"lines":      `{"error":{"message":"bad"}}` + "\n" + `{"error":{"message":"<%s> ok"}}` + "\n",
		"above 1 MB": `{"error":{"message":"bad <%s> ok","more":"` + strings.Repeat("-", 1<<20) + `"}}`,
		"text":       "bad <%s> ok",
	}
	for in, body := range bodies {
		for name, secret := range secrets {
			t.Run(in+"/"+name, func(t *testing.T) {
				body := strings.Replace(body, "%s", secret, 1)
				said, refused := refusal(t, slashedKey, body)
				for where, text := range map[string]string{"text": said, "message": refused.Message, "body": string(refused.Body)} {
					if leaks(text, secret) || leaks(text, slashedKey) {
						t.Errorf("%s, want nothing of %s, got %.300s", where, secret, text)
					}
				}
				if want := "<[secret]>"; !strings.Contains(string(refused.Body), want) && !strings.HasPrefix(name, "base64") {
					t.Errorf("body, want %s in it and the rest as it was, got %.300s", want, refused.Body)
				}
				if json.Valid([]byte(body)) && in != "above 1 MB" && !json.Valid(refused.Body) {
					t.Errorf("body, want JSON still, got %.300s", refused.Body)
				}
			})
		}
	}
}

// What stands beside a key keeps its escapes, and a key that begins as the end of an escape
// does not break it.
func TestMaskedJSON(t *testing.T) {
	for _, c := range []struct{ key, body, want string }{
		{"nabla-4711-quay", `{"message":"line\nabla-4711-quay\t\"\u00e9\" 100% &amp; 5\/6"}`, `{"message":"line[secret]\t\"\u00e9\" 100% &amp; 5\/6"}`},
		{"nabla-4711-quay", `{"message":"\\nabla-4711-quay\\"}`, `{"message":"\\[secret]\\"}`},
		{"123456789012", `{"n":123456789012,"s":"123456789012"}`, `{"n":123456789012,"s":"[secret]"}`},
		{`half","other-half`, `{"a":["half","other-half"]}`, `{"a":["[secret]","[secret]"]}`},
		{"with%41percent", `{"message":"with%41percent"}`, `{"message":"[secret]"}`},
		{"with%41percent/", `{"message":"with%41percent\/ "}`, `{"message":"[secret] "}`},
	} {
		_, refused := refusal(t, c.key, c.body)
		if got := string(refused.Body); got != c.want {
			t.Errorf("body of %s, want %s, got %s", c.body, c.want, got)
		}
	}
}

// BenchmarkMask looks through 1 MB of what a search that begins anew at each place would take minutes for.
func BenchmarkMask(b *testing.B) {
	const key, size = "mk-Harbour0815_Light-House4711qz", 1 << 20
	for _, part := range []string{"sk-", "eyJ", "bearer ", "basic  x", "a", "mk-Ha***", "xxxx", "...", "mk-Harbour0", "%25", `\`, `\u005c`, "&amp;", `\"`, "é", key} {
		body := "%" + strings.Repeat(part, size/len(part))
		b.Run(fmt.Sprintf("%.10q", part), func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				client.Mask(key, body)
			}
		})
	}
}
