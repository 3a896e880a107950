package formats

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestStatedByStream: what a stream states of a run is what the client's own recording of
// that session adds up to.
func TestStatedByStream(t *testing.T) {
	stream, err := Open(filepath.Join("testdata", "recorded", "gemini-cli-0.61.0-stream.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := Open(filepath.Join("testdata", "recorded", "gemini-cli-0.61.0.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(stream.Stated) != 1 || stream.ID != chat.ID {
		t.Fatalf("want one total of session %s, got %v of %s", chat.ID, stream.Stated, stream.ID)
	}
	chat.Stated = stream.Stated
	if got := chat.Check(); len(got) > 0 {
		t.Errorf("the total differs from the sum of the calls: %v", got)
	}
}

// explained are the differences between what corpus files state and what their calls add
// up to, by the file's name.
var explained = map[string][]string{
	// No line of Copilot's log has the size of a prompt, nor says what of an output is
	// thinking. Calls and outputs are equal.
	"copilot.jsonl": {
		"line 55: session.shutdown of claude-sonnet-4.6: prompt: 186809 stated, 0 read: the file has no size of the prompt for 6 of 6 calls",
		"line 55: session.shutdown of claude-sonnet-4.6: input: 35071 stated, 0 read: the file has no size of the prompt for 6 of 6 calls",
		"line 55: session.shutdown of claude-sonnet-4.6: cache_read: 151738 stated, 0 read: the file has no size of the prompt for 6 of 6 calls",
		"line 55: session.shutdown of claude-sonnet-4.6: reasoning: 1024 stated, 0 read: no call says what of its output is thinking",
	},
}

// TestCorpusStated holds what the files of the corpus state against the sums of their calls.
func TestCorpusStated(t *testing.T) {
	root := corpus(t)
	states := map[sessionfile.Format]int{}
	for _, path := range files(t, root, "claude-code", "codex", "gemini-cli", "copilot-cli") {
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if len(s.Stated) > 0 {
			states[s.Format]++
		}
		var got []string
		for _, d := range s.Check() {
			got = append(got, d.String())
		}
		if want := explained[filepath.Base(path)]; !slices.Equal(got, want) {
			t.Errorf("%s: want the differences\n%q\ngot\n%q", path, want, got)
		}
	}
	if states[sessionfile.FormatCodex] != 5 || states[sessionfile.FormatCopilot] != 1 {
		t.Errorf("want totals in 5 files of Codex and 1 of Copilot, got %v", states)
	}
}
