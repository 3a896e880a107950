package crosscheck

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A library is the texts that all sessions of a run are made of. They are few, so that outputs repeat each other and are counted once.
type library struct {
	lines   []string
	outputs []string
	says    []string
}

const (
	someWords = "the build fails since yesterday and nobody knows why because a test waits for port while its server was moved into another folder please look at this file before you change anything else"
	// A text that looks as if something were stored.
	fakeName = "raaaaaaaaaaaaaaaaaaaaaaaaaa"
	fakeRef  = "kept under ref=" + fakeName + " as it seems"
)

func newLibrary() *library {
	rng := rand.New(rand.NewPCG(7, 7))
	l := &library{}
	for range 900 {
		l.lines = append(l.lines, line(rng))
	}
	for range 700 {
		l.outputs = append(l.outputs, l.output(rng))
	}
	for range 300 {
		l.says = append(l.says, words(rng, 3+rng.IntN(60)))
	}
	l.says = append(l.says, "ok", "?", "日本語で説明してください。", "🙂🙃 привет", fakeRef, "<summary></summary>", strings.Repeat("why ", 900), "a\x00b", "line\r\nline")
	return l
}

func words(rng *rand.Rand, n int) string {
	all := strings.Fields(someWords)
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(all[rng.IntN(len(all))])
	}
	return b.String()
}

func line(rng *rand.Rand) string {
	switch rng.IntN(9) {
	case 0:
		return fmt.Sprintf("2026-10-%02dT%02d:%02d:00Z ERROR worker %d: dial tcp 10.0.%d.%d:5432: connection refused", 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(9), rng.IntN(255), rng.IntN(255))
	case 1:
		return fmt.Sprintf(`{"id":%d,"name":"item-%d","tags":["a","b"],"price":%d.5}`, rng.IntN(1e6), rng.IntN(1e4), rng.IntN(1e3))
	case 2:
		return fmt.Sprintf("func handle%d(w http.ResponseWriter, r *http.Request) error { return store.Get(r.Context(), %d) }", rng.IntN(1e4), rng.IntN(99))
	case 3:
		return "コンテキストの長さが上限を超えました。" + fmt.Sprint(rng.IntN(1000))
	case 4:
		return strings.Repeat("=", 20+rng.IntN(60))
	case 5:
		return base64.StdEncoding.EncodeToString([]byte(words(rng, 12)))
	case 6:
		return "pkg/" + words(rng, 1) + "/" + words(rng, 1) + fmt.Sprintf("_%d.go:%d:%d: %s", rng.IntN(99), rng.IntN(999), rng.IntN(80), words(rng, 6))
	case 7:
		return "🙂 " + words(rng, 8) + " ñandú “quoted”"
	}
	return words(rng, 6+rng.IntN(14))
}

// output is what a tool puts out: mostly some lines, now and then nothing, one line without end, or no text.
func (l *library) output(rng *rand.Rand) string {
	switch rng.IntN(24) {
	case 0:
		return ""
	case 1:
		return strings.Repeat(words(rng, 4)+" ", 200+rng.IntN(500))
	case 2:
		return "bin\xff\xfe\x80" + strings.Repeat("\xc3(", 40) + words(rng, 20)
	case 3:
		return strings.Repeat("\n", 1+rng.IntN(80))
	case 4:
		return fakeRef + "\n" + words(rng, 30)
	}
	n := 1 + rng.IntN(12)
	switch rng.IntN(6) {
	case 0:
		n = 60 + rng.IntN(160)
	case 1, 2:
		n = 15 + rng.IntN(40)
	}
	var b strings.Builder
	at := rng.IntN(len(l.lines))
	for i := range n {
		b.WriteString(l.lines[(at+i)%len(l.lines)])
		b.WriteByte('\n')
		if rng.IntN(30) == 0 {
			at = rng.IntN(len(l.lines))
		}
	}
	return b.String()
}

// picture is an image as the Anthropic dialect has it, of about n bytes.
func picture(rng *rand.Rand, n int) llm.Media {
	raw := make([]byte, n*3/4)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	data := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), raw...))
	block := fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}`, data)
	return llm.Media{Type: "image/png", Width: 100 + rng.IntN(1500), Height: 100 + rng.IntN(1000), Size: len(data), Raw: llm.Raw{Data: []byte(block)}}
}
