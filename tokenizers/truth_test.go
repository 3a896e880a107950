package tokenizers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// The folder with real tokenizer.json files, and a Python that has the library tokenizers (scripts/tokenizers).
const (
	envFiles  = "PLIMSOLL_HF"
	envPython = "PLIMSOLL_HF_PYTHON"
)

// truth returns the ids that the library tokenizers gives.
func truth(t *testing.T, file string, texts []string) [][]uint32 {
	t.Helper()
	python := os.Getenv(envPython)
	if python == "" {
		t.Skipf("%s is not set: nothing to compare with", envPython)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/ids.py", file)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", python, err)
	}
	var ids [][]uint32
	if err := json.Unmarshal(out, &ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// compare checks ids, counts and, where the file keeps all, decoding.
func compare(t *testing.T, tok *tokenizers.Tokenizer, texts []string, want [][]uint32) {
	t.Helper()
	faults := 0
	for i, text := range texts {
		got := tok.Append(nil, text)
		if n := tok.Count(text); n != len(got) {
			t.Errorf("text %d: count = %d, want %d", i, n, len(got))
		}
		if slices.Equal(got, want[i]) {
			continue
		}
		at := 0
		for at < min(len(got), len(want[i])) && got[at] == want[i][at] {
			at++
		}
		before, _ := tok.Decode(got[:at])
		t.Errorf("text %d (%.60q): ids differ from %d of %d, %d on, after %.200q: got %v, want %v", i, text, at, len(got), len(want[i]),
			before[max(0, len(before)-40):], got[at:min(at+8, len(got))], want[i][at:min(at+8, len(want[i]))])
		if faults++; faults == 5 {
			t.Fatal("more faults are not listed")
		}
	}
}

func realFiles(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv(envFiles)
	if dir == "" {
		t.Skipf("%s is not set: no real tokenizer.json files", envFiles)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s=%s: want tokenizer.json files, got none (%v)", envFiles, dir, err)
	}
	return files
}

// Every text has the ids that the original gives.
func TestTruth(t *testing.T) {
	texts := sampleTexts(t)
	for _, file := range realFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tok, err := tokenizers.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, tok, texts, truth(t, file, texts))
			if err := tok.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// gpt-oss has the vocabulary of o200k_harmony: two encoders that share no code agree on ordinary text.
func TestSameAsHarmony(t *testing.T) {
	var file string
	for _, f := range realFiles(t) {
		if strings.HasPrefix(filepath.Base(f), "gptoss") {
			file = f
		}
	}
	if file == "" {
		t.Skipf("no gptoss*.json in %s", os.Getenv(envFiles))
	}
	tok, err := tokenizers.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := bpe.O200kHarmony()
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.DeleteFunc(sampleTexts(t), func(s string) bool { return strings.Contains(s, "<|") })
	want := make([][]uint32, len(texts))
	for i, text := range texts {
		want[i] = enc.Append(nil, text)
	}
	compare(t, tok, texts, want)
}

// sampleTexts are texts of all kinds, among them everything that the patterns of the models treat in its own way.
func sampleTexts(t testing.TB) []string {
	t.Helper()
	texts := []string{
		"", " ", "  ", "a", "\n", " \n", "\n ", " \n  ", "\r\n\r\n x", "a  b", "a   ", "\t\tx", "   x\n\n   y  ", "x \u00a0 y\u3000z", "\u0085a",
		"I'm you're he'S we'LL they'Ve I'd it'ſ 'ſt 'K 'tis ''s 's' 'RE", "don’t", "12345 1234567 1 22 333 ٣٤٥ Ⅷ ½ ²³ ４５６", "a1b2c3",
		"camelCaseWords HTTPServer ABCdef XMLHttpRequestÉtéÀ ǅungla", "x_y-z.w/v\\u|t", "!!!??? ... ///\n// #include <stdio.h>", " //\r\n\r\n", "$%&(.a .b /c", "-abc --flag=value",
		"日本語のテキストと漢字。中文字符，標點符號！한국어 문장", "すごいabc漢字123カタカナー々〆", "Привет, мир! Ελληνικά עברית العربية हिन्दी ไทย",
		"é e\u0301 é ﬁ Å Å Ａ １ ㎏ ゛ が", "q\u0323\u0307 q\u0307\u0323 \u1e9b\u0323", "😀😃👩‍👩‍👧‍👦🇩🇪👍🏽 ☃️ \u200b\u200d\ufeff", "a\u180eb a\u2028b",
		"<|im_start|>user\nhi<|im_end|>\n", "<|endoftext|>", "a<|endoftext|>b", "<|start|>assistant<|channel|>final<|message|>x<|return|>", "<tool_call>{\"a\":1}</tool_call>",
		"<|begin_of_text|> <|eot_id|><|eot_id", "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜><|EOT|>", "<think>\n\n</think>", "<| im_start|>", "<<|im_end|>>",
		strings.Repeat("a", 3000), strings.Repeat(" ", 2000), strings.Repeat(" ", 2000) + "x", strings.Repeat("\n", 999), strings.Repeat("ab", 1500), strings.Repeat("1", 1000),
		strings.Repeat("=", 1200), strings.Repeat("漢", 700), strings.Repeat("😀", 300), strings.Repeat("A", 1300), strings.Repeat("é", 800), strings.Repeat("\t\n ", 300),
		strings.Repeat("e\u0301", 400),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 6000)
	for i := range raw {
		raw[i] = byte(rnd.Uint32())
	}
	texts = append(texts, base64.StdEncoding.EncodeToString(raw), strings.ToValidUTF8(string(raw), "\ufffd"), fmt.Sprintf("%x", raw[:2000]))
	for range 300 {
		texts = append(texts, mixture(rnd))
	}
	return append(texts, ownSources(t)...)
}

// mixture is a text of random characters of all classes.
func mixture(rnd *rand.Rand) string {
	alphabets := []string{
		"abcxyz", "ABCXYZ", "0123456789", " ", "  \t", "\n\r", "'", "'s't'll've're'd'm", ".,;:!?/-_()[]{}<>|\"#", "éüñßſǅĀ", "日本漢字のカー", "한국", "ЖдЯ", "٣Ⅷ½",
		"\u0301\u0323\u0308", "😀👍🏽\u200d", "\u00a0\u3000\u2028\u0085", "ʰˑªº", "€$+=^`~",
	}
	var b strings.Builder
	for range 1 + rnd.IntN(60) {
		set := []rune(alphabets[rnd.IntN(len(alphabets))])
		for range 1 + rnd.IntN(4) {
			b.WriteRune(set[rnd.IntN(len(set))])
		}
	}
	return b.String()
}

// ownSources are files of this module: prose, code, data.
func ownSources(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, path := range []string{"../README.md", "../DESIGN.md", "../CHANGELOG.md", "../go.sum", "tokenizer.go", "split.go", "../docs/replay.svg", "../LICENSE"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b[:min(len(b), 60_000)]))
	}
	return texts
}

// Models whose pattern has a splitter are counted without allocation.
func TestCountAllocatesNothing(t *testing.T) {
	for _, file := range realFiles(t) {
		if strings.HasPrefix(filepath.Base(file), "deepseek") {
			continue
		}
		tok, err := tokenizers.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("A line upon the hull shows what she bears; 1234 <x> 漢字\n", 40)
		tok.Count(text)
		if n := testing.AllocsPerRun(100, func() { tok.Count(text) }); n >= 1 {
			t.Errorf("%s: %v allocations", filepath.Base(file), n)
		}
	}
}
