// Command gensession writes examples/session.jsonl: a coding agent's session in the form that Claude Code keeps, to
// try plimsoll on. Nobody's real session is in it. The project and the conversation are invented, for this file; the
// project's bugs are real, and so are the outputs of the commands, which were recorded by running them.
//
//	go generate ./cmd/plimsoll
//
// Three files hold what it is made of: script.txt is what was said and done, project.txtar the project as it was at
// the beginning, outputs.txtar what the commands printed. What the agent read, searched and edited is worked out from
// the project, so a file that is read after an edit shows the edit. The same three files give the same bytes.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed script.txt
var scriptText string

//go:embed project.txtar
var projectText []byte

//go:embed outputs.txtar
var outputText []byte

func main() {
	out := flag.String("out", "session.jsonl", "file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "gensession:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	session, err := build()
	if err != nil {
		return err
	}
	return os.WriteFile(path, session, 0o644) //nolint:gosec // a public example
}

// build returns the whole session file.
func build() ([]byte, error) {
	moves, err := parse(scriptText)
	if err != nil {
		return nil, err
	}
	ws := newWorkspace(txtar.Parse(projectText), txtar.Parse(outputText))
	var b bytes.Buffer
	rec, err := newRecorder(&b)
	if err != nil {
		return nil, err
	}
	for _, m := range moves {
		if m.who == human {
			err = rec.human(m.text)
		} else {
			var done []result
			if done, err = ws.perform(m.calls); err == nil {
				err = rec.model(m.text, done)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("script line %d: %w", m.line, err)
		}
	}
	if len(ws.outputs) > 0 {
		return nil, errors.New("outputs.txtar has more outputs than script.txt has commands")
	}
	return b.Bytes(), nil
}
