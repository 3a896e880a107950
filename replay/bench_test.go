package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// BenchmarkReplay runs sessions from file to result under one policy, with the
// exact or calibrated count of each Step and no judging; grounding is balanced with what its
// views keep. MB are those of the file.
func BenchmarkReplay(b *testing.B) {
	for name, file := range benchFiles(b) {
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range []string{"off", "balanced", "grounding"} {
			b.Run(name+"/"+p, func(b *testing.B) {
				r := benchReplayer(b, strings.Replace(p, "grounding", "balanced", 1), p == "grounding")
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

func benchReplayer(b *testing.B, name string, ground bool) *replay.Replayer {
	b.Helper()
	pol, err := policy.Preset(name)
	if err != nil {
		b.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{pol}, Windows: []replay.WindowSpec{{Percent: 50}}, Ground: ground})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// benchFiles returns the largest session of each format in the corpus, else the example.
func benchFiles(b *testing.B) map[string]string {
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		b.Log("PLIMSOLL_CORPUS is not set: measuring the example session")
		return map[string]string{"example": filepath.Join("..", "examples", "session.jsonl")}
	}
	out := map[string]string{}
	for _, format := range []string{"claude-code", "codex", "pi"} {
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

// BenchmarkReplayLong streams a session with compactions that it writes first, from file to
// result. It reports the most that was alive between two segments, and the most that
// the heap took. Sizes that PLIMSOLL_BENCH_MB names are measured in place of 64 and 256.
func BenchmarkReplayLong(b *testing.B) {
	if testing.Short() {
		b.Skip("it writes long files")
	}
	sizes := strings.Fields(os.Getenv("PLIMSOLL_BENCH_MB"))
	if len(sizes) == 0 {
		sizes = []string{"64", "256"}
	}
	for _, client := range []string{"claude-code", "codex"} {
		for _, size := range sizes {
			b.Run(client+"/"+size+"MB", func(b *testing.B) { benchLong(b, client, size) })
		}
	}
}

func benchLong(b *testing.B, client, size string) {
	mb, err := strconv.Atoi(size)
	if err != nil {
		b.Fatal(err)
	}
	path, written := writeLong(b, client, mb*1_000_000)
	r := benchReplayer(b, "balanced", false)
	b.SetBytes(int64(written))
	var alive, taken uint64
	segments := 0
	for b.Loop() {
		segments = 0
		f, err := formats.OpenFile(path)
		if err != nil {
			b.Fatal(err)
		}
		err = r.Stream(context.Background(), &f.Session, f.Segments(), func(res replay.Result) error {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			taken = max(taken, now.HeapAlloc)
			if segments++; segments%32 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				alive = max(alive, now.HeapAlloc)
			}
			if res.NotRun != "" || len(res.Runs) != 1 || res.Runs[0].TokensSent == 0 {
				b.Errorf("segment %d: want one run that sends something, got %q, %d runs", res.Segment, res.NotRun, len(res.Runs))
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(segments), "segments")
	b.ReportMetric(float64(alive)/(1<<20), "MiB-live-peak")
	b.ReportMetric(float64(taken)/(1<<20), "MiB-heap-peak")
}

// roundsOf is one Round as two clients write it, and a compaction: #N is the Round's
// number, #P that of the one before, #O an output.
var roundsOf = map[string]struct{ head, round, compaction string }{
	"claude-code": {
		head: `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"long","message":{"role":"user","content":"Dig."}}`,
		round: `{"type":"assistant","uuid":"a#N","parentUuid":"u#P","sessionId":"long","timestamp":"2026-11-01T08:00:00.000Z","message":{"id":"msg_#N","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"I look into well #N."},{"type":"tool_use","id":"toolu_#N","name":"Read","input":{"path":"wells/well_#N.go"}}],"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"user","uuid":"u#N","parentUuid":"a#N","sessionId":"long","timestamp":"2026-11-01T08:00:01.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_#N","content":"#O"}]},"toolUseResult":{"shown":"#O"}}`,
		compaction: `{"type":"system","subtype":"compact_boundary","uuid":"c#N","parentUuid":null,"logicalParentUuid":"u#P","sessionId":"long","compactMetadata":{"trigger":"auto"}}
{"type":"user","uuid":"u#N","parentUuid":"c#N","sessionId":"long","isCompactSummary":true,"message":{"role":"user","content":"So far: a well."}}`,
	},
	"codex": {
		head: `{"type":"session_meta","payload":{"id":"long","cli_version":"1"}}
{"type":"turn_context","payload":{"model":"gpt-5-codex"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}}`,
		round: `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look into well #N."}]}}
{"type":"response_item","payload":{"type":"function_call","call_id":"call_#N","name":"shell","arguments":"{\"command\":\"cat wells/well_#N.go\"}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_#N","output":"#O"}}`,
		compaction: `{"type":"compacted","payload":{"message":"So far: a well.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}]}}`,
	},
}

// writeLong writes a session of about size bytes, with a compaction after every 100
// Rounds, and returns its path and its size.
func writeLong(b *testing.B, client string, size int) (path string, written int) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "long.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w, lines, random := bufio.NewWriterSize(file, 1<<20), roundsOf[client], rand.New(rand.NewPCG(1, 2))
	written, _ = fmt.Fprintln(w, lines.head) // faults show when it is flushed
	for n := 1; written < size; n++ {
		line := lines.round
		if n%100 == 0 {
			line = lines.compaction
		}
		line = strings.NewReplacer("#N", strconv.Itoa(n), "#P", strconv.Itoa(n-1), "#O", output(random)).Replace(line)
		k, _ := fmt.Fprintln(w, line)
		written += k
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return path, written
}

// output returns about 5 kB of lines that are not those of another output.
func output(random *rand.Rand) string {
	words := strings.Fields("func dig depth error return wall water bucket rope stone if for range err nil line count well crank := != { } ( )")
	var text strings.Builder
	for range 110 {
		for range 4 + random.IntN(8) {
			text.WriteString(words[random.IntN(len(words))])
			text.WriteByte(' ')
		}
		fmt.Fprintf(&text, `// %d\n`, random.IntN(100_000))
	}
	return text.String()
}
