package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

func said(id int, origin llm.Origin, text string) llm.Message {
	role := llm.RoleUser
	if origin == llm.Model {
		role = llm.RoleAssistant
	}
	return llm.Message{ID: llm.MessageID(id), Role: role, Origin: origin, Parts: []llm.Part{llm.Text{Text: text}}}
}

// used returns a call and its result as two messages with the ids id and id+1.
func used(id int, tool, args, output string, failed bool) []llm.Message {
	callID := fmt.Sprintf("call_%d", id)
	return []llm.Message{
		{
			ID: llm.MessageID(id), Role: llm.RoleAssistant, Origin: llm.Model,
			Parts: []llm.Part{llm.ToolCall{CallID: callID, Name: tool, Args: args}},
		},
		{
			ID: llm.MessageID(id + 1), Role: llm.RoleTool, Origin: llm.ToolRun,
			Parts: []llm.Part{llm.ToolResult{CallID: callID, IsError: failed, Content: []llm.Part{llm.Text{Text: output}}}},
		},
	}
}

func factsOf(messages ...[]llm.Message) summary.Facts {
	var c summary.Collector
	for _, some := range messages {
		for _, m := range some {
			c.Add(m)
		}
	}
	return c.Facts()
}

const patch = `*** Begin Patch
*** Add File: lib/new.go
+package lib
*** Update File: lib/old.go
@@
-a
+b
*** Update File: lib/from.go
*** Move to: lib/to.go
*** Delete File: lib/dead.go
*** End Patch
`

var patched = []summary.File{
	{Path: "lib/new.go", Writes: 1},
	{Path: "lib/old.go", Writes: 1},
	{Path: "lib/from.go", Deletions: 1, Deleted: true},
	{Path: "lib/to.go", Writes: 1},
	{Path: "lib/dead.go", Deletions: 1, Deleted: true},
}

