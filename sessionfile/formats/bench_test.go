package formats

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// BenchmarkRead reads the corpus, format by format: whole with Open, and as a stream
// with OpenFile and Segments. MB are those of the files.
func BenchmarkRead(b *testing.B) {
	byFormat := map[string][]string{}
	for _, path := range files(b, corpus(b), ".") {
		if s, err := Open(path); err == nil {
			byFormat[string(s.Format)] = append(byFormat[string(s.Format)], path)
		}
	}
	for _, format := range slices.Sorted(maps.Keys(byFormat)) {
		b.Run(format, func(b *testing.B) { benchRead(b, byFormat[format]...) })
	}
}

// madeBytes is the size of a session that is made to be read. What is this small is
// read once and held; madeStream is not.
const (
	madeBytes  = 4 << 20
	madeStream = 48 << 20
)

// BenchmarkReadMade is BenchmarkRead with a session of each kind of file that is made
// for it, and without compactions where it is one document.
func BenchmarkReadMade(b *testing.B) {
	for _, size := range []int64{madeBytes, madeStream} {
		mb := fmt.Sprintf("%dMB/", size>>20)
		for _, format := range longFormats {
			b.Run(mb+string(format), func(b *testing.B) { benchRead(b, writeLong(b, format, size)) })
		}
		for _, client := range slices.Sorted(maps.Keys(longAgents)) {
			b.Run(mb+client, func(b *testing.B) {
				path, _ := writeLongAgent(b, client, int(size))
				benchRead(b, path)
			})
		}
		for _, name := range slices.Sorted(maps.Keys(made)) {
			b.Run(mb+name, func(b *testing.B) { benchRead(b, writeMade(b, name, size)) })
		}
	}
}

func benchRead(b *testing.B, paths ...string) {
	b.Run("open", func(b *testing.B) {
		benchFiles(b, paths, func(path string) error {
			_, err := Open(path)
			return err
		})
	})
	b.Run("stream", func(b *testing.B) { benchFiles(b, paths, stream) })
}

