package tokenizers_test

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// BenchmarkLoad and BenchmarkCount need the real files of PLIMSOLL_HF (scripts/tokenizers).
func BenchmarkLoad(b *testing.B) {
	for _, file := range realFiles(b) {
		b.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tokenizers.Load(file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	own := ownSources(b)
	texts := []struct{ name, text string }{
		{"prose", own[1]},
		{"code", own[4] + own[5]},
		{"cjk", strings.Repeat("日本語のテキストと漢字。中文字符，標點符號！한국어 문장 ", 600)},
		{"base64", base64.StdEncoding.EncodeToString([]byte(own[0] + own[1]))},
		{"run", strings.Repeat("a", 100_000)},
	}
	for _, file := range realFiles(b) {
		tok, err := tokenizers.Load(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range texts {
			b.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+t.name, func(b *testing.B) {
				b.SetBytes(int64(len(t.text)))
				b.ReportAllocs()
				for b.Loop() {
					tok.Count(t.text)
				}
			})
		}
	}
}
