package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// BenchmarkReplay runs sessions from file to result under one policy, with the
// exact or calibrated count of each Step and no judging. MB are those of the file.
func BenchmarkReplay(b *testing.B) {
	for name, file := range benchFiles(b) {
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range []string{"off", "balanced"} {
			b.Run(name+"/"+p, func(b *testing.B) {
				pol, err := policy.Preset(p)
				if err != nil {
					b.Fatal(err)
				}
				r, err := replay.New(replay.Options{Policies: []policy.Policy{pol}, Windows: []replay.WindowSpec{{Percent: 50}}})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(info.Size())
				b.ReportAllocs()
				for b.Loop() {
					s, err := formats.Open(file)
					if err != nil {
						b.Fatal(err)
					}
					if err := r.Session(context.Background(), s, func(replay.Result) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// benchFiles returns the largest session of each format in the corpus, else the example.
func benchFiles(b *testing.B) map[string]string {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		b.Log("PLIMSOLL_CORPUS is not set: measuring the example session")
		return map[string]string{"example": filepath.Join("..", "examples", "session.jsonl")}
	}
	out := map[string]string{}
	for _, format := range []string{"claude-code", "codex"} {
		files, err := filepath.Glob(filepath.Join(root, format, "*", "*.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		var size int64
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.Size() > size {
				size, out[format] = info.Size(), f
			}
		}
	}
	return out
}
