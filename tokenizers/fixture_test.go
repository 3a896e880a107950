package tokenizers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// fixture is a small tokenizer.json: the 256 bytes have their values as ids, what merges make has the ids from 256 up.
type fixture struct {
	merges     []string // "a b", in the characters of the byte alphabet
	asPairs    bool     // merges as pairs
	without    string   // bytes that have no token
	words      []string // further tokens, after those of the merges
	ignore     bool     // ignore_merges
	normalizer string   // JSON; empty: null
	pre        string   // JSON; empty: ByteLevel that cuts nothing
	added      string   // JSON list of added tokens
	model      string   // further members of model, with a comma in front
}

const plainByteLevel = `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}`

// in returns a Sequence that ends with a ByteLevel that cuts nothing.
func in(stages ...string) string {
	return `{"type":"Sequence","pretokenizers":[` + strings.Join(append(stages, plainByteLevel), ",") + `]}`
}

// splitBy is a Split at a pattern.
func splitBy(regex, behavior string, invert bool) string {
	b, _ := json.Marshal(map[string]any{"type": "Split", "pattern": map[string]string{"Regex": regex}, "behavior": behavior, "invert": invert})
	return string(b)
}

// byteRunes is the alphabet of byte-level vocabularies, by byte.
func byteRunes() [256]rune {
	var out [256]rune
	next := rune(256)
	for b := range 256 {
		switch {
		case b > 32 && b < 127, b > 160 && b < 173, b > 173:
			out[b] = rune(b)
		default:
			out[b] = next
			next++
		}
	}
	return out
}

func (f fixture) json(t testing.TB) []byte {
	t.Helper()
	vocab := map[string]int{}
	for b, r := range byteRunes() {
		if strings.IndexByte(f.without, byte(b)) < 0 {
			vocab[string(r)] = b
		}
	}
	merges := []any{}
	for _, m := range f.merges {
		left, right, _ := strings.Cut(m, " ")
		if _, known := vocab[left+right]; !known {
			vocab[left+right] = len(vocab) + len(f.without)
		}
		if f.asPairs {
			merges = append(merges, []string{left, right})
		} else {
			merges = append(merges, m)
		}
	}
	for _, w := range f.words {
		vocab[w] = len(vocab) + len(f.without)
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	return []byte(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":` + or(f.added, "[]") + `,"normalizer":` + or(f.normalizer, "null") +
		`,"pre_tokenizer":` + or(f.pre, plainByteLevel) + `,"post_processor":null,"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},"model":{"type":"BPE","dropout":null,"unk_token":null,` +
		`"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":` + text(f.ignore) +
		`,"vocab":` + text(vocab) + `,"merges":` + text(merges) + f.model + `}}`)
}

// write puts a file into a folder of the test's own.
func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (f fixture) load(t testing.TB) *tokenizers.Tokenizer {
	t.Helper()
	tok, err := tokenizers.Load(write(t, f.json(t)))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
