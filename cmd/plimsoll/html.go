package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
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

// check refuses flags that do not go together, a file that is there and is no report (a
// slip of the keyboard must not overwrite a session), and a folder that takes no file:
// all before any work is done. What is no regular file is never opened, as a pipe would
// make the program wait.
func (f htmlFlags) check(command string) error {
	switch f.html {
	case "":
		if f.redact {
			return usage(fmt.Errorf("%s: --redact, want --html FILE beside it, got none", command), "")
		}
		return nil
	case "-":
		return usage(fmt.Errorf("%s: --html -, want a file, got the standard output", command), "name a file, such as --html report.html; the tables go to the standard output")
	}
	info, err := os.Lstat(f.html)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f.noPlace(command, err)
	case !info.Mode().IsRegular():
		return usage(fmt.Errorf("%s: --html %s, want a new file or a page to write over, got %s", command, console.Safe(f.html), kindOfFile(info.Mode())), "")
	default:
		if err := f.checkOld(command); err != nil {
			return err
		}
	}
	return f.checkFolder(command)
}

// checkOld refuses a file that is no page.
func (f htmlFlags) checkOld(command string) error {
	old, err := os.Open(f.html)
	if err != nil {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	defer func() { _ = old.Close() }() // it was only read
	head := make([]byte, 15)
	n, err := io.ReadFull(old, head)
	if n > 0 && !bytes.EqualFold(head[:n], []byte("<!doctype html>")) {
		return usage(fmt.Errorf("%s: --html %s, want a new file or a page to write over, got another kind of file", command, console.Safe(f.html)), "")
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	return nil
}

// checkFolder makes a file where the page is to stand, and takes it away again.
func (f htmlFlags) checkFolder(command string) error {
	t, err := f.temporary()
	if err != nil {
		return f.noPlace(command, err)
	}
	if err := errors.Join(t.Close(), os.Remove(t.Name())); err != nil {
		return fail(fmt.Errorf("%s: --html: %w", command, err), "")
	}
	return nil
}

func (f htmlFlags) temporary() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(f.html), ".plimsoll-*.html")
}

// noPlace says that the folder takes no page, and what can be done about it.
func (f htmlFlags) noPlace(command string, err error) error {
	why, hint := err, ""
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		why = p.Err // its path may be that of a file that nobody named
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = "you may not write there: name a file in a folder of your own"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		hint = "name a file in a folder that is there"
	}
	return usage(fmt.Errorf("%s: --html %s: folder %s: %w", command, f.html, filepath.Dir(f.html), why), hint)
}

// kindOfFile names what is no regular file.
func kindOfFile(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "another kind of file"
}

// save writes the report, whole or not at all. Only the user can read it, as it holds
// what the session says.
func (f htmlFlags) save(command string, s streams, write func(io.Writer, web.Options) error) error {
	t, err := f.temporary()
	if err != nil {
		return f.noPlace(command, err)
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
	_, err = fmt.Fprintf(s.err, "report: %s\n", console.Safe(f.html))
	return fail(err, "")
}
