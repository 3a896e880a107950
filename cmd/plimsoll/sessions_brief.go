package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// A known is a session with what its file says.
type known struct {
	places.Found  `json:"-"`
	Short         string `json:"-"`                 // as much of its id as names it
	Project       string `json:"project,omitempty"` // the folder that it works in
	inspect.Brief `json:"brief"`
	Wrong         string `json:"wrong,omitempty"` // why it could not be read
}

// briefsOf reads what sessions say, each unless it was read before and is the same file.
func briefsOf(ctx context.Context, s streams, found []places.Found) ([]known, error) {
	cat, err := loadCatalog("")
	if err != nil {
		return nil, err
	}
	o := inspect.Options{Catalog: cat}
	cached := openBriefs()
	out := make([]known, len(found))
	bar := newBar(s.err, len(found))
	if bar != nil {
		bar.Describe("reading")
	}
	next := make(chan int)
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(1, len(found))) {
		work.Go(func() {
			for i := range next {
				out[i] = cached.of(found[i], func() known { return readBrief(found[i], o) })
				if bar != nil {
					_ = bar.Add(1)
				}
			}
		})
	}
	for i := range found {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	work.Wait()
	if bar != nil {
		_ = bar.Clear()
	}
	if ctx.Err() != nil {
		return nil, &codedError{exitInterrupted, errors.New("sessions: interrupted"), ""}
	}
	cached.save()
	return out, nil
}

// readBrief reads a session.
func readBrief(f places.Found, o inspect.Options) known {
	k := known{Found: f, Wrong: f.Hint}
	if k.Wrong != "" {
		return k
	}
	var err error
	if k.Brief, err = briefly(f, o); err != nil {
		k.Wrong = err.Error()
		return k
	}
	k.Project = projectOf(f)
	return k
}

// oneRead is the size in bytes of a file whose session is held while it is summed up, so that
// it need not be looked at again.
const oneRead = 16 << 20

// briefly sums up a session, in the memory of one segment where the file is large.
func briefly(f places.Found, o inspect.Options) (inspect.Brief, error) {
	if f.Size <= oneRead {
		s, err := formats.Open(f.Path)
		if err != nil {
			return inspect.Brief{}, err
		}
		return o.Briefly(s, segmentsOf(s))
	}
	file, err := formats.OpenFile(f.Path)
	if err != nil {
		return inspect.Brief{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return o.Briefly(&file.Session, file.Segments())
}

// segmentsOf yields the segments of a session that is held.
func segmentsOf(s *sessionfile.Session) iter.Seq2[sessionfile.Segment, error] {
	return func(yield func(sessionfile.Segment, error) bool) {
		for _, seg := range s.Segments {
			if !yield(seg, nil) {
				return
			}
		}
	}
}

// projectOf returns the folder that a session works in, or what its client calls that.
func projectOf(f places.Found) string {
	if folder := places.Folder(f.Path); folder != "" {
		return folder
	}
	if dir := filepath.Dir(f.Path); filepath.Base(dir) == "chats" {
		return filepath.Base(filepath.Dir(dir))
	}
	return ""
}

// briefs are what was read of sessions before, in a file of the user's cache folder: a line
// for each, of which a session that was written to has another one. Without such a folder
// everything is read each time.
type briefs struct {
	sync.Mutex
	path  string
	byKey map[string]json.RawMessage
	used  map[string]bool
	grown bool
}

// A briefLine is a line of the file.
type briefLine struct {
	Key string          `json:"key"`
	Is  json.RawMessage `json:"is"`
}

// maxBrief bounds a line, in bytes.
const maxBrief = 4 << 20

func openBriefs() *briefs {
	b := &briefs{byKey: map[string]json.RawMessage{}, used: map[string]bool{}}
	dir, err := os.UserCacheDir()
	if err != nil {
		return b
	}
	b.path = filepath.Join(dir, "plimsoll", "sessions.jsonl")
	file, err := os.Open(b.path)
	if err != nil {
		return b
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxBrief)
	for lines.Scan() {
		var l briefLine
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			b.byKey[l.Key] = l.Is
		}
	}
	return b
}

// key names a file as it is, read by this program.
func (b *briefs) key(f places.Found) string {
	return fmt.Sprintf("%s %s %d %d", program(), f.Path, f.Size, f.Time.UnixNano())
}

// program names the program as it is: another one may read files otherwise, or know other prices.
var program = sync.OnceValue(func() string {
	name, err := os.Executable()
	if err != nil {
		return version()
	}
	info, err := os.Stat(name)
	if err != nil {
		return version()
	}
	return fmt.Sprintf("%s-%d-%d", version(), info.Size(), info.ModTime().UnixNano())
})

// of returns what is known of a session, or reads it. A database is one file for many
// sessions: these are told apart by when they were written.
func (b *briefs) of(f places.Found, read func() known) known {
	key := b.key(f)
	b.Lock()
	raw, ok := b.byKey[key]
	b.used[key] = true
	b.Unlock()
	var k known
	if ok && json.Unmarshal(raw, &k) == nil {
		k.Found = f
		return k
	}
	k = read()
	if raw, err := json.Marshal(k); err == nil && k.Wrong == "" && len(raw) < maxBrief/2 {
		b.Lock()
		b.byKey[key], b.grown = raw, true
		b.Unlock()
	}
	return k
}

// save writes what was read, if anything is new. What cannot be written is read again.
func (b *briefs) save() {
	if b.path == "" || !b.grown || os.MkdirAll(filepath.Dir(b.path), 0o700) != nil {
		return
	}
	t, err := os.CreateTemp(filepath.Dir(b.path), "sessions-*")
	if err != nil {
		return
	}
	w := bufio.NewWriter(t)
	enc := json.NewEncoder(w)
	for key, raw := range b.byKey {
		if !b.used[key] && b.stale(key) {
			continue
		}
		if err == nil {
			err = enc.Encode(briefLine{key, raw})
		}
	}
	if err = errors.Join(err, w.Flush(), t.Close()); err == nil {
		err = os.Rename(t.Name(), b.path)
	}
	if err != nil {
		_ = os.Remove(t.Name())
	}
}

// stale reports whether a line that was not asked for is of another program, or of a file as
// it was before.
func (b *briefs) stale(key string) bool {
	rest, ok := strings.CutPrefix(key, program()+" ")
	if !ok {
		return true
	}
	for range 2 { // the size and the time
		rest = rest[:max(strings.LastIndexByte(rest, ' '), 0)]
	}
	for other := range b.used {
		if strings.HasPrefix(other, program()+" "+rest+" ") {
			return true
		}
	}
	return false
}
