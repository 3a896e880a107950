package recorded

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"
)

// headBytes is how much of a file is read for its head, in bytes: the proxy writes what a
// file is about in front of the bodies.
const headBytes = 2 << 10

// A head says which exchange a file is.
type head struct{ session, time, name string }

// headOf reads the head of a file; the zero head is of anything else.
func headOf(path string) head {
	f, err := os.Open(path)
	if err != nil {
		return head{}
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, headBytes))
	if err != nil {
		return head{}
	}
	about := gjson.GetBytes(text, "0.plimsoll")
	if about.Get("version").Raw != version {
		return head{}
	}
	return head{about.Get("session").Str, about.Get("time").Str, filepath.Base(path)}
}

func (h head) compare(o head) int {
	return cmp.Or(cmp.Compare(h.time, o.time), cmp.Compare(h.name, o.name))
}

// headsIn returns the heads of the exchanges that lie in a folder.
func headsIn(folder string) (all []head) {
	files, err := os.ReadDir(folder)
	if err != nil { // who reads the files themselves hears of it
		return nil
	}
	for _, f := range files {
		if !f.Type().IsRegular() || filepath.Ext(f.Name()) != ".json" {
			continue
		}
		if h := headOf(filepath.Join(folder, f.Name())); h.session != "" {
			all = append(all, h)
		}
	}
	return all
}

// before returns the names of the files that were recorded before one, of its conversation
// and in its folder, in their order.
func before(path string) (names []string) {
	own := headOf(path)
	if own.session == "" {
		return nil
	}
	all := headsIn(filepath.Dir(path))
	slices.SortFunc(all, head.compare)
	for _, h := range all {
		if h.session == own.session && h.compare(own) < 0 {
			names = append(names, h.name)
		}
	}
	return names
}

// Folders tell which files stand for a conversation: the last one of each in its folder. The
// zero value is ready.
type Folders struct {
	last map[string]map[string]head // by folder and session
}

// IsLast reports whether no later exchange of the conversation of a file lies beside it. It
// is true of what is no exchange, or one of no conversation.
func (f *Folders) IsLast(path string) bool {
	own := headOf(path)
	if own.session == "" {
		return true
	}
	folder := filepath.Dir(path)
	last, ok := f.last[folder]
	if !ok {
		last = map[string]head{}
		for _, h := range headsIn(folder) {
			if h.compare(last[h.session]) > 0 {
				last[h.session] = h
			}
		}
		if f.last == nil {
			f.last = map[string]map[string]head{}
		}
		f.last[folder] = last
	}
	return last[own.session] == own
}
