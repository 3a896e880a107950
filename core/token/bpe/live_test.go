package bpe

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// tiktoken is a running testdata/gen_vectors.py that answers texts with ids.
type tiktoken struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startTiktoken runs PyPI tiktoken with the loaded vocabulary, to answer with ids (--serve) or times (--time); it skips the
// test unless PLIMSOLL_TIKTOKEN=1.
func startTiktoken(t testing.TB, enc *Encoding, mode string) *tiktoken {
	t.Helper()
	if os.Getenv("PLIMSOLL_TIKTOKEN") != "1" {
		t.Skip("PLIMSOLL_TIKTOKEN=1 not set: not compared with a running tiktoken")
	}
	if err := exec.Command("python3", "-c", "import tiktoken").Run(); err != nil {
		t.Skip("python3 with tiktoken not found: not compared with a running tiktoken")
	}
	dir := t.TempDir()
	for _, e := range everyEncoding(t)[:2] {
		if err := os.WriteFile(filepath.Join(dir, e.Name()+".tiktoken"), rankFile(t, e), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "testdata/gen_vectors.py", dir, mode, vectorName(enc))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &tiktoken{in: in, out: bufio.NewReader(out)}
}

// encode returns tiktoken's ids of a text.
func (k *tiktoken) encode(text string) ([]uint32, error) {
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	if _, err := k.in.Write(append(frame, text...)); err != nil {
		return nil, err
	}
	var size uint32
	if err := binary.Read(k.out, binary.LittleEndian, &size); err != nil {
		return nil, err
	}
	ids := make([]uint32, size)
	return ids, binary.Read(k.out, binary.LittleEndian, ids)
}

// time returns how long tiktoken takes to encode a text.
func (k *tiktoken) time(text string) (time.Duration, error) {
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	if _, err := k.in.Write(append(frame, text...)); err != nil {
		return 0, err
	}
	var ns int64
	err := binary.Read(k.out, binary.LittleEndian, &ns)
	return time.Duration(ns), err
}

// compare checks ids and count of one text against tiktoken's. Invalid text is made valid first: tiktoken takes no other.
func (k *tiktoken) compare(t *testing.T, enc *Encoding, label, text string) {
	t.Helper()
	want, err := k.encode(string(appendValid(nil, []byte(text))))
	if err != nil {
		t.Fatal(err)
	}
	got := enc.Append(nil, text)
	if n := enc.Count(text); n != len(want) {
		t.Errorf("%s: %s: Count = %d, tiktoken %d", enc.Name(), label, n, len(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s: ids differ from tiktoken's in a text of %d bytes", enc.Name(), label, len(text))
	}
}

// TestLiveTiktokenOnCorpus compares every file of the corpus, whole and string by string.
func TestLiveTiktokenOnCorpus(t *testing.T) {
	folder := os.Getenv("PLIMSOLL_CORPUS")
	if folder == "" {
		t.Skip("PLIMSOLL_CORPUS not set: corpus not compared")
	}
	for _, enc := range everyEncoding(t)[:2] {
		k := startTiktoken(t, enc, "--serve")
		texts, total := 0, 0
		for name, text := range corpusTexts(t, folder) {
			k.compare(t, enc, name, text)
			texts++
			total += len(text)
		}
		t.Logf("%s: %d texts, %d bytes", enc.Name(), texts, total)
	}
}

// corpusTexts yields every file under folder as one text, then each string in those that are JSON or JSON lines.
func corpusTexts(t *testing.T, folder string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if !yield(path, string(data)) {
				return fs.SkipAll
			}
			for _, line := range append(strings.Split(string(data), "\n"), string(data)) {
				var doc any
				if json.Unmarshal([]byte(line), &doc) == nil && !eachJSONString(doc, func(s string) bool { return yield(path, s) }) {
					return fs.SkipAll
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// eachJSONString calls f with every string of a decoded document until f returns false.
func eachJSONString(doc any, f func(string) bool) bool {
	switch doc := doc.(type) {
	case string:
		return f(doc)
	case []any:
		for _, item := range doc {
			if !eachJSONString(item, f) {
				return false
			}
		}
	case map[string]any:
		for key, item := range doc {
			if !f(key) || !eachJSONString(item, f) {
				return false
			}
		}
	}
	return true
}

// TestLiveTiktokenOnAdversarialText compares random texts made to be hard, up to 100 kB.
func TestLiveTiktokenOnAdversarialText(t *testing.T) {
	for _, enc := range everyEncoding(t)[:2] {
		k := startTiktoken(t, enc, "--serve")
		rng := rand.New(rand.NewPCG(7, 11))
		for n := range 3000 {
			size := 1 + rng.IntN(300)
			if n%100 == 0 {
				size = 100_000
			}
			text := adversarial(rng, enc, size)
			k.compare(t, enc, fmt.Sprintf("text %d (%.60q…)", n, text), text)
		}
		for _, kind := range textKinds() {
			k.compare(t, enc, kind, generate(kind, 200_000))
		}
	}
}

// adversarial returns about size bytes of text of one of several hard makes. Runs that one piece cannot split are kept
// short enough for tiktoken, whose merge is quadratic.
func adversarial(rng *rand.Rand, enc *Encoding, size int) string {
	var b strings.Builder
	kind := rng.IntN(6)
	few := make([]rune, 1+rng.IntN(6))
	for i := range few {
		few[i] = randomRune(rng)
	}
	for b.Len() < size {
		switch kind {
		case 0: // any code points
			b.WriteRune(randomRune(rng))
		case 1: // a few characters over and over
			b.WriteRune(few[rng.IntN(len(few))])
		case 2: // tokens in random order
			b.Write(enc.vocab.token(rng.Uint32N(uint32(enc.vocab.size()))))
		case 3: // bytes, most of them invalid
			b.WriteByte(byte(rng.IntN(256)))
		case 4: // what the patterns treat apart
			b.WriteString([]string{"'", "s", "S", "ſ", "ll", "RE", " ", "  ", "\t", "\r\n", "\n", "/", "\u0301", "中", "ʰ", "ǅ", "1", "!", "\u00a0"}[rng.IntN(19)])
		case 5: // letters without a break, now and then a space
			b.WriteByte(byte('a' + rng.IntN(1+rng.IntN(26))))
			if rng.IntN(2000) == 0 {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// randomRune favours ASCII and the lower planes.
func randomRune(rng *rand.Rand) rune {
	for {
		r := rng.Int32N([]rune{0x80, 0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000}[rng.IntN(7)])
		if utf8.ValidRune(r) {
			return r
		}
	}
}
