package bpe

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// vectors is testdata/vectors.json, which testdata/gen_vectors.py writes with PyPI tiktoken.
type vectors struct {
	Tiktoken   string                       `json:"tiktoken"`
	Specials   map[string]map[string]uint32 `json:"specials"`
	Classes    []classRun                   `json:"classes"`
	Exhaustive struct {
		Alphabet []string            `json:"alphabet"`
		Length   int                 `json:"length"`
		Digests  map[string][]string `json:"digests"`
	} `json:"exhaustive"`
	Vectors []struct {
		Name   string              `json:"name"`
		Text   string              `json:"text"`
		Repeat int                 `json:"repeat"`
		Count  map[string]int      `json:"count"`
		Digest map[string]string   `json:"digest"`
		IDs    map[string][]uint32 `json:"ids"`
	} `json:"vectors"`
}

// classRun is the first code point of a run and the name of its class: [first, "class"].
type classRun struct {
	first rune
	class uint8
}

func (c *classRun) UnmarshalJSON(data []byte) error {
	var name string
	if err := json.Unmarshal(data, &[]any{&c.first, &name}); err != nil {
		return err
	}
	class, ok := map[string]uint8{
		"upper": classUpper, "lower": classLower, "common": classCommon, "mark": classMark,
		"number": classNumber, "space": classSpace, "newline": classNewline, "other": classOther,
	}[name]
	if !ok {
		return fmt.Errorf("class of %U, want a known one, got %q", c.first, name)
	}
	c.class = class
	return nil
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Vectors) == 0 || len(v.Classes) == 0 {
		t.Fatal("testdata/vectors.json holds no vectors")
	}
	return v
}

// everyEncoding loads each encoding once for a test.
func everyEncoding(t testing.TB) []*Encoding {
	t.Helper()
	var all []*Encoding
	for _, name := range []string{nameCl100kBase, nameO200kBase, nameO200kHarmony} {
		enc, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, enc)
	}
	return all
}

// vectorName is the encoding whose vectors hold for enc: harmony encodes ordinary text as o200k_base does.
func vectorName(enc *Encoding) string {
	if enc.Name() == nameO200kHarmony {
		return nameO200kBase
	}
	return enc.Name()
}

// writeIDs adds a list of ids to a digest as gen_vectors.py does.
func writeIDs(dst []byte, ids []uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(ids)))
	for _, id := range ids {
		dst = binary.LittleEndian.AppendUint32(dst, id)
	}
	return dst
}

func digestOf(frames []byte) string {
	sum := sha256.Sum256(frames)
	return hex.EncodeToString(sum[:])
}

func TestAppendEqualsTiktoken(t *testing.T) {
	v := readVectors(t)
	for _, enc := range everyEncoding(t) {
		key := vectorName(enc)
		for _, c := range v.Vectors {
			text := strings.Repeat(c.Text, c.Repeat)
			got := enc.Append(nil, text)
			if n := enc.Count(text); n != c.Count[key] {
				t.Errorf("%s: %s: Count = %d, want %d", enc.Name(), c.Name, n, c.Count[key])
			}
			if want, full := c.IDs[key]; full && !slices.Equal(got, want) {
				t.Errorf("%s: %s: ids of %q = %v, want %v", enc.Name(), c.Name, c.Text, got, want)
			} else if !full && digestOf(writeIDs(nil, got)) != c.Digest[key] {
				t.Errorf("%s: %s: digest of %d ids differs, want %s", enc.Name(), c.Name, len(got), c.Digest[key])
			}
		}
	}
}

