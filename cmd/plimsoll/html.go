package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/web"
)

// htmlFlags are the flags of a command that writes a report for the browser.
type htmlFlags struct {
	html   string
	redact bool
}

func (f *htmlFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.html, "html", "", "`file` to write a report to that a browser shows; it needs nothing else (docs/reports.md)")
	fl.BoolVar(&f.redact, "redact", false, "leave every text and name of the session out of the report, for sharing")
	_ = cmd.MarkFlagFilename("html", "html")
}

// check refuses flags that do not go together, and a file that is there and is no report:
// a slip of the keyboard must not overwrite a session.
func (f htmlFlags) check(command string) error {
	if f.html == "" {
		if f.redact {
			return usage(fmt.Errorf("%s: --redact, want --html FILE beside it, got none", command), "")
		}
		return nil
	}
	old, err := os.Open(f.html)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	defer func() { _ = old.Close() }() // it was only read
	head := make([]byte, 15)
	n, err := io.ReadFull(old, head)
	if n > 0 && !bytes.EqualFold(head[:n], []byte("<!doctype html>")) {
		return usage(fmt.Errorf("%s: --html %s, want a new file or a page to write over, got another kind of file", command, safe(f.html)), "")
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	return nil
}

// save writes the report, whole or not at all. Only the user can read it, as it holds
// what the session says.
func (f htmlFlags) save(command string, s streams, write func(io.Writer, web.Options) error) error {
	t, err := os.CreateTemp(filepath.Dir(f.html), ".plimsoll-*.html")
	if err != nil {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "name a file in a folder that is there")
	}
	err = write(t, web.Options{Redact: f.redact})
	if e := t.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(t.Name(), f.html)
	}
	if err != nil {
		_ = os.Remove(t.Name()) // what matters is why it could not be written
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	_, err = fmt.Fprintf(s.err, "report: %s\n", safe(f.html))
	return fail(err, "")
}
