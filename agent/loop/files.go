package loop

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// Bounds of what is compared of a workspace. What is beyond them is known by its size and
// time alone: a change of it counts as one line.
const (
	mostFiles     = 50_000
	mostFileBytes = 1 << 20  // of a file
	mostAllBytes  = 64 << 20 // of all files
	gitPatience   = 20 * time.Second
)

// built are folders of what programs make, which are no work of the agent's.
var built = []string{
	".git", FolderName, "node_modules", "target", "dist", "build", "out", "vendor", "__pycache__", ".venv", "venv",
	".tox", ".cache", ".gradle", ".idea", ".next", ".mypy_cache", ".pytest_cache", "coverage",
}

// A fileState is what is remembered of a file.
type fileState struct {
	size  int64
	mtime time.Time
	sum   uint64   // of all lines, to know a file by that was renamed
	lines []uint32 // hashes of its lines, sorted
	read  bool
}

// A watcher says what changed in a workspace from one look to the next.
type watcher struct {
	dir   string
	seed  maphash.Seed
	files map[string]fileState
	bytes int64
	heard *notifier // nil: nobody says when files change
}

func newWatcher(dir string) *watcher { return &watcher{dir: dir, seed: maphash.MakeSeed()} }

// listen has the system say when files change, where it does.
func (w *watcher) listen(now func() int64) (err error) {
	w.heard, err = newNotifier(w.dir, now)
	return err
}

// deaf ends listening. What has changed is found all the same, when somebody looks.
func (w *watcher) deaf() error {
	if w.heard == nil {
		return nil
	}
	n := w.heard
	w.heard = nil
	return n.close()
}

// look returns what changed since it was called last; the first time nothing has. An error
// says that the system says no more when files change.
func (w *watcher) look(ctx context.Context, at int64) ([]core.FileEvent, error) {
	if w.heard == nil {
		return w.find(ctx, at), nil
	}
	events := w.find(ctx, at)
	times := w.heard.take()
	for i, e := range events {
		if t, ok := times[e.Path]; ok {
			events[i].At = min(t, at)
		}
	}
	err := w.heard.watch(slices.Collect(maps.Keys(w.files)))
	if err != nil {
		err = errors.Join(err, w.deaf())
	}
	return events, err
}

// find compares the workspace with what it was.
func (w *watcher) find(ctx context.Context, at int64) []core.FileEvent {
	before := w.files
	w.files, w.bytes = make(map[string]fileState, len(before)), 0
	for _, path := range w.list(ctx) {
		info, err := os.Lstat(filepath.Join(w.dir, path))
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile; what a link leads to is looked at under its own name
		}
		old, known := before[path]
		if !known || old.size != info.Size() || !old.mtime.Equal(info.ModTime()) {
			old = w.state(path, info)
		} else if old.read {
			w.bytes += old.size
		}
		w.files[path] = old
	}
	if before == nil {
		return nil
	}
	return w.changes(before, at)
}

// changes compares two looks.
func (w *watcher) changes(before map[string]fileState, at int64) []core.FileEvent {
	var out []core.FileEvent
	gone := map[uint64]string{} // by sum
	for path, old := range before {
		if _, still := w.files[path]; !still {
			out = append(out, core.FileEvent{At: at, Path: path, Op: "deleted", Lines: max(1, len(old.lines))})
			if old.read && old.size > 0 {
				gone[old.sum] = path
			}
		}
	}
	for path, now := range w.files {
		old, known := before[path]
		switch {
		case !known && now.read && gone[now.sum] != "":
			from := gone[now.sum]
			delete(gone, now.sum)
			out = slices.DeleteFunc(out, func(e core.FileEvent) bool { return e.Path == from && e.Op == "deleted" })
			out = append(out, core.FileEvent{At: at, Path: path, Op: "renamed", Lines: 1})
		case !known:
			out = append(out, core.FileEvent{At: at, Path: path, Op: "created", Lines: max(1, len(now.lines))})
		case now.size != old.size || !now.mtime.Equal(old.mtime):
			if n := differing(old.lines, now.lines); n > 0 || !old.read || !now.read {
				out = append(out, core.FileEvent{At: at, Path: path, Op: "modified", Lines: max(1, n)})
			}
		}
	}
	slices.SortFunc(out, func(a, b core.FileEvent) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// state reads a file, if it is within the bounds.
func (w *watcher) state(path string, info fs.FileInfo) fileState {
	s := fileState{size: info.Size(), mtime: info.ModTime()}
	if s.size > mostFileBytes || w.bytes+s.size > mostAllBytes {
		return s
	}
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		return s
	}
	w.bytes += s.size
	for line := range bytes.Lines(data) {
		s.lines = append(s.lines, uint32(maphash.Bytes(w.seed, line))) //nolint:gosec // half of a hash is one
	}
	slices.Sort(s.lines)
	s.sum, s.read = maphash.Bytes(w.seed, data), true
	return s
}

// differing returns how many lines are in one of two sorted lists alone.
func differing(a, b []uint32) int {
	n, i, k := 0, 0, 0
	for i < len(a) && k < len(b) {
		switch {
		case a[i] == b[k]:
			i++
			k++
		case a[i] < b[k]:
			n++
			i++
		default:
			n++
			k++
		}
	}
	return n + len(a) - i + len(b) - k
}

// list returns the files of the workspace that are somebody's work: what git would commit,
// else all but what is in folders of built things. They are relative, with slashes.
func (w *watcher) list(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	// A monitor that the repository names would be a program of the repository's.
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = w.dir
	out, err := cmd.Output()
	if err != nil {
		return w.walk()
	}
	paths := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" || inBuilt(p) })
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths[:min(len(paths), mostFiles)]
}

// inBuilt reports whether a path is the loop's own; of what git lists nothing else is left
// out.
func inBuilt(path string) bool { return path == FolderName || strings.HasPrefix(path, FolderName+"/") }

// walk lists the files without git.
func (w *watcher) walk() []string {
	var paths []string
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not looked at
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() && path != w.dir && slices.Contains(built, d.Name()) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			if rel, err := filepath.Rel(w.dir, path); err == nil {
				paths = append(paths, filepath.ToSlash(rel))
			}
		}
		if len(paths) >= mostFiles {
			return fs.SkipAll
		}
		return nil
	})
	return paths
}
