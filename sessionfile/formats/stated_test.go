package formats

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestCorpusStated holds what the files of the corpus state against the sums of their calls:
// they are equal, or it is said why not. The table of all of them is logged.
func TestCorpusStated(t *testing.T) {
	root := corpus(t)
	states := map[sessionfile.Format]int{}
	var table strings.Builder
	table.WriteString("| session | line | what | figure | stated | ours | |\n|---|---|---|---|---|---|---|\n")
	for _, path := range files(t, root, folders...) {
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if len(s.Stated) > 0 {
			states[s.Format]++
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		tableOf(&table, name, s)
		for _, d := range s.Check() {
			if d.Why == "" {
				t.Errorf("%s: want an explanation, got %v", name, d)
			}
		}
	}
	t.Log("\n" + table.String())
	want := map[sessionfile.Format]int{
		sessionfile.FormatCodex: 5, sessionfile.FormatCopilot: 1, sessionfile.FormatAider: 1,
		sessionfile.FormatOpenHands: 1, sessionfile.FormatInspect: 2, sessionfile.FormatSWEAgent: 1,
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("files that state totals (-want +got):\n%s", diff)
	}
}

// folders are those of the corpus that have whole sessions.
var folders = []string{
	"aider", "claude-code", "cline", "codex", "copilot-cli", "gemini-cli", "inspect-ai",
	"mini-swe-agent", "openhands", "pi", "swe-agent", "tau-bench",
}

// tableOf writes a row for each figure that a session states.
func tableOf(table *strings.Builder, name string, s *sessionfile.Session) {
	type place struct {
		line        int
		model, name string
	}
	differs := map[place]string{}
	for _, d := range s.Check() {
		differs[place{d.Line, d.Model, string(d.Name)}] = d.Why
	}
	for _, st := range s.Stated {
		for _, f := range st.Figures {
			verdict, ok := differs[place{st.Line, st.Model, string(f.Name)}]
			ours := sumOf(f.Name, s.Segments[st.From:st.To])
			switch {
			case ok:
			case f.Name == sessionfile.FigureCost && ours == 0:
				verdict = "no call states its cost"
			case ours == f.Value:
				verdict = "equal"
			default:
				verdict = fmt.Sprintf("equal within %d", f.Round/2)
			}
			fmt.Fprintf(table, "| %s | %d | %s | %s | %d | %d | %s |\n", name, st.Line, strings.TrimSpace(st.What+" "+st.Model), f.Name, f.Value, ours, verdict)
		}
	}
}
