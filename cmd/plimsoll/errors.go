package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Exit codes, as plimsoll --help lists them.
const (
	exitOK          = 0
	exitError       = 1 // nothing could be done: nothing readable, a wrong policy file, a failure
	exitUsage       = 2 // the command line is wrong
	exitFailed      = 3 // a --fail-on condition was met
	exitInterrupted = 130
)

// A codedError is an error with its exit code and, for people, a hint.
type codedError struct {
	code int
	err  error
	hint string
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// fail is an error that nothing on the command line could have prevented.
func fail(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &codedError{exitError, err, hint}
}

// usage is an error of the command line.
func usage(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &codedError{exitUsage, err, hint}
}

// printError prints an error, a line for each of its lines, and its hint. What
// cannot be written to standard error cannot be told to anybody.
func printError(w io.Writer, err error) {
	for line := range strings.SplitSeq(message(err), "\n") {
		_, _ = fmt.Fprintf(w, "plimsoll: %s\n", console.Safe(strings.TrimPrefix(line, "plimsoll: ")))
	}
	if hint := hintOf(err); hint != "" {
		_, _ = fmt.Fprintf(w, "hint: %s\n", console.Safe(hint))
	}
}

// hintOf returns what can be done about an error; empty if nothing is known.
func hintOf(err error) string {
	if c, ok := errors.AsType[*codedError](err); ok && c.hint != "" {
		return c.hint
	}
	if _, ok := errors.AsType[*replay.JudgeError](err); ok {
		return "this is a fault in plimsoll: please report it with the session's format and version"
	}
	if _, ok := errors.AsType[*sessionfile.FormatError](err); ok {
		return "plimsoll inspect --help lists the formats that are read"
	}
	if errors.Is(err, replay.ErrBusy) {
		return "wait until it is done, or keep this one in another file with --db"
	}
	return ""
}

// message returns the text of an error. The faults of a policy file stand on lines
// of their own, each beginning with its place, so that an editor finds them.
func message(err error) string {
	if f, ok := errors.AsType[*config.FileError](err); ok {
		return strings.TrimPrefix(f.Error(), "config: load policy: ")
	}
	if j, ok := errors.AsType[*replay.JudgeError](err); ok && len(j.Found) > 0 {
		return judgeText(j)
	}
	if f, ok := errors.AsType[*sessionfile.FormatError](err); ok && !isSeveral(err) {
		name := f.File
		if name == stdinName {
			name = "the standard input"
		}
		return fmt.Sprintf("%s: want a session file or a request body, got %s", name, f.Seen)
	}
	return withoutPackages(err.Error())
}

// isSeveral reports whether an error is a list of them.
func isSeveral(err error) bool {
	_, ok := err.(interface{ Unwrap() []error })
	return ok
}

// packages are the beginnings of errors that say where in the program they come from, and
// nothing to who called it.
var packages = regexp.MustCompile(`sessionfile: (read|find|open|sessions|agents|parent): `)

// withoutPackages leaves out of an error where in the program it comes from, and what it says
// twice of a file that is not there.
func withoutPackages(text string) string {
	text = packages.ReplaceAllString(text, "")
	return notThere.ReplaceAllString(text, "$1: $3")
}

// notThere is a file that was looked for: it names it once more.
var notThere = regexp.MustCompile(`(\S+), skipped: (stat|open) (?:\S+): (no such file or directory|permission denied)`)

// judgeText says that a request held what nobody wrote.
func judgeText(j *replay.JudgeError) string {
	first := ""
	if len(j.Found) > 1 {
		first = ", the first"
	}
	return fmt.Sprintf("replay: %s under %s at %s: %s that nobody wrote%s: %s", j.Session, j.Policy, j.Window, console.Plural(len(j.Found), "part"), first, j.Found[0])
}
