package bpe

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// benchBytes is the size of each benchmark text.
const benchBytes = 750_000

// BenchmarkCount measures Count in three ways on the same text: warm (the scratch has seen the text), cold (an empty
// scratch for every pass over the text, so that no piece has been seen before it first comes up) and peer (the fastest
// Go library of those measured, tiktoken-go/tokenizer, on the same text; it has no cache).
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
		for _, kind := range textKinds() {
			text := generate(kind, benchBytes)
			b.Run(name+"/"+kind+"/warm", func(b *testing.B) { benchCount(b, enc, text, false) })
			b.Run(name+"/"+kind+"/cold", func(b *testing.B) { benchCount(b, enc, text, true) })
			b.Run(name+"/"+kind+"/peer", func(b *testing.B) { benchPeer(b, enc, peer, text) })
		}
	}
}

func benchCount(b *testing.B, enc *Encoding, text string, cold bool) {
	enc.Count(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if cold {
			b.StopTimer()
			enc.pool = newPool()
			enc.release(enc.scratch())
			b.StartTimer()
		}
		enc.Count(text)
	}
}

func benchPeer(b *testing.B, enc *Encoding, peer tokenizer.Codec, text string) {
	if n, err := peer.Count(text); err != nil || n != enc.Count(text) {
		b.Logf("peer counts %d (%v), want %d", n, err, enc.Count(text))
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := peer.Count(text); err != nil {
			b.Fatal(err)
		}
	}
}
