package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// task writes the files of a task of Cline's editor extension into a folder.
func task(t *testing.T) (folder, history, shown string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "1761")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"history", "shown"} {
		archive, err := txtar.ParseFile("testdata/cline/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, archive.Files[0].Name), archive.Files[0].Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, filepath.Join(folder, "api_conversation_history.json"), filepath.Join(folder, "ui_messages.json")
}

// TestClineTask: the history gives the messages, what was shown of it the usage of each
// call and which messages were left out; together they are one session.
func TestClineTask(t *testing.T) {
	folder, history, shown := task(t)
	if got, err := Find([]string{folder}); err != nil || !cmp.Equal(got, []string{history}) {
		t.Errorf("sessions of the folder: want %s, got %v, %v", history, got, err)
	}
	s, err := Open(history)
	if err != nil {
		t.Fatal(err)
	}
	checkSession(t, s)
	checkEncoded(t, s)
	want := `cline 1761 by cline 
segment root
  2 user/note: "<environment_details>\nVisible files: none\n</environment_details>"
  2 user/human: "<task>\nPrune the roses.\n</task>"
  16 assistant/model: "I look." call(t1 read_file {"path":"roses.txt"})
    step claude-x in 100, read 0, written 200+0, out 20, cost 1000000000, message resp-1, reported
  40 tool/tool: result(t1 "red")
  40 user/note: "<environment_details>\nVisible files: none\n</environment_details>"
  55 assistant/model: "They are red."
    step claude-x in 30, read 300, written 0+0, out 5, cost 500000000, reported
  65 user/note: "[attempt_completion] Result: done" "<environment_details>\nVisible files: none\n</environment_details>"
  65 user/human: "The user has provided feedback:\n<feedback>\nAnd lilies?\n</feedback>"
segment compaction
  2 user/note: "<environment_details>\nVisible files: none\n</environment_details>"
  2 user/human: "<task>\nPrune the roses.\n</task>"
  55 assistant/model: "They are red."
  65 user/note: "[attempt_completion] Result: done" "<environment_details>\nVisible files: none\n</environment_details>"
  65 user/human: "The user has provided feedback:\n<feedback>\nAnd lilies?\n</feedback>"
  83 assistant/model: "Lilies are white."
    step claude-x in 50, read 200, written 0+0, out 6, cost 400000000, reported
  0 assistant/model: "[a reply, not in the session file]"
    step claude-x in 10, read 0, written 0+0, out 0, prompt reported
  failed 0 after 0: unclassified: "no network"
  failed 0 after 2: stopped: ""
problem 101: a message of the role "oracle", skipped
`
	if diff := cmp.Diff(want, show(s)); diff != "" {
		t.Errorf("read differs (-want +got):\n%s", diff)
	}
	checkStream(t, history)

	if err := os.Remove(history); err != nil {
		t.Fatal(err)
	}
	if got, err := Find([]string{folder}); err != nil || !cmp.Equal(got, []string{shown}) {
		t.Errorf("sessions without the history: want %s, got %v, %v", shown, got, err)
	}
}

// TestClineTaskModels: the model of a call of which neither file says it is the one that was
// asked at its time, as the task's third file says.
func TestClineTaskModels(t *testing.T) {
	write := func(files map[string]string) (folder string) {
		folder = filepath.Join(t.TempDir(), "1762")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	const history = `[{"role":"user","content":[{"type":"text","text":"<task>\nDig.\n</task>"}]},{"role":"assistant","content":[{"type":"text","text":"One."}]},
{"role":"user","content":[{"type":"text","text":"<feedback>\nOn.\n</feedback>"}]},{"role":"assistant","content":[{"type":"text","text":"Two."}]}]`
	const shown = `[{"ts":1776000000000,"type":"say","say":"task","text":"Dig."},
{"ts":1776000000020,"type":"say","say":"api_req_started","text":"{\"tokensIn\":10,\"tokensOut\":2}","conversationHistoryIndex":-1},
{"ts":1776000009020,"type":"say","say":"api_req_started","text":"{\"tokensIn\":20,\"tokensOut\":2}","conversationHistoryIndex":1}]`
	const metadata = `{"files_in_context":[],"model_usage":[{"ts":1776000000010,"model_id":"plan-x","model_provider_id":"p","mode":"plan"},
{"ts":1776000009010,"model_id":"act-y","model_provider_id":"p","mode":"act"}],"environment_history":[{"ts":1,"cline_version":"3.40.0"}]}`
	for name, c := range map[string]struct {
		files map[string]string
		open  string
		want  []string
	}{
		"beside the history": {
			map[string]string{"api_conversation_history.json": history, "ui_messages.json": shown, "task_metadata.json": metadata},
			"api_conversation_history.json",
			[]string{"plan-x", "act-y"},
		},
		"beside what was shown": {map[string]string{"ui_messages.json": shown, "task_metadata.json": metadata}, "ui_messages.json", []string{"plan-x", "act-y"}},
		"no file of it":         {map[string]string{"api_conversation_history.json": history, "ui_messages.json": shown}, "api_conversation_history.json", []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(c.files)
			path := filepath.Join(folder, c.open)
			if got, err := Find([]string{folder}); err != nil || !cmp.Equal(got, []string{path}) {
				t.Errorf("sessions of the folder: want %s, got %v, %v", path, got, err)
			}
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range s.Segments[0].Entries {
				if e.Step != nil {
					got = append(got, e.Step.Model)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
			if version := map[bool]string{true: "3.40.0"}[c.files["task_metadata.json"] != ""]; s.ClientVersion != version {
				t.Errorf("version: want %q, got %q", version, s.ClientVersion)
			}
			checkStream(t, path)
		})
	}
}

// TestClineTaskBeside: what lies beside is read only if it is a file of this folder, and
// what cannot be read of it is a problem.
func TestClineTaskBeside(t *testing.T) {
	reported := func(s *sessionfile.Session) (n int) {
		for _, segment := range s.Segments {
			for _, e := range segment.Entries {
				if e.Step != nil && e.Step.Usage.CacheRead == 300 {
					n++
				}
			}
		}
		return n
	}
	for name, change := range map[string]func(shown string) error{
		"a link": func(shown string) error {
			outside := filepath.Join(t.TempDir(), "ui_messages.json")
			if err := os.Rename(shown, outside); err != nil {
				return err
			}
			return os.Symlink(outside, shown)
		},
		"a folder": func(shown string) error {
			if err := os.Remove(shown); err != nil {
				return err
			}
			return os.Mkdir(shown, 0o700)
		},
		"no JSON": func(shown string) error { return os.WriteFile(shown, []byte("[{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			_, history, shown := task(t)
			if err := change(shown); err != nil {
				t.Skipf("not possible here: %v", err)
			}
			s, err := Open(history)
			if err != nil {
				t.Fatal(err)
			}
			if reported(s) != 0 || len(s.Problems) != 2 || !strings.Contains(s.Problems[0].What, "ui_messages.json beside it, left out") {
				t.Errorf("want no usage of the file beside, and a line that says so, got %v", s.Problems)
			}
		})
	}
}

// FuzzTask reads a task of which the file beside holds any bytes.
func FuzzTask(f *testing.F) {
	var files [][]byte
	for _, name := range []string{"history", "shown"} {
		archive, err := txtar.ParseFile("testdata/cline/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, archive.Files[0].Data)
	}
	f.Add(files[0], files[1])
	f.Add(files[0], []byte(`[{"ts":1,"type":"say","say":"api_req_started","text":"{\"tokensIn\":9}"},{"ts":2,"type":"ask","ask":"tool","conversationHistoryDeletedRange":[1,9]}]`))
	f.Fuzz(func(t *testing.T, history, shown []byte) {
		folder := t.TempDir()
		path := filepath.Join(folder, "api_conversation_history.json")
		for name, b := range map[string][]byte{path: history, filepath.Join(folder, "ui_messages.json"): shown} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := Open(path); err == nil {
			checkSession(t, s)
		}
	})
}
