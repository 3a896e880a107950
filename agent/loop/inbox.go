package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read from the inbox.
const (
	maxMessage  = 64 << 10 // bytes of a message; its end is cut off
	maxMessages = 100      // messages that are read in one go, and that wait for a prompt; others stay in the folder
	plainRank   = 1000     // the priority of a message whose name begins with no number
)

// A letter is a message from the inbox.
type letter struct {
	name     string
	text     string
	priority int
}

// errFull says why messages stay in the folder.
var errFull = fmt.Errorf("%d messages wait for a prompt: the others stay in the folder until prompts have shown some", maxMessages)

// An inbox hands on the messages in a folder, each once. Nothing that is wrong in it ends a
// loop: it is told, once, and stays where it is.
type inbox struct {
	folder *folder
	told   map[string]bool   // what is wrong
	stays  map[string]string // by name: letters that were handed on and could not be moved
}

func newInbox(f *folder) *inbox {
	return &inbox{folder: f, told: map[string]bool{}, stays: map[string]string{}}
}

// letters returns what is in the inbox, the most urgent first: files NNN-anything.txt in
// the order of their numbers, then those without one, by name; the first hundred of them.
// What is wrong comes beside them.
func (b *inbox) letters() (out []letter, wrong []error) {
	root := b.folder.root
	if err := root.Mkdir(inboxFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, []error{err}
	}
	entries, err := fs.ReadDir(root.FS(), inboxFolder)
	if err != nil {
		return nil, []error{err}
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { // links and pipes are nobody's messages
		return !e.Type().IsRegular() || path.Ext(e.Name()) != ".txt"
	})
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return rank(a.Name()) - rank(b.Name()) })
	for _, e := range entries {
		if len(out) == maxMessages {
			break
		}
		data, err := b.folder.read(path.Join(inboxFolder, e.Name()), maxMessage)
		text := valid(string(data))
		if old, stays := b.stays[e.Name()]; err == nil && (!stays || old != text) {
			out = append(out, letter{e.Name(), text, rank(e.Name())})
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) { // else taken away meanwhile
			wrong = append(wrong, err)
		}
	}
	return out, wrong
}

// rank returns the number that a name begins with.
func rank(name string) int {
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	if n, err := strconv.Atoi(digits); err == nil {
		return min(n, plainRank)
	}
	return plainRank
}

// taken moves a letter to those that were read.
func (b *inbox) taken(l letter) error {
	root := b.folder.root
	if err := root.Mkdir(doneFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		b.stays[l.name] = l.text
		return err
	}
	if err := root.Rename(path.Join(inboxFolder, l.name), path.Join(doneFolder, l.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.stays[l.name] = l.text
		return err
	}
	return nil
}

// news returns what of some errors nobody was told of.
func (b *inbox) news(wrong ...error) (texts []string) {
	for _, err := range wrong {
		if text := fmt.Sprintf("inbox: %v", err); !b.told[text] {
			b.told[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}