func TestFilesByToolShape(t *testing.T) {
	read := func(path string) []summary.File { return []summary.File{{Path: path, Reads: 1}} }
	written := func(path string) []summary.File { return []summary.File{{Path: path, Writes: 1}} }
	for _, tt := range []struct {
		tool, args string
		want       []summary.File
	}{
		{"Read", `{"file_path":"/src/a.go","limit":20}`, read("/src/a.go")},
		{"read_file", `{"path":"a.go"}`, read("a.go")},
		{"readFile", `{"filePath":"a.go"}`, read("a.go")},
		{"mcp__files__read_text_file", `{"path":"a.txt"}`, read("a.txt")},
		{"functions.read_file", `{"target_file":"a.txt"}`, read("a.txt")},
		{"read_many_files", `{"paths":["a","b"]}`, []summary.File{{Path: "a", Reads: 1}, {Path: "b", Reads: 1}}},
		{"Write", `{"file_path":"b.go","content":"package b"}`, written("b.go")},
		{"write_to_file", `{"path":"b.go","content":"x"}`, written("b.go")},
		{"Edit", `{"file_path":"b.go","old_string":"x","new_string":"y"}`, written("b.go")},
		{"MultiEdit", `{"file_path":"b.go","edits":[]}`, written("b.go")},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"1"}`, written("n.ipynb")},
		{"str_replace_editor", `{"command":"view","path":"c.py"}`, read("c.py")},
		{"str_replace_based_edit_tool", `{"command":"str_replace","path":"c.py","old_str":"a","new_str":"b"}`, written("c.py")},
		{"str_replace_based_edit_tool", `{"command":"ponder","path":"c.py"}`, nil},
		{"delete_file", `{"path":"gone.txt"}`, []summary.File{{Path: "gone.txt", Deletions: 1, Deleted: true}}},
		{"move_file", `{"source":"x","destination":"y"}`, []summary.File{{Path: "x", Deletions: 1, Deleted: true}, {Path: "y", Writes: 1}}},
		{"apply_patch", patch, patched},
		{"apply_patch", fmt.Sprintf(`{"input":%q}`, patch), patched},
		{"shell", fmt.Sprintf(`{"command":["apply_patch",%q]}`, patch), patched},
		// Tools that nobody has heard of are known by what they are given.
		{"scribble", `{"file_path":"d.md","content":"text"}`, written("d.md")},
		{"tinker", `{"path":"d.md","old_str":"a","new_str":"b"}`, written("d.md")},
		{"amend", fmt.Sprintf(`{"diff":%q}`, patch), patched},
		// What is not known is not guessed.
		{"ponder", `{"path":"d.md"}`, nil},
		{"Grep", `{"pattern":"x","path":"src"}`, nil},
		{"Read", `{"file_path":17}`, nil},
		{"Read", `not JSON`, nil},
		{"Read", `{"file_path":"  "}`, nil},
	} {
		t.Run(tt.tool+" "+tt.args[:min(len(tt.args), 30)], func(t *testing.T) {
			if diff := cmp.Diff(tt.want, factsOf(used(1, tt.tool, tt.args, "fine", false)).Files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesAreCountedWhenTheResultArrives(t *testing.T) {
	call := used(1, "Write", `{"file_path":"a.go","content":""}`, "", false)[:1]
	f := factsOf(call)
	if len(f.Files) != 0 || len(f.Open) != 1 || f.Open[0].Text != "Write a.go" {
		t.Errorf("an open call: files %v, open %v", f.Files, f.Open)
	}
	f = factsOf(used(1, "Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "old_string not found", true))
	if len(f.Files) != 0 || len(f.Errors) != 1 {
		t.Errorf("a failed call: files %v, errors %v", f.Files, f.Errors)
	}
	f = factsOf(
		used(1, "Read", `{"file_path":"a.go"}`, "x", false),
		used(3, "Edit", `{"file_path":"a.go","old_string":"x"}`, "ok", false),
		used(5, "Read", `{"file_path":"a.go"}`, "y", false),
		used(7, "delete_file", `{"path":"a.go"}`, "ok", false),
	)
	want := []summary.File{{Path: "a.go", Reads: 2, Writes: 1, Deletions: 1, Deleted: true}}
	if diff := cmp.Diff(want, f.Files); diff != "" {
		t.Error(diff)
	}
}

func TestCommandsByToolShape(t *testing.T) {
	for _, tt := range []struct {
		name, tool, args, output string
		isError                  bool
		want                     summary.Command
	}{
		{"plain", "Bash", `{"command":"go vet ./...","description":"vet"}`, "", false, summary.Command{Line: "go vet ./..."}},
		{"words and a folder", "shell", `{"command":["ls","-l","my dir"],"workdir":"/src"}`, "total 0", false, summary.Command{Line: "ls -l 'my dir'", Dir: "/src", Result: "total 0"}},
		{"a shell around a string", "shell", `{"command":["bash","-lc","make test"]}`, "", false, summary.Command{Line: "make test"}},
		{"cmd", "exec_command", `{"cmd":"make"}`, "", false, summary.Command{Line: "make"}},
		{"free text", "terminal", "make all", "", false, summary.Command{Line: "make all"}},
		{"unknown tool", "labour", `{"cmd":"make"}`, "", false, summary.Command{Line: "make"}},
		{"several lines", "Bash", `{"command":"cat <<E\nx\nE"}`, "x", false, summary.Command{Line: "cat <<E …", Result: "x"}},
		{"exit code on top", "Bash", `{"command":"make"}`, "Exit code 2\nmake: *** no rule", true, summary.Command{Line: "make", Exit: 2, ExitKnown: true, Failed: true, Result: "make: *** no rule"}},
		{"exit code in a header", "exec_command", `{"cmd":"make"}`, "Chunk ID: 1f\nWall time: 0.2 seconds\nProcess exited with code 1\nOriginal token count: 9\nOutput:\ncc a.c\na.c:1: error: no\n", false, summary.Command{Line: "make", Exit: 1, ExitKnown: true, Failed: true, Result: "a.c:1: error: no"}},
		{"exit code in a header, all well", "shell", `{"command":["make"]}`, "Exit code: 0\nWall time: 1 seconds\nOutput:\nbuilt\n", false, summary.Command{Line: "make", ExitKnown: true, Result: "built"}},
		{"still running", "exec_command", `{"cmd":"serve"}`, "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\nlistening\n", false, summary.Command{Line: "serve", Running: true, Result: "listening"}},
		{"exit code at the end", "run_shell_command", `{"command":"make"}`, "Command: make\nOutput: nothing\nExit Code: 3\nSignal: 0", false, summary.Command{Line: "make", Exit: 3, ExitKnown: true, Failed: true, Result: "Command: make"}},
		{"exit code in angle brackets", "bash", `{"command":"make"}`, "done\n<exited with exit code 0>", false, summary.Command{Line: "make", ExitKnown: true, Result: "done"}},
		{"exit code in JSON", "shell", `{"command":["make"]}`, `{"output":"ok\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`, false, summary.Command{Line: "make", ExitKnown: true, Result: "ok"}},
		{"failure in JSON", "shell", `{"command":["make"]}`, `{"output":"fatal: broken\n","metadata":{"exit_code":-1}}`, false, summary.Command{Line: "make", Exit: -1, ExitKnown: true, Failed: true, Result: "fatal: broken"}},
		{"a number that is no integer", "shell", `{"command":["make"]}`, `{"output":"ok","metadata":{"exit_code":0.5}}`, false, summary.Command{Line: "make", Result: "ok"}},
		{"a document that speaks of exit codes", "Bash", `{"command":"cat doc"}`, strings.Repeat("text\n", 30) + "Exit code: 9\n" + strings.Repeat("text\n", 30), false, summary.Command{Line: "cat doc", Result: "text"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Times = 1
			f := factsOf(used(1, tt.tool, tt.args, tt.output, tt.isError))
			if diff := cmp.Diff([]summary.Command{tt.want}, f.Commands); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestErrorsUntilTheSameCallSucceeds(t *testing.T) {
	const makeArgs = `{"command":"make"}`
	failing := used(1, "Bash", makeArgs, "Exit code 1\ncc a.c\na.c:3: error: expected ';'\nmake: stop", true)
	f := factsOf(failing, used(3, "Bash", makeArgs, "Exit code 1\na.c:3: error: expected ';'", true))
	want := []summary.Fault{{Subject: "make", Text: "a.c:3: error: expected ';'", Times: 2}}
	if diff := cmp.Diff(want, f.Errors); diff != "" {
		t.Fatal(diff)
	}
	f = factsOf(failing, used(3, "Bash", `{"command":"make other"}`, "ok", false))
	if f.Errors[0].Resolved {
		t.Error("another command resolved the error")
	}
	f = factsOf(failing, used(3, "Bash", makeArgs, "ok", false))
	if !f.Errors[0].Resolved {
		t.Error("the same command succeeded, and the error still stands")
	}
	f = factsOf(failing, used(3, "Bash", makeArgs, "ok", false), used(5, "Bash", makeArgs, "a.c:3: error: expected ';'", true))
	if f.Errors[0].Resolved || f.Errors[0].Times != 2 {
		t.Errorf("it came back: %+v", f.Errors[0])
	}
	f = factsOf(used(1, "Read", `{"file_path":"x"}`, "<tool_use_error>File does not exist: no such file.</tool_use_error>", true))
	want = []summary.Fault{{Subject: "Read x", Text: "File does not exist: no such file.", Times: 1}}
	if diff := cmp.Diff(want, f.Errors); diff != "" {
		t.Error(diff)
	}
	f = factsOf(used(1, "Bash", `{"command":"grep x y"}`, "Exit code 1", true))
	if len(f.Errors) != 0 || !f.Commands[0].Failed {
		t.Errorf("a search without a hit: %+v, %+v", f.Errors, f.Commands)
	}
}

func TestStatedDecisionsAndTodos(t *testing.T) {
	text := strings.Join([]string{
		"I looked around. We decided to keep the old parser.",
		"**Decision:** tabs, not spaces",
		"- we will ship on Monday",
		"The outcome is undecided as of now, we chose nothing.",
		"```",
		"// TODO: inside code this is not ours",
		"```",
		"TODO: write the guide",
		"- [ ] rename the flag",
		"- [x] add the flag",
		"Next steps:",
		"1. run the tests",
		"2. tag the release",
		"",
		"That is all, mastodons included.",
		"next: sleep",
	}, "\n")
	f := factsOf([]llm.Message{said(1, llm.Human, "go"), said(2, llm.Model, text)})
	texts := func(list []summary.Statement) []string {
		var all []string
		for _, s := range list {
			all = append(all, s.Text)
		}
		return all
	}
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"decisions", texts(f.Decisions), []string{
			"I looked around. We decided to keep the old parser.", "tabs, not spaces", "we will ship on Monday",
			"The outcome is undecided as of now, we chose nothing.",
		}},
		{"todos", texts(f.Todos), []string{"write the guide", "rename the flag", "run the tests", "tag the release", "sleep"}},
		{"done", texts(f.Done), []string{"add the flag"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	f = factsOf([]llm.Message{said(1, llm.Model, text), said(2, llm.Model, "- [x] Rename  the flag")})
	if got := texts(f.Todos); strings.Contains(strings.Join(got, "|"), "rename") {
		t.Errorf("a finished todo is still open: %q", got)
	}
	f = factsOf([]llm.Message{said(1, llm.Note, text)})
	if len(f.Todos)+len(f.Decisions) != 0 {
		t.Errorf("a note decides nothing: %+v", f)
	}
}

func TestPlansReplaceEachOther(t *testing.T) {
	f := factsOf(
		used(1, "TodoWrite", `{"todos":[{"content":"one","status":"in_progress"},{"content":"two","status":"pending"}]}`, "ok", false),
		used(3, "update_plan", `{"plan":[{"step":"one","status":"completed"},{"step":"three","status":"pending"}]}`, "ok", false),
	)
	if diff := cmp.Diff([]summary.Statement{{Text: "three", Message: 3 + 1}}, f.Plan); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]summary.Statement{{Text: "one", Message: 4}}, f.Done); diff != "" {
		t.Error(diff)
	}
}

func TestWhoGaveTheTask(t *testing.T) {
	f := factsOf([]llm.Message{said(1, llm.Note, "a reminder"), said(2, llm.Human, " do it \n"), said(3, llm.Model, "done")})
	if f.Instruction.Text != "" || len(f.Human) != 1 || f.Human[0].Text != " do it \n" || f.Answer.Text != "done" {
		t.Errorf("with a person: %+v", f)
	}
	rules := said(1, llm.Note, "house rules")
	rules.Flags = llm.FlagRules
	f = factsOf([]llm.Message{rules, said(2, llm.Note, "explore the code"), said(3, llm.Model, "found"), said(4, llm.Note, "reminder")})
	if f.Instruction.Text != "explore the code" || f.Instruction.Message != 2 {
		t.Errorf("without one: %+v", f.Instruction)
	}
	f = factsOf([]llm.Message{said(1, llm.Model, "going on"), said(2, llm.Note, "reminder")})
	if f.Instruction.Text != "" {
		t.Errorf("a note in the middle of a session is no instruction: %+v", f.Instruction)
	}
	synthetic := said(2, llm.Model, "connection lost")
	synthetic.Flags = llm.FlagSynthetic
	if f = factsOf([]llm.Message{said(1, llm.Model, "real"), synthetic}); f.Answer.Text != "real" {
		t.Errorf("the client's words are not the model's: %q", f.Answer.Text)
	}
}

func TestReusedCallIDsKeepTheirOwnResults(t *testing.T) {
	var messages []llm.Message
	for i, path := range []string{"a", "b"} {
		pair := used(1+2*i, "Read", `{"path":"`+path+`"}`, "text", false)
		pair[0].Parts = []llm.Part{llm.ToolCall{CallID: "call_0", Name: "Read", Args: `{"path":"` + path + `"}`}}
		pair[1].Parts = []llm.Part{llm.ToolResult{CallID: "call_0"}}
		messages = append(messages, pair...)
	}
	want := []summary.File{{Path: "a", Reads: 1}, {Path: "b", Reads: 1}}
	if diff := cmp.Diff(want, factsOf(messages).Files); diff != "" {
		t.Error(diff)
	}
}

func TestFactsAreTheCallersOwn(t *testing.T) {
	var c summary.Collector
	c.Add(said(1, llm.Human, "one"))
	f := c.Facts()
	f.Human[0].Text = "changed"
	if got := c.Facts().Human[0].Text; got != "one" {
		t.Errorf("got %q", got)
	}
}