// TestAppendEqualsTiktokenOnAllShortStrings compares all strings of up to four characters over an alphabet that has every
// class and every character the patterns treat apart.
func TestAppendEqualsTiktokenOnAllShortStrings(t *testing.T) {
	all := readVectors(t).Exhaustive
	for _, enc := range everyEncoding(t)[:2] {
		for n, first := range all.Alphabet {
			var frames []byte
			var ids []uint32
			for length := range all.Length {
				eachString(all.Alphabet, first, length, func(s string) {
					ids = enc.Append(ids[:0], s)
					frames = writeIDs(frames, ids)
				})
			}
			if got, want := digestOf(frames), all.Digests[enc.Name()][n]; got != want {
				t.Errorf("%s: strings that start with %q: digest = %s, want %s", enc.Name(), first, got, want)
			}
		}
	}
}

// eachString calls f with prefix followed by every string of n characters, the last one changing fastest.
func eachString(alphabet []string, prefix string, n int, f func(string)) {
	if n == 0 {
		f(prefix)
		return
	}
	for _, c := range alphabet {
		eachString(alphabet, prefix+c, n-1, f)
	}
}

func TestClassOfEveryCodePoint(t *testing.T) {
	runs := readVectors(t).Classes
	at := 0
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xD800 && r <= 0xDFFF {
			continue
		}
		for at+1 < len(runs) && runs[at+1].first <= r {
			at++
		}
		if got := classOf(r); got != runs[at].class {
			t.Errorf("class of %U = %08b, want %08b", r, got, runs[at].class)
		}
		text := []byte(string(r))
		if got, width := classAt(text, 0); got != runs[at].class || width != len(text) {
			t.Errorf("class of %U in text = %08b, width %d, want %08b, %d", r, got, width, runs[at].class, len(text))
		}
	}
}

func TestSpecials(t *testing.T) {
	all := readVectors(t).Specials
	for _, enc := range everyEncoding(t) {
		want := all[enc.Name()]
		ids := map[uint32]bool{}
		for text, id := range want {
			ids[id] = true
			out, err := enc.Decode([]uint32{id})
			if err != nil || want[string(out)] != id {
				t.Errorf("%s: Decode(%d) = %q, %v, want a special token with that id", enc.Name(), id, out, err)
			}
			if ids := enc.Append(nil, text); slices.Contains(ids, id) {
				t.Errorf("%s: text %q encodes as the special token, want ordinary ids, got %v", enc.Name(), text, ids)
			}
		}
		for id, text := range enc.names {
			if !ids[id] || want[text] != id {
				t.Errorf("%s: special token %q with id %d, want only those of %v", enc.Name(), text, id, want)
			}
		}
	}
}

// TestVocabularyIsOpenAIs rebuilds the published rank file from the loaded vocabulary and compares its hash with the one
// that OpenAI's tiktoken expects.
func TestVocabularyIsOpenAIs(t *testing.T) {
	want := map[string]string{
		nameCl100kBase:   "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
		nameO200kBase:    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
		nameO200kHarmony: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
	}
	for _, enc := range everyEncoding(t) {
		if got := digestOf(rankFile(t, enc)); got != want[enc.Name()] {
			t.Errorf("%s: sha256 of the rank file = %s, want %s", enc.Name(), got, want[enc.Name()])
		}
	}
}

// rankFile writes the ordinary tokens in OpenAI's text form.
func rankFile(t testing.TB, enc *Encoding) []byte {
	t.Helper()
	var out []byte
	for id := range uint32(enc.vocab.size()) {
		token, err := enc.Decode([]uint32{id})
		if err != nil {
			t.Fatal(err)
		}
		out = fmt.Appendf(out, "%s %d\n", base64.StdEncoding.EncodeToString(token), id)
	}
	return out
}

// TestEmbeddedFiles pins the embedded files to the hashes listed in vocab/README.md.
func TestEmbeddedFiles(t *testing.T) {
	readme, err := os.ReadFile("vocab/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"cl100k_base.bin.gz": cl100kData, "o200k_base.bin.gz": o200kData, "classes.bin": []byte(classes)}
	for name, data := range files {
		line := fmt.Sprintf("| %s | %d | %s |", name, len(data), digestOf(data))
		if !strings.Contains(string(readme), line) {
			t.Errorf("vocab/README.md, want the line %q", line)
		}
	}
}
