package loop

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// mostWatched is how many folders are watched at most: systems have limits of their own, which
// other programs need, too.
const mostWatched = 4096

// mostTimes is how many files have a time between two looks.
const mostTimes = 50_000

// A notifier hears from the system of changes in a workspace as they happen. It decides
// nothing: what has changed is what a look finds, and when, is what it knows. That is all that
// is lost with an event.
type notifier struct {
	dir     string
	now     func() int64
	events  *fsnotify.Watcher
	watched map[string]bool // folders, relative with slashes

	mu    sync.Mutex
	times map[string]int64 // of files, since they were taken
}

// newNotifier begins to listen. Folders are watched once they are told.
func newNotifier(dir string, now func() int64) (*notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &notifier{dir: dir, now: now, events: w, watched: map[string]bool{}, times: map[string]int64{}}
	go n.listen()
	return n, nil
}

// listen takes in events until it is closed.
func (n *notifier) listen() {
	for {
		select {
		case e, ok := <-n.events.Events:
			if !ok {
				return
			}
			n.heard(e)
		case _, ok := <-n.events.Errors: // some were lost
			if !ok {
				return
			}
		}
	}
}

// heard takes in one event, but of what is the loop's own, or git's.
func (n *notifier) heard(e fsnotify.Event) {
	rel, err := filepath.Rel(n.dir, e.Name)
	if err != nil || e.Op == fsnotify.Chmod {
		return
	}
	rel = filepath.ToSlash(rel)
	if first, _, _ := strings.Cut(rel, "/"); first == FolderName || first == ".git" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.times) < mostTimes {
		n.times[rel] = n.now()
	}
}

// take returns when files were changed last, since it was called before.
func (n *notifier) take() (times map[string]int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	times, n.times = n.times, map[string]int64{}
	return times
}

// watch watches the folders of some files, and no others.
func (n *notifier) watch(files []string) error {
	wanted := map[string]bool{".": true}
	for _, file := range files {
		for dir := path.Dir(file); !wanted[dir]; dir = path.Dir(dir) {
			wanted[dir] = true
		}
	}
	if len(wanted) > mostWatched {
		return errors.New("too many folders")
	}
	for dir := range n.watched {
		if !wanted[dir] {
			delete(n.watched, dir)
			_ = n.events.Remove(filepath.Join(n.dir, dir)) // mostly it is gone
		}
	}
	var news []string
	for dir := range wanted {
		if !n.watched[dir] {
			news = append(news, dir)
		}
	}
	slices.Sort(news)
	for _, dir := range news {
		full := filepath.Join(n.dir, dir)
		info, err := os.Lstat(full)
		if err == nil && info.IsDir() { // a link could lead anywhere
			err = n.events.Add(full)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		n.watched[dir] = true
	}
	return nil
}

func (n *notifier) close() error { return n.events.Close() }
