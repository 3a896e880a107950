package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// TestBeginsWithReply: a file whose first line is a reply, such as a stream without what
// was asked, runs although the encoder has to put a user message in front of it.
func TestBeginsWithReply(t *testing.T) {
	const stream = `{"type":"system","subtype":"init","session_id":"r-1","model":"claude-sonnet-4-5"}
{"type":"assistant","parent_tool_use_id":null,"session_id":"r-1","message":{"id":"m-1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"The tide turns at six."}],"usage":{"input_tokens":900,"output_tokens":20}}}
{"type":"user","parent_tool_use_id":null,"session_id":"r-1","message":{"role":"user","content":[{"type":"text","text":"And ebb?"}]}}
{"type":"assistant","parent_tool_use_id":null,"session_id":"r-1","message":{"id":"m-2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"At noon."}],"usage":{"input_tokens":950,"output_tokens":20}}}
`
	path := filepath.Join(t.TempDir(), "stream.jsonl")
	if err := os.WriteFile(path, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if res := runOff(t, s, replay.Options{Judge: true}); res.NotRun != "" || len(res.Runs) != 1 || res.Steps != 2 {
		t.Errorf("want one run of two steps, got %d of %d, not run: %q", len(res.Runs), res.Steps, res.NotRun)
	}
}