func benchFiles(b *testing.B, paths []string, read func(path string) error) {
	var size int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range paths {
			if err := read(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// stream reads a file as a stream and drops every segment.
func stream(path string) error {
	f, err := OpenFile(path)
	if err != nil {
		return err
	}
	for _, err := range f.Segments() {
		if err != nil {
			_ = f.Close()
			return err
		}
	}
	return f.Close()
}

// BenchmarkStream1GB streams a session of 1 GB that it writes first, and reports
// the most that was alive while it held a segment.
func BenchmarkStream1GB(b *testing.B) {
	const size = 1_000_000_000
	for _, format := range longFormats {
		b.Run(string(format), func(b *testing.B) {
			if testing.Short() {
				b.Skip("it writes a file of 1 GB")
			}
			path := writeLong(b, format, size)
			b.SetBytes(size)
			var peak uint64
			for b.Loop() {
				f, err := OpenFile(path)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for segment, err := range f.Segments() {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n%64 == 0 {
						peak = max(peak, liveHeap())
					}
					runtime.KeepAlive(segment)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "MiB-live-peak")
		})
	}
}

// made are files that are one document, and two that are not: what stands in front, one
// Round, and what stands behind, with #N for the Round's number, #S for words of a person
// or the model, #O for an output.
var made = map[string]struct{ head, round, between, tail string }{
	"gemini-cli-document": {
		`{"sessionId":"s","projectHash":"h","startTime":"t","messages":[{"id":"u","timestamp":"","type":"user","content":"Dig."}`,
		`,{"id":"m#N","timestamp":"2026-03-01T08:00:00Z","type":"gemini","content":"#S","model":"m","tokens":{"input":9000,"output":40},"toolCalls":[{"id":"t#N","name":"read","args":{"path":"w#N.go"},"result":[{"functionResponse":{"id":"t#N","name":"read","response":{"output":"#O"}}}]}]}`, "", `]}`,
	},
	"cline": {
		`{"version":1,"updated_at":"t","agent":"lead","sessionId":"c","system_prompt":"Dig wells.","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"Dig."}],"ts":1}`,
		`,{"id":"a#N","role":"assistant","content":[{"type":"text","text":"#S"},{"type":"tool_use","id":"t#N","name":"read","input":{"path":"w#N.go"}}],"ts":1783376873493,"modelInfo":{"id":"m","provider":"p"},"metrics":{"inputTokens":1000,"outputTokens":20,"cacheReadTokens":600,"cacheWriteTokens":100,"cost":0.25}},{"id":"r#N","role":"user","content":[{"type":"tool_result","tool_use_id":"t#N","content":"#O"}],"ts":1783376873499}`, "", `]}`,
	},
	"opencode": {
		`{"info":{"id":"s","directory":"/","version":"1.0.0","time":{"created":1,"updated":2}},"messages":[{"info":{"id":"u","role":"user","time":{"created":1767348000000}},"parts":[{"type":"text","text":"Dig."}]}`,
		`,{"info":{"id":"m#N","role":"assistant","parentID":"u","modelID":"m","providerID":"anthropic","time":{"created":1767348001000,"completed":1767348001500},"finish":"tool-calls","cost":0,"tokens":{"input":5,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}},"parts":[{"type":"step-start"},{"type":"text","text":"#S"},{"type":"tool","callID":"t#N","tool":"read","state":{"status":"completed","input":{"path":"w#N.go"},"output":"#O","title":"","metadata":{},"time":{"start":1767348001000,"end":1767348001200}}},{"type":"step-finish","reason":"tool-calls","cost":0.01,"tokens":{"input":5,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}]}`, "", `]}`,
	},
	"inspect": {
		`{"version":2,"status":"success","eval":{"eval_id":"e","run_id":"r","task_id":"t","task":"wells","model":"acme/moon"},"samples":[{"id":1,"epoch":1,"messages":[{"id":"u","role":"user","source":"input","content":"Dig."}`,
		`,{"id":"a#N","role":"assistant","source":"generate","model":"m","content":"#S","tool_calls":[{"id":"c#N","function":"read","arguments":{"path":"w#N.go"},"type":"function"}]},{"id":"r#N","role":"tool","tool_call_id":"c#N","function":"read","content":"#O"}`, "", `],"events":[]}]}`,
	},
	"openhands": {
		`[{"id":1,"timestamp":"2026-03-01T08:00:01","source":"agent","action":"system","args":{"content":"Dig wells."}},{"id":2,"timestamp":"2026-03-01T08:00:02","source":"user","action":"message","args":{"content":"Dig."}}`,
		`,{"id":1#N,"timestamp":"2026-03-01T08:00:04","source":"agent","action":"run","args":{"command":"cat w#N.go","thought":"#S"},"tool_call_metadata":{"function_name":"run","tool_call_id":"c#N","model_response":{"id":"r#N","model":"m","usage":{"prompt_tokens":9000,"completion_tokens":40},"choices":[{"message":{"role":"assistant","content":"#S","tool_calls":[{"id":"c#N","type":"function","function":{"name":"run","arguments":"{\"command\":\"cat w#N.go\"}"}}]}}]}}},{"id":2#N,"timestamp":"2026-03-01T08:00:05","source":"agent","cause":1#N,"observation":"run","content":"#O","extras":{"command":"cat"},"tool_call_metadata":{"tool_call_id":"c#N"}}`, "", `]`,
	},
	"swe-agent": {
		`{"environment":"main","trajectory":[],"info":{},"history":[{"role":"system","content":"Dig wells.","agent":"main","message_type":"system_prompt"},{"role":"user","content":"Dig.","agent":"main","message_type":"observation"}`,
		`,{"role":"assistant","content":"#S","thought":"#S","action":"cat","agent":"main","tool_calls":[{"function":{"name":"bash","arguments":"{\"command\":\"cat w#N.go\"}"},"id":"c#N","type":"function"}]},{"role":"tool","content":[{"type":"text","text":"#O"}],"agent":"main","tool_call_ids":["c#N"]}`, "", `]}`,
	},
	"mini-swe-agent": {
		`{"info":{"mini_version":"2.3.0","config":{"model":{"model_name":"acme/hull"}}},"messages":[{"role":"system","content":"Dig wells."},{"role":"user","content":"Dig."}`,
		`,{"role":"assistant","content":"#S","tool_calls":[{"id":"c#N","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat w#N.go\"}"}}],"extra":{"timestamp":1772352000.25,"cost":0.0000855,"response":{"id":"r","model":"m","usage":{"prompt_tokens":1689,"completion_tokens":76}}}},{"role":"tool","tool_call_id":"c#N","content":"#O","extra":{"timestamp":1772352001.5}}`, "", `],"trajectory_format":"mini-swe-agent-1.1","instance_id":"well-7"}`,
	},
	"tau-bench": {
		`[`,
		`{"task_id":#N,"reward":1.0,"info":{},"trial":0,"traj":[{"role":"system","content":"Dig wells."},{"role":"user","content":"#S"},{"role":"assistant","content":null,"tool_calls":[{"id":"c#N","type":"function","function":{"name":"read","arguments":"{\"path\":\"w#N.go\"}"}}]},{"role":"tool","tool_call_id":"c#N","name":"read","content":"#O"},{"role":"assistant","content":"#S"}]}`, ",", `]`,
	},
	"aider": {
		"\n# aider chat started at 2026-03-01 08:00:00\n\n> Aider v0.80.0\n> Main model: m\n\n",
		"#### dig well #N\n\n#S\n\n#O\n\n> Tokens: 4.2k sent, 120 received.\n\n", "", "",
	},
	"anthropic-request": {
		`{"model":"claude-x","max_tokens":100,"messages":[{"role":"user","content":"Dig."}`,
		`,{"role":"assistant","content":[{"type":"text","text":"#S"},{"type":"tool_use","id":"t#N","name":"read","input":{"path":"w#N.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t#N","content":"#O"}]}`, "", `]}`,
	},
	"openai-chat-request": {
		`{"model":"gpt-x","messages":[{"role":"user","content":"Dig."}`,
		`,{"role":"assistant","content":"#S","tool_calls":[{"id":"t#N","type":"function","function":{"name":"read","arguments":"{\"path\":\"w#N.go\"}"}}]},{"role":"tool","tool_call_id":"t#N","content":"#O"}`, "", `]}`,
	},
	"openai-responses-request": {
		`{"model":"gpt-x","input":[{"role":"user","content":"Dig."}`,
		`,{"type":"function_call","call_id":"t#N","name":"read","arguments":"{\"path\":\"w#N.go\"}"},{"type":"function_call_output","call_id":"t#N","output":"#O"}`, "", `]}`,
	},
	"gemini-request": {
		`{"contents":[{"role":"user","parts":[{"text":"Dig."}]}`,
		`,{"role":"model","parts":[{"text":"#S"},{"functionCall":{"id":"t#N","name":"read","args":{"path":"w#N.go"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"t#N","name":"read","response":{"output":"#O"}}}]}`, "", `]}`,
	},
}

// writeMade writes a file of about size bytes and returns its path.
func writeMade(b *testing.B, name string, size int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }() // faults show when it is flushed
	m, w, written := made[name], bufio.NewWriter(file), 0
	output := strings.Repeat(`func dig(depth int) error { return errors.New(\"dry\") } // a line of the well\n`, 50)
	if name == "aider" {
		output = strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(output)
	}
	say := strings.Repeat("I look into the well, and then I go on. ", 8)
	_, _ = w.WriteString(m.head)
	for n := 1; written < int(size); n++ {
		round := strings.NewReplacer("#N", fmt.Sprint(n), "#S", say, "#O", output).Replace(m.round)
		if n > 1 {
			round = m.between + round
		}
		k, _ := w.WriteString(round)
		written += k
	}
	_, _ = w.WriteString(m.tail)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if s, err := Open(path); err != nil || len(s.Segments) == 0 || len(s.Problems) > 1 || !strings.HasPrefix(name, string(s.Format)) {
		b.Fatalf("%s: want segments without problems, got %v, %v", name, s, err)
	}
	return path
}
