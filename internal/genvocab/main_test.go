package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"unicode"
)

// vocab is where the files that package bpe embeds are committed.
const vocab = "../../core/token/bpe/vocab"

// TestCommittedVocabularies packs the published files anew and compares with what is committed.
func TestCommittedVocabularies(t *testing.T) {
	for _, src := range sources() {
		text, err := load(src)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := parseRanks(text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := pack(tokens)
		if err != nil {
			t.Fatal(err)
		}
		zipped, err := os.ReadFile(filepath.Join(vocab, src.name+".bin.gz"))
		if err != nil {
			t.Fatal(err)
		}
		zr, err := gzip.NewReader(bytes.NewReader(zipped))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := got.ReadFrom(zr); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s.bin.gz differs from what genvocab writes", src.name)
		}
	}
}

func TestCommittedClasses(t *testing.T) {
	if unicode.Version != baseVersion {
		t.Skipf("Unicode tables of this Go are %s, not %s: classes.bin not compared", unicode.Version, baseVersion)
	}
	want, err := classTable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(vocab, "classes.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("classes.bin differs from what genvocab writes")
	}
}

func TestParseRanksRefusesBrokenText(t *testing.T) {
	for name, text := range map[string]string{
		"no rank":        "YQ==\n",
		"not base64":     "*** 0\n",
		"not a number":   "YQ== x\n",
		"rank twice":     "YQ== 0\nYg== 0\n",
		"rank too high":  "YQ== 1\n",
		"negative rank":  "YQ== -1\n",
		"token is empty": " 0\n",
	} {
		if tokens, err := parseRanks([]byte(text)); err == nil {
			t.Errorf("%s: parsed as %q, want an error", name, tokens)
		}
	}
}

func TestPackRefusesTokensItCannotCarry(t *testing.T) {
	for name, tokens := range map[string][][]byte{
		"twice":          {[]byte("a"), []byte("a")},
		"no merge to it": {[]byte("a"), []byte("b"), []byte("c"), []byte("abc")},
	} {
		if _, err := pack(tokens); err == nil {
			t.Errorf("%s: packed, want an error", name)
		}
	}
}

func TestRunNeedsSomethingToDo(t *testing.T) {
	if err := run("", ""); err == nil {
		t.Error("run without folders succeeded, want an error")
	}
}
