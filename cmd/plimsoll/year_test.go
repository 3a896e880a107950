package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkYear sums up the sessions of a year by month: 2,000 files of Claude Code and Codex, 2 GB
// together, of a hundredth of the mean to ten times as much. It writes them below PLIMSOLL_YEAR,
// unless they are there. First is a run that has read none of them, again one that has. Reported
// are the seconds, those of all cores together, and what the program held at most.
func BenchmarkYear(b *testing.B) {
	home := os.Getenv("PLIMSOLL_YEAR")
	if home == "" {
		b.Skip("PLIMSOLL_YEAR is not set: no folder to write 2 GB of sessions to")
	}
	const files, bytes = 2000, 2_000_000_000
	if _, err := os.Stat(filepath.Join(home, ".claude")); errors.Is(err, os.ErrNotExist) {
		if err := writeYear(home, files, bytes); err != nil {
			b.Fatal(err)
		}
	}
	for _, by := range []string{"first", "again"} {
		b.Run(by, func(b *testing.B) {
			most, worked := int64(0), time.Duration(0)
			for b.Loop() {
				cache := filepath.Join(home, "cache")
				if by == "first" {
					if err := os.RemoveAll(cache); err != nil {
						b.Fatal(err)
					}
				}
				cmd := exec.CommandContext(b.Context(), "plimsoll", "sessions", "--by", "month")
				cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+cache)
				out, err := cmd.Output()
				if err != nil || !strings.Contains(string(out), "together") {
					b.Fatalf("%v\n%s", err, out)
				}
				most = max(most, peakKB(cmd.ProcessState))
				worked += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
			b.ReportMetric(worked.Seconds()/float64(b.N), "core-s/run")
			b.ReportMetric(float64(most)/1024, "MiB")
		})
	}
}

// TestYear: what the benchmark writes is read, every file and every call of it.
func TestYear(t *testing.T) {
	home := t.TempDir()
	if err := writeYear(home, 20, 2_000_000); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "plimsoll", "sessions", "--by", "project", "--csv")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	sessions, steps := 0, 0
	for line := range strings.Lines(string(out)) {
		var n, k int
		if name, rest, _ := strings.Cut(line, ","); name != "project" {
			if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ",", " "), "%d %d", &n, &k); err != nil {
				t.Fatal(line, err)
			}
		}
		sessions, steps = sessions+n, steps+k
	}
	if sessions != 20 || steps < 40 {
		t.Errorf("want 20 sessions with dozens of calls, got %d with %d:\n%s", sessions, steps, out)
	}
}

// A yearWriter writes made sessions, of which no text but the outputs' is longer than a line.
type yearWriter struct {
	out    *bufio.Writer
	size   int64
	output string
	at     time.Time
}

