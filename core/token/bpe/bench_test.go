package bpe

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"
)

// benchBytes is the size of each benchmark text.
const benchBytes = 750_000

// BenchmarkCount measures Count in four ways on the same text: warm (the scratch has seen the text), cold (an empty
// scratch for every pass over the text, so that no piece is remembered from before the pass), peer (the fastest Go
// library of those measured, tiktoken-go/tokenizer; it remembers nothing) and native (PyPI tiktoken). best-MB/s is the
// fastest pass: on a machine that does other work too it says more than the mean.
func BenchmarkCount(b *testing.B) {
	for _, name := range []string{nameO200kBase, nameCl100kBase} {
		enc, err := Load(name)
		if err != nil {
			b.Fatal(err)
		}
		peer, err := tokenizer.Get(tokenizer.Encoding(name))
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range append(textKinds(), "corpus") {
			b.Run(name+"/"+kind+"/warm", func(b *testing.B) { benchCount(b, enc, kind, false) })
			b.Run(name+"/"+kind+"/cold", func(b *testing.B) { benchCount(b, enc, kind, true) })
			b.Run(name+"/"+kind+"/peer", func(b *testing.B) { benchPeer(b, peer, kind) })
			b.Run(name+"/"+kind+"/native", func(b *testing.B) { benchNative(b, enc, kind) })
		}
	}
}

func benchCount(b *testing.B, enc *Encoding, kind string, cold bool) {
	text := benchText(b, kind)
	enc.Count(text)
	fastest := time.Duration(1 << 62)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if cold {
			b.StopTimer()
			s := enc.scratch()
			clear(s.cache[:])
			enc.release(s)
			b.StartTimer()
		}
		start := time.Now()
		enc.Count(text)
		fastest = min(fastest, time.Since(start))
	}
	b.ReportMetric(float64(len(text))/1e6/fastest.Seconds(), "best-MB/s")
}

func benchPeer(b *testing.B, peer tokenizer.Codec, kind string) {
	text := benchText(b, kind)
	fastest := time.Duration(1 << 62)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := peer.Count(text); err != nil {
			b.Fatal(err)
		}
		fastest = min(fastest, time.Since(start))
	}
	b.ReportMetric(float64(len(text))/1e6/fastest.Seconds(), "best-MB/s")
}

// benchNative has PyPI tiktoken, which is native code, time itself in a process of its own. It is skipped unless
// PLIMSOLL_TIKTOKEN=1.
func benchNative(b *testing.B, enc *Encoding, kind string) {
	text := string(appendValid(nil, []byte(benchText(b, kind))))
	native := startTiktoken(b, enc, "--time")
	fastest := time.Duration(1 << 62)
	for b.Loop() {
		d, err := native.time(text)
		if err != nil {
			b.Fatal(err)
		}
		fastest = min(fastest, d)
	}
	b.ReportMetric(float64(len(text))/1e6/fastest.Seconds(), "best-MB/s")
}

// benchText is a generated text, or the beginnings of the corpus's files as far as they fill the size.
func benchText(b *testing.B, kind string) string {
	if kind != "corpus" {
		return generate(kind, benchBytes)
	}
	folder := os.Getenv("PLIMSOLL_CORPUS")
	if folder == "" {
		b.Skip("PLIMSOLL_CORPUS not set: corpus not measured")
	}
	var text []byte
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".bin" {
			return err
		}
		data, err := os.ReadFile(path)
		text = append(text, data[:min(len(data), benchBytes/40)]...)
		if len(text) >= benchBytes {
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// BenchmarkLoad measures how long a vocabulary takes to be ready, and the heap it then holds.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{nameO200kBase, nameCl100kBase} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			b.ReportAllocs()
			var enc *Encoding
			for b.Loop() {
				var err error
				if enc, err = Load(name); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "heap-MB")
			runtime.KeepAlive(enc)
		})
	}
}
