package tokenizers_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// What a file asks for that cannot be done is named, with the place where it stands.
func TestUnsupported(t *testing.T) {
	model := func(from, to string) func([]byte) string {
		return func(b []byte) string { return strings.Replace(string(b), from, to, 1) }
	}
	tests := []struct {
		path, got string
		f         fixture
		change    func([]byte) string
	}{
		{path: "model.type", got: `"WordPiece"`, change: model(`"type":"BPE"`, `"type":"WordPiece"`)},
		{path: "model.dropout", got: "0.1", change: model(`"dropout":null`, `"dropout":0.1`)},
		{path: "model.continuing_subword_prefix", got: `"##"`, change: model(`"continuing_subword_prefix":null`, `"continuing_subword_prefix":"##"`)},
		{path: "model.end_of_word_suffix", got: `"</w>"`, change: model(`"end_of_word_suffix":null`, `"end_of_word_suffix":"</w>"`)},
		{path: "model.unk_token", got: "one, and no token for 0x41", change: func(b []byte) string {
			return model(`"unk_token":null`, `"unk_token":"B"`)([]byte(model(`"A":65`, `"AA":65`)(b)))
		}},
		{path: "model.byte_fallback", got: "one, and no token for 0x41", change: func(b []byte) string {
			return model(`"byte_fallback":false`, `"byte_fallback":true`)([]byte(model(`"A":65`, `"AA":65`)(b)))
		}},
		{path: "normalizer.type", got: `"Lowercase"`, f: fixture{normalizer: `{"type":"Lowercase"}`}},
		{path: "normalizer.normalizers[1].type", got: `"Strip"`, f: fixture{normalizer: `{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Strip"}]}`}},
		{path: "pre_tokenizer", got: "none", f: fixture{pre: "null"}},
		{path: "pre_tokenizer", got: "none", f: fixture{pre: `{"type":"Digits"}`}},
		{path: "pre_tokenizer.type", got: `"Metaspace"`, f: fixture{pre: `{"type":"Metaspace"}`}},
		{path: "pre_tokenizer.pretokenizers[0].type", got: `"Whitespace"`, f: fixture{pre: in(`{"type":"Whitespace"}`)}},
		{path: "pre_tokenizer.pretokenizers[1]", got: `"ByteLevel"`, f: fixture{pre: in(plainByteLevel)}},
	}
	for _, regex := range []string{`\w+`, `a\b`, `^a`, `a$`, `a++`, `a?+b`, `[a[b]]`, `[a&&b]`, `(?<n>a)`, `\h`, `(?i:é)`, `(?i:[a])`, `a{,3}`, `[]a]`, `\1`, `(`, `\p{Greek}`, `\pL`, `(?i:\p{Lu})`, `(?i:ss)`, `(?i:x[a]`, `(?#x)`, `a{x`, `a{2}?`, `\p{`} {
		tests = append(tests, struct {
			path, got string
			f         fixture
			change    func([]byte) string
		}{path: "pre_tokenizer.pretokenizers[0].pattern.Regex", f: fixture{pre: in(splitBy(regex, "Isolated", false))}})
	}
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.f.pre, func(t *testing.T) {
			data := tt.f.json(t)
			if tt.change != nil {
				data = []byte(tt.change(data))
			}
			file := write(t, data)
			_, err := tokenizers.Load(file)
			var u *tokenizers.UnsupportedError
			if !errors.As(err, &u) {
				t.Fatalf("error = %v, want an UnsupportedError", err)
			}
			if u.File != file || u.Path != tt.path || tt.got != "" && u.Got != tt.got {
				t.Errorf("error = %+v, want path %s, got %s", u, tt.path, tt.got)
			}
		})
	}
}

// A broken file is an error that names the file and the place.
func TestInvalid(t *testing.T) {
	good := string(fixture{merges: []string{"a b"}, added: `[{"id":900,"content":"xx"}]`}.json(t))
	tests := []struct{ name, from, to, want string }{
		{"no JSON", good, "{", "JSON at byte 1"},
		{"a list", good, "[]", "file, want a"},
		{"no model", `"model"`, `"modell"`, "model, want an object, got none"},
		{"a negative id", `"A":65`, `"A":-65`, "model.vocab"},
		{"an id twice", `"A":65`, `"A":66`, "id 66"},
		{"a merge of three", `"a b"`, `"a b c"`, "model.merges[0]"},
		{"a merge that is no token", `"a b"`, `"b a"`, "model.merges[0], want tokens of model.vocab"},
		{"a merge of one in a list", `["a b"]`, `[["a"]]`, "model.merges[0]"},
		{"a merge of three in a list", `["a b"]`, `[["a","b","c"]]`, "model.merges[0]"},
		{"a number for merges", `["a b"]`, `[7]`, "model.merges"},
		{"no merges", `["a b"]`, `null`, "model.merges"},
		{"an id that is taken", `"id":900`, `"id":65`, "added_tokens[0].id"},
		{"a text for an id", `"id":900`, `"id":"x"`, "added_tokens"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := strings.Replace(good, tt.from, tt.to, 1)
			if data == good {
				t.Fatalf("%s is not in the file", tt.from)
			}
			file := write(t, []byte(data))
			_, err := tokenizers.Load(file)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("error = %v, want one with %q and the file's name", err, tt.want)
			}
		})
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.json")} {
		if _, err := tokenizers.Load(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("error = %v, want one that names %s once", err, path)
		}
	}
	big := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, tokenizers.MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := tokenizers.Load(big); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("error = %v, want one about the size", err)
	}
}

// Errors repeat nothing of a file that is no tokenizer's.
func TestErrorsShowNothing(t *testing.T) {
	for _, data := range []string{"Zecret", "{\"a\":Z", "7361", `{"model":7361}`, `{"model":{"vocab":{"a":7361.5}}}`, "\"Zecret\"", `{"added_tokens":[{"id":7361.5}]}`} {
		file := filepath.Join(t.TempDir(), "f.json")
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tokenizers.Load(file)
		if err == nil {
			t.Fatalf("%s: want an error, got none", data)
		}
		if got := strings.Replace(err.Error(), file, "", 1); strings.ContainsAny(got, "Z7") {
			t.Errorf("%s: got %s", data, got)
		}
	}
}

// No file makes Load panic, and what it loads counts any text.
func FuzzLoad(f *testing.F) {
	for _, seed := range []fixture{
		{},
		{merges: []string{"a b", "ab a"}, pre: in(splitBy(`\p{L}+|\s+(?!\S)`, "Removed", true))},
		{normalizer: `{"type":"Sequence","normalizers":[{"type":"NFC"}]}`, added: `[{"id":900,"content":"ab","lstrip":true,"rstrip":true,"single_word":true}]`},
	} {
		f.Add(seed.json(f), "ab abab \u0301 12")
	}
	f.Add([]byte(`{"model":{"vocab":{"a":4294967295},"merges":[]}}`), "a")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		file := filepath.Join(dir, "tokenizer.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tok, err := tokenizers.Load(file)
		if err != nil {
			return
		}
		ids := tok.Append(nil, text)
		if n := tok.Count(text); n != len(ids) && tok.Err() == nil {
			t.Errorf("count of %q = %d, want %d", text, n, len(ids))
		}
		if _, err := tok.Decode(ids); err != nil {
			t.Error(err)
		}
	})
}
