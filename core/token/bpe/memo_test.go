package bpe

import (
	"strings"
	"sync"
	"testing"
)

// A remembering encoding counts as the one it was made of, from several goroutines and the second time too.
func TestRemembering(t *testing.T) {
	enc, err := O200kBase()
	if err != nil {
		t.Fatal(err)
	}
	twin := enc.Remembering()
	texts := []string{"", "short", strings.Repeat("a long text, ", 40), strings.Repeat("日本語", 200), strings.Repeat("\xff bad ", 100)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				for _, s := range texts {
					if got, want := twin.Count(s), enc.Count(s); got != want {
						t.Errorf("%.20q: want %d, got %d", s, want, got)
					}
				}
			}
		})
	}
	wg.Wait()
	if len(twin.memo.counts) != 3 {
		t.Errorf("want the 3 long texts remembered, got %d", len(twin.memo.counts))
	}
}
