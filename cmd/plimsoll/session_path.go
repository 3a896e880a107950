package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// orNewest returns paths, those for what is named by its id, or where none is named the
// session file that was written last among those that can be read, of inspect in this folder's
// own project if it has one. It says which one that is, and which newer ones it passed over.
func orNewest(command string, s streams, paths []string) ([]string, error) {
	if len(paths) > 0 {
		return namedSessions(command, paths)
	}
	found, err := sessionsHere()
	if command == "inspect" {
		found = ownFirst(found)
	}
	if err != nil {
		return nil, fail(fmt.Errorf("%s: %w", command, err), "name a session file or a folder")
	}
	found = slices.DeleteFunc(found, func(f places.Found) bool { return f.Hint != "" })
	var skipped []string
	for _, f := range found {
		why := unreadable(f)
		if why == nil {
			return []string{f.Path}, fail(tellNewest(s.err, f.Path, skipped), "")
		}
		skipped = append(skipped, fmt.Sprintf("%s: %v", f.Path, why))
	}
	if len(skipped) > 0 {
		if err := tellNewest(s.err, "", skipped); err != nil {
			return nil, fail(err, "")
		}
		return nil, fail(fmt.Errorf("%s: none of %s in the usual places can be read", command, console.Plural(len(skipped), "session")), "name a session file or a folder")
	}
	return nil, usage(fmt.Errorf("%s: no session file or folder, and none in the usual places", command), "usage: plimsoll "+command+" PATH...")
}

// unreadable returns why a session cannot be read; nil: it can.
func unreadable(f places.Found) error {
	if f.Size == 0 {
		return errors.New("the file is empty")
	}
	file, err := formats.OpenFile(f.Path)
	if err != nil {
		return err
	}
	return file.Close()
}

// tellNewest says which session is taken, if one is, and which were passed over for it.
func tellNewest(w io.Writer, path string, skipped []string) error {
	const most = 3
	var b strings.Builder
	for _, line := range skipped[:min(len(skipped), most)] {
		fmt.Fprintf(&b, "skipped %s\n", console.Safe(line))
	}
	if n := len(skipped) - most; n > 0 {
		fmt.Fprintf(&b, "skipped %s more\n", console.Plural(n, "session"))
	}
	if path != "" {
		fmt.Fprintf(&b, "newest session: %s\n", console.Safe(path))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// leastName is how many characters of an id name a session.
const leastName = 4

// namedSessions returns paths with those of the sessions in their place that are named by an
// id, or its beginning. What is there as a file or folder is that.
func namedSessions(command string, paths []string) ([]string, error) {
	out := slices.Clone(paths)
	for i, name := range paths {
		path, err := namedSession(command, name)
		if err != nil {
			return nil, err
		}
		out[i] = path
	}
	return out, nil
}

func namedSession(command, name string) (string, error) {
	file, _ := formats.Split(name)
	if _, err := os.Stat(file); err == nil || len(name) < leastName || strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" {
		return name, nil
	}
	found, err := allSessions()
	if err != nil {
		return name, nil //nolint:nilerr // it is looked for as a file, which says what is wrong
	}
	is, begins := calledSo(found, name)
	switch {
	case len(is) == 1:
		return is[0], nil
	case len(is) > 1:
		return "", usage(ambiguous(command, fmt.Sprintf("%q is the id of", name), is), "name the file of the one that is meant")
	case len(begins) == 1:
		return begins[0], nil
	case len(begins) > 1:
		return "", usage(ambiguous(command, fmt.Sprintf("%q is the beginning of", name), begins), "name more of the id")
	}
	return "", fail(fmt.Errorf("%s: %q is no file or folder, and no session is called so", command, name), "plimsoll sessions lists the sessions on this machine")
}

// calledSo returns the sessions that a name is, and those of which it is the beginning.
func calledSo(found []places.Found, name string) (is, begins []string) {
	for _, f := range found {
		names := places.Names(f.Path)
		switch {
		case slices.Contains(names, name):
			is = append(is, f.Path)
		case slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name) }):
			begins = append(begins, f.Path)
		}
	}
	return is, begins
}

// ambiguous is the error for a name that several sessions have, the newest first.
func ambiguous(command, what string, paths []string) error {
	lines := slices.Clone(paths)
	for i, p := range lines {
		lines[i] = "  " + console.Homely(p)
	}
	return fmt.Errorf("%s: %s %s:\n%s", command, what, console.Plural(len(paths), "session"), strings.Join(console.AtMost(lines, console.MostListed), "\n"))
}

// mostLooked is of how many sessions it is looked up where they work.
const mostLooked = 200

// ownFirst returns sessions with those that work in this folder first.
func ownFirst(found []places.Found) []places.Found {
	here, err := os.Getwd()
	if err != nil {
		return found
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	var own, others []places.Found
	for i, f := range found {
		if i < mostLooked && isFolder(places.Folder(f.Path), here) {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	return append(own, others...)
}

// isFolder reports whether a name is that of a folder, which is free of links.
func isFolder(name, folder string) bool {
	if name == folder {
		return true
	}
	real, err := filepath.EvalSymlinks(name)
	return err == nil && name != "" && real == folder
}
