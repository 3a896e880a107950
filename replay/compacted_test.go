package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// TestProvidersOwnSummary: in a recorded session whose provider had a summary of its own stand for the
// conversation nothing is lost: the summary is read as it came, and what it stands for. Nor does that
// count twice: from there on a run sends what the provider reads.
func TestProvidersOwnSummary(t *testing.T) {
	const block = `{"type":"compaction","content":"So far: the pilot boards."}`
	line := func(n int, kind, message string) string {
		parent := "null"
		if n > 1 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":"s","version":"2.0.0","timestamp":"2026-05-01T10:0%d:00.000Z","message":%s}`, kind, n, parent, n, message)
	}
	said := func(n, tokens int, content string) string {
		return line(n, "assistant", fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-6","content":[%s],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}`, n, content, tokens))
	}
	const word = `{"type":"text","text":"The pilot boards at the outer buoy."}`
	file := filepath.Join(t.TempDir(), "s.jsonl")
	content := strings.Join([]string{
		line(1, "user", fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("the pilot boards at the outer buoy, and the lines are cast off; ", 4000))),
		said(2, 60_000, word),
		line(3, "user", `{"role":"user","content":"Go on."}`),
		said(4, 300, block+","+word),
		line(5, "user", `{"role":"user","content":"And then?"}`),
		said(6, 330, word),
		line(7, "user", `{"role":"user","content":"And then?"}`),
		said(8, 360, word), "",
	}, "\n")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := formats.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	texts := 0
	for _, e := range s.Segments[0].Entries {
		texts += len(e.Message.Text())
		for _, p := range e.Message.Parts {
			if o, ok := p.(llm.Opaque); ok && o.Compacts == "anthropic" {
				kept = o.Data
			}
		}
	}
	if !bytes.Equal(kept, []byte(block)) || texts < 4000*60 {
		t.Errorf("want the summary as it came and what it stands for, got %s and %d bytes", kept, texts)
	}
	for _, name := range []string{"off", "balanced"} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Catalog: priced(t), Series: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Session(context.Background(), s, func(res replay.Result) error {
				for _, run := range res.Runs {
					for i, want := range []int{60_000, 300, 330, 360} {
						if p := run.Series[i]; p.Tokens != want || i == 3 && p.Bound > 2_000 {
							t.Errorf("step %d: want the %d tokens that the provider read, got %d, at most %d", i+1, want, p.Tokens, p.Bound)
						}
					}
					if run.Series[2].Edits[0].Kind != "provider" || len(run.Series[3].Edits) > 0 {
						t.Errorf("want what the summary stands for taken out once, got %+v and %+v", run.Series[2].Edits, run.Series[3].Edits)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