// writeYear writes made sessions into the places where their clients keep them.
func writeYear(home string, files, bytes int64) error {
	shares := []int64{1, 3, 5, 10, 20, 30, 50, 81, 200, 600} // of ten files, in hundredths of the mean
	start := time.Date(2025, 12, 1, 8, 0, 0, 0, time.UTC)
	for n := range files {
		at := start.Add(time.Duration(n) * (365 * 24 * time.Hour / time.Duration(files)))
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", n*2_654_435_761%(1<<32), n)
		path := filepath.Join(home, ".claude", "projects", fmt.Sprintf("-home-ada-ship%d", n%20), id+".jsonl")
		write := (*yearWriter).claude
		if n%4 == 3 {
			path = filepath.Join(home, ".codex", "sessions", at.Format("2006/01/02"), "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
			write = (*yearWriter).codex
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		w := &yearWriter{out: bufio.NewWriterSize(file, 1<<20), at: at, output: strings.Repeat(`func dig(depth int) error { return errors.New(\"dry\") } // a line of the well\n`, 30)}
		write(w, id, bytes/files*shares[n%int64(len(shares))]/100)
		if err := errors.Join(w.out.Flush(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// line writes a line a second later than the one before. Faults show when the writer is flushed.
func (w *yearWriter) line(format string, args ...any) {
	w.at = w.at.Add(time.Second)
	n, _ := fmt.Fprintf(w.out, format+"\n", args...)
	w.size += int64(n)
}

func (w *yearWriter) stamp() string { return w.at.Format("2006-01-02T15:04:05.000Z") }

// claude writes what Claude Code does: of a call two lines, its output twice, what hooks do.
func (w *yearWriter) claude(id string, size int64) {
	parent, n := "null", 0
	write := func(kind, rest string) {
		n++
		uuid := fmt.Sprintf("%s-%d", id[:8], n)
		w.line(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/ada/ship%c","sessionId":%q,"version":"2.0.14","gitBranch":"main","type":%q,%s,"uuid":%q,"timestamp":%q}`,
			parent, id[7], id, kind, rest, uuid, w.stamp())
		parent = `"` + uuid + `"`
	}
	write("user", `"message":{"role":"user","content":"Dig a well, and say how deep it is."}`)
	for call := 1; w.size < size; call++ {
		usage := fmt.Sprintf(`"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":900,"cache_read_input_tokens":%d,"output_tokens":90,"service_tier":"standard"}},"requestId":"req_%d"`, 17_000+900*(call%150), call)
		head := fmt.Sprintf(`"message":{"model":"claude-sonnet-4-5-20250929","id":"msg_%s_%d","type":"message","role":"assistant","content":`, id[:8], call)
		write("assistant", head+`[{"type":"text","text":"I look into the well, and then I go on."}],`+usage)
		write("assistant", head+fmt.Sprintf(`[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"cat well_%d.go"}}],`, call, call)+usage)
		if call%2 == 0 {
			write("progress", fmt.Sprintf(`"data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:Bash","command":"%s"},"toolUseID":"toolu_%d"`, w.output[:600], call))
		}
		write("user", fmt.Sprintf(`"message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false}`, call, w.output, w.output))
	}
	write("assistant", `"message":{"model":"claude-sonnet-4-5-20250929","id":"msg_end","type":"message","role":"assistant","content":[{"type":"text","text":"It is deep."}],"stop_reason":"end_turn","usage":{"input_tokens":4,"cache_creation_input_tokens":9,"cache_read_input_tokens":17000,"output_tokens":9}}`)
}

// codex writes what Codex does.
func (w *yearWriter) codex(id string, size int64) {
	write := func(kind, payload string) {
		w.line(`{"timestamp":%q,"type":%q,"payload":%s}`, w.stamp(), kind, payload)
	}
	write("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":%q,"cwd":"/home/ada/ship%c","originator":"codex_exec","cli_version":"0.99.0","source":"exec","model_provider":"openai"}`, id, w.stamp(), id[7]))
	write("turn_context", `{"cwd":"/home/ada","model":"gpt-5-codex","effort":"medium"}`)
	write("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig a well, and say how deep it is."}]}`)
	paid := func(call int) {
		write("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d},`+
			`"last_token_usage":{"input_tokens":9000,"cached_input_tokens":8000,"output_tokens":40,"reasoning_output_tokens":0,"total_tokens":9040},"model_context_window":272000},"rate_limits":null}`, 9000*call, 8000*call, 40*call, 9040*call))
	}
	call := 1
	for ; w.size < size; call++ {
		write("response_item", fmt.Sprintf(`{"type":"reasoning","summary":[],"content":null,"encrypted_content":"%s"}`, strings.Repeat("gAAAAAB", 60)))
		write("response_item", fmt.Sprintf(`{"type":"function_call","call_id":"call_%d","name":"shell","arguments":"{\"command\":\"cat well_%d.go\"}"}`, call, call))
		paid(call)
		write("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, call, w.output+w.output))
	}
	write("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is deep."}]}`)
	paid(call)
}
