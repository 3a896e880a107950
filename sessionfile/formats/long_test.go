package formats

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// longFormats are the formats of which longWriter writes sessions.
var longFormats = []sessionfile.Format{sessionfile.FormatClaudeCode, sessionfile.FormatCodex}

// A longWriter writes a session of Rounds as an agent does: a call, an output of a
// few kilobytes, and every 600 kB of output a compaction.
type longWriter struct {
	out    *bufio.Writer
	size   int64
	since  int64 // bytes since the last compaction
	rounds int
	output string
}

const compactEvery = 600_000

// writeLong writes a session file of about size bytes and returns its path.
func writeLong(t testing.TB, format sessionfile.Format, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &longWriter{out: bufio.NewWriterSize(file, 1<<20), output: strings.Repeat(`func dig(depth int) error { return nil } // a line of the well\n`, 70)}
	round, compaction := w.claudeRound, w.claudeCompaction
	if format == sessionfile.FormatCodex {
		round, compaction = w.codexRound, w.codexCompaction
		w.print(`{"type":"session_meta","payload":{"id":"long","cli_version":"1"}}`)
		w.print(`{"type":"turn_context","payload":{"model":"gpt-5-codex"}}`)
		w.print(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}}`)
	} else {
		w.print(`{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"long","message":{"role":"user","content":"Dig."}}`)
	}
	for w.size < size {
		if w.since > compactEvery {
			compaction()
			w.since = 0
		}
		w.rounds++
		round(w.rounds)
	}
	if err := w.out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// print writes a line. Faults show when the writer is flushed.
func (w *longWriter) print(format string, args ...any) {
	n, _ := fmt.Fprintf(w.out, format+"\n", args...)
	w.size += int64(n)
	w.since += int64(n)
}

func (w *longWriter) codexRound(n int) {
	stamp := fmt.Sprintf("2026-11-01T%02d:%02d:%02d.000Z", n/3600%24, n/60%60, n%60)
	w.print(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","call_id":"call_%d","name":"shell","arguments":"{\"command\":\"cat well_%d.go\"}"}}`, stamp, n, n)
	w.print(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":9000,"output_tokens":40}}}}`, stamp, 9000*n)
	w.print(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":"%d %s"}}`, stamp, n, n, w.output)
}

func (w *longWriter) codexCompaction() {
	w.print(`{"type":"compacted","payload":{"message":"So far: a well.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}]}}`)
}

func (w *longWriter) claudeRound(n int) {
	common := fmt.Sprintf(`"sessionId":"long","timestamp":"2026-11-01T%02d:%02d:%02d.000Z","version":"2.1.0"`, n/3600%24, n/60%60, n%60)
	w.print(`{"type":"assistant","uuid":"a%d","parentUuid":"u%d",%s,"message":{"id":"msg_%d","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"path":"well_%d.go"}}],"usage":{"input_tokens":9000,"output_tokens":40}}}`,
		n, n-1, common, n, n, n)
	w.print(`{"type":"progress","uuid":"p%d","parentUuid":"a%d",%s,"data":{"shown":"%s"}}`, n, n, common, w.output[:1000])
	w.print(`{"type":"user","uuid":"u%d","parentUuid":"p%d",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%d %s"}]},"toolUseResult":{"shown":"%s"}}`,
		n, n, common, n, n, w.output, w.output)
}

// claudeCompaction ends in a line with the id of the last Round's, so that the next one
// goes on from it.
func (w *longWriter) claudeCompaction() {
	n := w.rounds + 1
	w.print(`{"type":"system","subtype":"compact_boundary","uuid":"c%d","parentUuid":null,"logicalParentUuid":"u%d","sessionId":"long","compactMetadata":{"trigger":"auto"}}`, n, n-1)
	w.print(`{"type":"user","uuid":"u%d","parentUuid":"c%d","sessionId":"long","isCompactSummary":true,"message":{"role":"user","content":"So far: a well."}}`, n, n)
	w.rounds = n
}
