package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// transcript writes a session of Claude Code with calls of these prompts, ten seconds apart,
// each reply on two lines.
func transcript(t *testing.T, more string, prompts ...int) (path string, end time.Time) {
	t.Helper()
	var b strings.Builder
	at := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	for i, n := range prompts {
		at = at.Add(10 * time.Second)
		for range 2 {
			fmt.Fprintf(&b, `{"type":"assistant","timestamp":%q,"message":{"id":"m%d","model":"claude-sonnet-4-5","usage":{"input_tokens":4,"cache_read_input_tokens":%d,"output_tokens":9%s}}}`+"\n", at.Format(time.RFC3339), i, n-4, more)
		}
	}
	path = filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, at
}

func TestStatusline(t *testing.T) {
	cat, err := loadCatalog("")
	if err != nil {
		t.Fatal(err)
	}
	grows := []int{20_000, 30_000, 40_000, 50_000}
	for _, c := range []struct {
		name, more, in string
		prompts        []int
		after          time.Duration
		want           string
	}{
		{"warm", "", `{"cost":{"total_cost_usd":1.5}}`, grows, time.Minute, "50,000 of 200,000 tokens (25%) | cache warm for 4m | $1.50 | about 15 steps left"},
		{"cold", "", `{}`, grows, 6 * time.Minute, "50,000 of 200,000 tokens (25%) | cache cold | about 15 steps left"},
		{"kept for an hour", `,"cache_creation_input_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":1}`, `{}`, []int{50_000}, 6 * time.Minute, "50,001 of 200,000 tokens (25%) | cache warm for 54m"},
		{"what the client says counts", "", `{"context_window":{"context_window_size":1000000,"current_usage":{"input_tokens":100000}}}`, grows, time.Minute, "100,000 of 1,000,000 tokens (10%) | cache warm for 4m | about 90 steps left"},
		{"a prompt that shrank has no rate", "", `{}`, []int{90_000, 20_000}, time.Minute, "20,000 of 200,000 tokens (10%) | cache warm for 4m"},
		{"nothing yet", "", `{}`, nil, 0, "no call yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, end := transcript(t, c.more, c.prompts...)
			var in status
			if err := json.Unmarshal([]byte(c.in), &in); err != nil {
				t.Fatal(err)
			}
			if got := in.line(cat, lastCalls(path), end.Add(c.after)); got != c.want {
				t.Errorf("want %s\ngot  %s", c.want, got)
			}
		})
	}
}

// After a compaction the calls before it say nothing, and a sub-agent's never do.
func TestStatuslineCompacted(t *testing.T) {
	path, _ := transcript(t, "", 20_000, 190_000)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"system","subtype":"compact_boundary"}
{"type":"assistant","message":{"id":"n1","usage":{"input_tokens":30000}}}
{"type":"assistant","isSidechain":true,"message":{"id":"n2","usage":{"input_tokens":90000}}}
`)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if calls := lastCalls(path); err != nil || len(calls) != 1 || calls[0].use.prompt() != 30_000 {
		t.Errorf("want the one call since the compaction, got %+v, %v", calls, err)
	}
}
