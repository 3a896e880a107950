package formats

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/recorded"
)

// Find lists the session files that paths name. A file stands for itself, whatever
// it is called; a folder for all files below it that end in .jsonl, .json, .traj or
// .eval, for chat histories of aider, of any name that a text may have, and for the
// sessions of databases that end in .db, in lexical order; of what the proxy recorded of a
// conversation, for the last file, which is read with the others. A database that is named
// stands for its sessions as well, which [Sessions] lists. Links inside a folder are
// followed to files that lie in the same folder, and nowhere else. A file is listed once.
//
// What cannot be read is left out. The error joins what was left out, and the
// list is good in spite of it.
func Find(paths []string) ([]string, error) {
	f := finder{seen: map[string]bool{}}
	for _, path := range paths {
		where, _ := Split(path)
		info, err := os.Stat(where)
		switch {
		case err != nil:
			f.skip(path, err)
		case info.IsDir():
			f.folder(path)
		default:
			if listed, err := f.database(path, path); !listed || err != nil { // who reads it says what is wrong
				f.add(path, path)
			}
		}
	}
	return f.files, errors.Join(f.skipped...)
}

type finder struct {
	files    []string
	seen     map[string]bool // by the path behind all links
	skipped  []error
	recorded recorded.Folders
}

func (f *finder) skip(path string, err error) {
	f.skipped = append(f.skipped, fmt.Errorf("sessionfile: find: %s, skipped: %w", path, err))
}

// add lists a file whose path behind all links is real.
func (f *finder) add(path, real string) {
	if resolved, err := filepath.EvalSymlinks(real); err == nil {
		real = resolved
	}
	if abs, err := filepath.Abs(real); err == nil {
		real = abs
	}
	if !f.seen[real] {
		f.seen[real] = true
		f.files = append(f.files, path)
	}
}

// database lists the sessions of a database, whose path behind all links is real. It
// reports false if it found none.
func (f *finder) database(path, real string) (bool, error) {
	sessions, err := Sessions(real)
	if err != nil {
		return false, err
	}
	for _, s := range sessions {
		_, id := Split(s.Path)
		f.add(path+"#"+id, s.Path)
	}
	return len(sessions) > 0, nil
}

// folder lists the files below one folder.
func (f *finder) folder(root string) {
	inside, err := filepath.EvalSymlinks(root)
	if err != nil {
		f.skip(root, err)
		return
	}
	start := len(f.files)
	var links []string
	err = filepath.WalkDir(inside, func(path string, d fs.DirEntry, err error) error {
		shown := filepath.Join(root, strings.TrimPrefix(path, inside))
		switch {
		case err != nil:
			f.skip(shown, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			if isSessionName(path) && !isBeside(path) && f.recorded.IsLast(path) || isTextName(path) && isKnownText(path) {
				f.add(shown, path)
			} else if isDatabaseName(path) {
				if _, err := f.database(shown, path); err != nil {
					f.skip(shown, err)
				}
			}
		case d.Type()&fs.ModeSymlink != 0 && isSessionName(path): // a text comes under its own name
			links = append(links, path)
		}
		return nil
	})
	if err != nil {
		f.skip(root, err)
	}
	for _, path := range links { // after the files, which come under their own names
		f.link(inside, path, filepath.Join(root, strings.TrimPrefix(path, inside)))
	}
	slices.Sort(f.files[start:])
}

// link lists a link if it leads to a file inside the folder.
func (f *finder) link(inside, path, shown string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		f.skip(shown, err)
		return
	}
	if !strings.HasPrefix(target, strings.TrimSuffix(inside, string(filepath.Separator))+string(filepath.Separator)) {
		f.skip(shown, errors.New("the link leads out of the folder"))
		return
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		f.skip(shown, err)
	case info.Mode().IsRegular():
		f.add(shown, target)
	}
}

// isSessionName reports whether a file in a folder may be a session by its name.
func isSessionName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".json", ".traj", ".eval":
		return true
	}
	return filepath.Base(path) == ".aider.chat.history.md"
}

// isBeside reports whether a file is one that another one beside it is read with: what Cline's
// editor extension shows of a task, and what it notes about it.
func isBeside(path string) bool {
	const history, shown = "api_conversation_history.json", "ui_messages.json"
	whole := map[string][]string{shown: {history}, "task_metadata.json": {history, shown}}
	return slices.ContainsFunc(whole[filepath.Base(path)], func(name string) bool {
		_, err := os.Lstat(filepath.Join(filepath.Dir(path), name))
		return err == nil
	})
}

// isTextName reports whether a file may be a text by its name.
func isTextName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".md", ".markdown", ".txt", ".log", ".history":
		return true
	}
	return false
}

// isDatabaseName reports whether a file may be a database by its name.
func isDatabaseName(path string) bool { return strings.EqualFold(filepath.Ext(path), ".db") }

// isKnownText reports whether some reader knows a regular file by its beginning.
func isKnownText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	head = head[:n]
	return slices.ContainsFunc(readers(), func(r read.Reader) bool { return r.Text != nil && r.Text(head) != "" })
}
