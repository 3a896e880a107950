package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// root is the folder in which the session pretends to have happened.
const root = "/home/dev/quayside"

// A workspace is the project's files as the session changes them, and what the
// commands that are still to come will print.
type workspace struct {
	files   map[string]string
	outputs []txtar.File
}

// A result is one tool call in the client's form, and what came back.
type result struct {
	tool   string
	input  any
	output string
	failed bool
}

// Inputs of the tools, in the client's own field order.
type (
	bashInput struct {
		Command string `json:"command"`
	}
	readInput struct {
		Path   string `json:"file_path"`
		Offset int    `json:"offset,omitempty"`
		Limit  int    `json:"limit,omitempty"`
	}
	grepInput struct {
		Pattern string `json:"pattern"`
		Mode    string `json:"output_mode"`
		Numbers bool   `json:"-n"`
	}
	editInput struct {
		Path string `json:"file_path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
		All  bool   `json:"replace_all,omitempty"`
	}
	writeInput struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
	}
)

func newWorkspace(project, outputs *txtar.Archive) *workspace {
	w := &workspace{files: map[string]string{}, outputs: outputs.Files}
	for _, f := range project.Files {
		w.files[f.Name] = string(f.Data)
	}
	return w
}

// perform does what the calls of one reply ask for.
func (w *workspace) perform(calls []call) ([]result, error) {
	var out []result
	for _, c := range calls {
		r, err := w.one(c)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (w *workspace) one(c call) (result, error) {
	switch c.tool {
	case "bash":
		return w.bash(c)
	case "grep":
		return w.grep(c)
	case "read":
		return w.read(c)
	case "write":
		w.files[c.arg] = c.new
		return result{tool: "Write", input: writeInput{path.Join(root, c.arg), c.new}, output: "Wrote " + path.Join(root, c.arg)}, nil
	}
	return w.edit(c)
}

// bash takes the next recorded output. Its name is its number and the exit code.
func (w *workspace) bash(c call) (result, error) {
	if len(w.outputs) == 0 {
		return result{}, fmt.Errorf("outputs.txtar has no output for %q", c.arg)
	}
	f := w.outputs[0]
	w.outputs = w.outputs[1:]
	r := result{tool: "Bash", input: bashInput{c.arg}, output: strings.TrimSuffix(string(f.Data), "\n")}
	if _, code, _ := strings.Cut(f.Name, " "); code != "0" {
		r.output, r.failed = "Exit code "+code+"\n"+r.output, true
	}
	return r, nil
}

// read numbers the lines of a file as the client does.
func (w *workspace) read(c call) (result, error) {
	text, ok := w.files[c.arg]
	if !ok {
		return result{}, fmt.Errorf("there is no file %s", c.arg)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	in := readInput{Path: path.Join(root, c.arg)}
	first, last := 1, len(lines)
	if c.from > 0 {
		first, last = c.from, min(c.to, len(lines))
		in.Offset, in.Limit = first, last-first+1
	}
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "%6d→%s\n", i, lines[i-1])
	}
	return result{tool: "Read", input: in, output: strings.TrimSuffix(b.String(), "\n")}, nil
}

// grep searches all Go files.
func (w *workspace) grep(c call) (result, error) {
	re, err := regexp.Compile(c.arg)
	if err != nil {
		return result{}, err
	}
	var names, found []string
	for name := range w.files {
		if strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for i, line := range strings.Split(w.files[name], "\n") {
			if re.MatchString(line) {
				found = append(found, fmt.Sprintf("%s:%d:%s", name, i+1, line))
			}
		}
	}
	return result{tool: "Grep", input: grepInput{c.arg, "content", true}, output: strings.Join(found, "\n")}, nil
}

// edit replaces a text that has to be there, once unless all are meant, and shows
// the lines around.
func (w *workspace) edit(c call) (result, error) {
	all := c.tool == "editall"
	text := w.files[c.arg]
	if n := strings.Count(text, c.old); n == 0 || n > 1 && !all {
		return result{}, fmt.Errorf("edit of %s, want the text once, got it %d times", c.arg, n)
	}
	at := strings.Index(text, c.old)
	text = strings.ReplaceAll(text, c.old, c.new)
	w.files[c.arg] = text
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	first := max(strings.Count(text[:at], "\n")-3, 0)
	last := min(strings.Count(text[:at+len(c.new)], "\n")+5, len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, "%s was changed. It now reads:", path.Join(root, c.arg))
	for i := first; i < last; i++ {
		fmt.Fprintf(&b, "\n%6d→%s", i+1, lines[i])
	}
	return result{tool: "Edit", input: editInput{path.Join(root, c.arg), c.old, c.new, all}, output: b.String()}, nil
}
