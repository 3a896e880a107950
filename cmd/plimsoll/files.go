package main

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// noSessionHint is what can be done where no session file was found; see formats.Find.
const noSessionHint = "name a session file, or a folder with .jsonl, .json, .traj or .eval files or a chat history of aider"

func noneRead(files int) string {
	if files == 1 {
		return "the file could not be read"
	}
	return fmt.Sprintf("none of %d files could be read", files)
}

// findFiles lists the session files that paths name; - is the standard input.
func findFiles(paths []string) ([]string, error) {
	rest := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == stdinName })
	files, err := formats.Find(rest)
	if len(rest) < len(paths) {
		files = append(files, stdinName)
	}
	return files, err
}

// noneThere is the error where nothing that was named is there; why has a line for each.
func noneThere(command string, why error) error {
	return fail(fmt.Errorf("%s: %w", command, why), "plimsoll sessions lists the sessions on this machine")
}

// openSession reads a session file, or the standard input.
func (s streams) openSession(name string) (*sessionfile.Session, error) {
	if name == stdinName {
		return formats.Read(name, s.in)
	}
	return formats.Open(name)
}

// openFile opens a session file, or the standard input, to be read segment by segment.
func (s streams) openFile(name string) (*formats.File, error) {
	if name == stdinName {
		return formats.ReadFile(name, s.in)
	}
	return formats.OpenFile(name)
}
