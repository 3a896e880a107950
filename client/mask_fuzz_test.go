package client

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode"
)

// keyChars are what keys are made of.
const keyChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/="

// bases are the alphabets of base64.
var bases = []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}

// A writing is a way in which a text may repeat a piece of a key.
type writing struct {
	name string
	of   func(r *rand.Rand, piece string) string
}

// escapes may lie around each other.
func escapes() []writing {
	return []writing{
		{"in JSON", func(r *rand.Rand, p string) string {
			text, _ := json.Marshal(p) //nolint:errchkjson // a string
			return escaped(r, p, strings.ReplaceAll(string(text[1:len(text)-1]), "/", `\/`), `\u%04x`)
		}},
		{"in a URL", func(r *rand.Rand, p string) string { return escaped(r, p, url.QueryEscape(p), "%%%02X") }},
		{"in HTML", func(r *rand.Rand, p string) string { return escaped(r, p, html.EscapeString(p), "&#%d;") }},
	}
}

// escaped returns a text with what has to be escaped, with all of it, or with any of it: as no
// program does with what has escapes already.
func escaped(r *rand.Rand, text, least, form string) string {
	often := r.IntN(3)
	if often == 0 || often == 1 && strings.ContainsAny(text, `\%&`) {
		return least
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		if often == 1 && r.IntN(2) == 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, form, c)
	}
	return b.String()
}

// codes hide a text from a reader, and not from a program.
func codes() []writing {
	return []writing{
		{"in base64", func(r *rand.Rand, p string) string {
			return bases[r.IntN(len(bases))].EncodeToString([]byte(strings.Repeat("~", r.IntN(3)) + p + strings.Repeat("!", r.IntN(3))))
		}},
		{"in lines of base64", func(r *rand.Rand, p string) string {
			text := base64.StdEncoding.EncodeToString([]byte(p))
			at := r.IntN(len(text))
			return text[:at] + "\r\n" + text[at:]
		}},
		{"in hexadecimal", func(r *rand.Rand, p string) string {
			if text := hex.EncodeToString([]byte(p)); r.IntN(2) == 0 {
				return text
			}
			return strings.ToUpper(hex.EncodeToString([]byte(p)))
		}},
	}
}

// anyCase returns a text with its letters in any case.
func anyCase(r *rand.Rand, text string) string {
	return strings.Map(func(c rune) rune {
		if r.IntN(2) == 0 {
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, text)
}

// written returns a piece of a key in some of the forms, and their names.
func written(r *rand.Rand, piece string) (text, how string) {
	text = piece
	if r.IntN(2) == 0 {
		text, how = anyCase(r, piece), "any case"
	}
	wrap := func(all []writing, most int) {
		for range r.IntN(most + 1) {
			f := all[r.IntN(len(all))]
			text, how = f.of(r, text), how+", "+f.name
		}
	}
	wrap(escapes(), 2)
	wrap(codes(), 1)
	wrap(escapes(), 2)
	return text, how
}

// FuzzMask: whatever the key and the piece of it, of 12 characters and more, however it is
// written and whatever stands beside it, its middle is gone; and what was JSON is JSON still.
func FuzzMask(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed, "try again with ", " of org-1")
	}
	f.Add(uint64(3), `{"error":{"message":"`, `"}}`)
	f.Add(uint64(4), `{"error":["a\n`, `\n"]}`)
	f.Add(uint64(5), `aGVs`, `bG8=`)
	f.Add(uint64(481), `\`, "0")
	f.Add(uint64(173), `\\\\\\\`, "0")
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
		least := shortestRun
		if !strings.HasSuffix(before, " ") {
			least += 6 // of which the end of an escape may take some, or that of base64
		}
		key := make([]byte, least+r.IntN(60))
		for i := range key {
			key[i] = keyChars[r.IntN(len(keyChars))]
		}
		n := least + r.IntN(len(key)-least+1)
		at := r.IntN(len(key) - n + 1)
		text, how := written(r, string(key[at:at+n]))
		body := before + text + after
		got := string(newMask(string(key)).body([]byte(body)))
		if json.Valid([]byte(body)) && !json.Valid([]byte(got)) {
			t.Errorf("body, want JSON still, got %q of %q", got, body)
		}
		middle := text[len(text)/4 : len(text)*3/4]
		size := (len(middle) + 1) / 2
		for i := range len(middle) - size + 1 {
			if w := middle[i : i+size]; strings.Contains(got, w) && !strings.Contains(before+"\n"+after, w) {
				t.Fatalf("%s (%s), want nothing of it, got %q of %q", key, how, got, body)
			}
		}
	})
}
