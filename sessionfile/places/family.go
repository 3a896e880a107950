package places

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// Agents lists the files of the sub-agents of the session in a file, and of theirs, in
// lexical order: of Claude Code those in the folder subagents of the session's own folder,
// and those beside it that name it; of Codex the rollouts of the days on which the session
// ran that name it; of a session of a database those of the same database, each as its path
// and id. A file of another client, and a sub-agent's own of Claude Code, has none. Links are
// not followed, but for path itself.
//
// What is wrong is left out and told in the error, such as a second file of one sub-agent,
// or a link where one may be; the list is good in spite of it.
func Agents(path string) ([]string, error) {
	if file, id := formats.Split(path); id != "" {
		return databaseAgents(file, id)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: agents: %w", err)
	}
	if h := codexHead(real); h.id != "" {
		return codexAgents(real, h)
	}
	if h := claudeHead(real); h.id != "" && !h.agent {
		return claudeAgents(real, h)
	}
	return nil, nil
}

// Parent returns the file of the session from which the one in a file began, as a
// sub-agent or as a fork; empty if it names none. It is known of Claude Code, Codex, pi and
// opencode. The error says which session is not where its client would keep it, or beside
// path, or is there more than once.
func Parent(path string) (string, error) {
	if file, id := formats.Split(path); id != "" {
		return databaseParent(file, id)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("sessionfile: parent: %w", err)
	}
	var all []string
	var h head
	for _, k := range kinds {
		if h = k.head(real); h.id != "" {
			if h.parent != "" {
				all = slices.DeleteFunc(k.parents(real, h), func(file string) bool { return file == real })
			}
			break
		}
	}
	switch {
	case h.parent == "":
		return "", nil
	case len(all) == 0:
		return "", fmt.Errorf("sessionfile: parent: %s, want the file of session %q, from which it began, got none", path, h.parent)
	}
	if len(all) > 1 {
		return all[0], fmt.Errorf("sessionfile: parent: %s, want one file of session %q, got also %s", path, h.parent, strings.Join(all[1:], ", "))
	}
	return all[0], nil
}

// kinds are how the files of each client say whose they are, and where the parent of one is.
var kinds = []struct {
	head    func(path string) head
	parents func(path string, h head) []string
}{
	{codexHead, codexParents}, {claudeHead, claudeParents}, {piHead, piParents}, {openCodeHead, openCodeParents},
}

// codexParents lists the rollouts of a session, which have its id in their names.
func codexParents(path string, h head) []string {
	return slices.DeleteFunc(rollouts(codexRoots(filepath.Dir(path)), "-"+h.parent+".jsonl"), func(file string) bool {
		return codexHead(file).id != h.parent
	})
}

// claudeParents lists the files of a session: the one in the folder of path, or in one that
// this lies in, that is called so, else those beside path that hold it.
func claudeParents(path string, h head) []string {
	id := h.parent
	if filepath.Base(id) != id {
		return nil
	}
	const levels = 6 // a sub-agent may lie in folders of the session's own
	own := filepath.Dir(path)
	for i, folder := 0, own; i < levels; i, folder = i+1, filepath.Dir(folder) {
		if file := filepath.Join(folder, id+".jsonl"); isFile(file) {
			return []string{file}
		}
	}
	return holders(own, []string{"*.jsonl"}, id, claudeHead)
}

// holders lists the files in a folder of which the head says that they hold a session, and not
// a sub-agent of it.
func holders(folder string, pattern []string, id string, headOf func(string) head) []string {
	var all []string
	walk(folder, pattern, func(below string, _ os.FileInfo) {
		file := filepath.Join(folder, below)
		if h := headOf(file); h.id == id && !h.agent {
			all = append(all, file)
		}
	})
	return all
}

// piParents lists the files of a session of pi: those beside path, else the one that it names,
// else those in the folders of other projects.
func piParents(path string, h head) []string {
	own := filepath.Dir(path)
	all := holders(own, []string{"*.jsonl"}, h.parent, piHead)
	switch {
	case len(all) > 0:
	case isFile(h.named) && piHead(h.named).id == h.parent:
		return []string{h.named}
	case strings.HasPrefix(filepath.Base(own), "--"):
		return holders(filepath.Dir(own), []string{"--*", "*.jsonl"}, h.parent, piHead)
	}
	return all
}

// openCodeParents lists the exports of a session beside path. What started a sub-agent may be
// one itself.
func openCodeParents(path string, h head) []string {
	return holders(filepath.Dir(path), []string{"*.json"}, h.parent, openCodeHead)
}

// A family collects files by the ids in them.
type family struct {
	files map[string]string // by id
	wrong []error
}

// add adds a file, unless there is one with its id.
func (f *family) add(id, path string) {
	if first, ok := f.files[id]; ok {
		f.wrong = append(f.wrong, fmt.Errorf("sessionfile: agents: %s, left out: want one file of sub-agent %q, got also %s", path, id, first))
		return
	}
	f.files[id] = path
}

// list returns all files.
func (f *family) list() ([]string, error) {
	var all []string
	for _, path := range f.files {
		all = append(all, path)
	}
	slices.Sort(all)
	return all, errors.Join(f.wrong...)
}

// claudeAgents lists the sub-agents of a session of Claude Code.
func claudeAgents(path string, h head) ([]string, error) {
	f := &family{files: map[string]string{}}
	folder := filepath.Dir(path)
	own := filepath.Join(folder, strings.TrimSuffix(filepath.Base(path), ".jsonl"), "subagents")
	f.below(own)
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.wrong = append(f.wrong, fmt.Errorf("sessionfile: agents: %w", err))
	}
	for _, e := range entries {
		beside := filepath.Join(folder, e.Name())
		if !isAgentName(e.Name()) || beside == path {
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			f.link(beside)
		}
		if !e.Type().IsRegular() {
			continue
		}
		if a := claudeHead(beside); a.agent && a.parent == h.id {
			f.add(a.id, beside)
		}
	}
	return f.list()
}

// below adds the sub-agents in the folder that a session of Claude Code has for them. A link
// in its place, or in that of a file in it, is told: what it leads to is not looked at.
func (f *family) below(own string) {
	for _, folder := range []string{filepath.Dir(own), own} {
		if isLink(folder) {
			f.link(folder)
		}
		if !isFolder(folder) {
			return
		}
	}
	err := filepath.WalkDir(own, func(below string, d fs.DirEntry, err error) error {
		if err == nil && isAgentName(d.Name()) {
			switch {
			case d.Type().IsRegular():
				f.add(agentOf(below), below)
			case d.Type()&fs.ModeSymlink != 0:
				f.link(below)
			}
		}
		return nil // what cannot be looked at is not ours
	})
	if err != nil {
		f.wrong = append(f.wrong, fmt.Errorf("sessionfile: agents: %w", err))
	}
}

// link tells that a link was left out.
func (f *family) link(path string) {
	f.wrong = append(f.wrong, fmt.Errorf("sessionfile: agents: %s, left out: want a file or folder itself, got a link", path))
}

// isAgentName reports whether a file may be a sub-agent's of Claude Code, by its name.
func isAgentName(name string) bool {
	return strings.Contains(name, "agent-") && strings.HasSuffix(name, ".jsonl")
}

// agentOf returns the id of a sub-agent, which its file's name holds if the file does not.
func agentOf(path string) string {
	if h := claudeHead(path); h.agent {
		return h.id
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
}

// codexAgents lists the sub-agents of a session of Codex.
func codexAgents(path string, h head) ([]string, error) {
	f := &family{files: map[string]string{}}
	children := map[string][]string{} // files by the parent's id
	ids := map[string]string{}        // by file
	days := daysOf(path)
	for _, link := range linksIn(days) {
		f.link(link)
	}
	for _, file := range rollouts(days, "") {
		if file == path {
			continue
		}
		if a := codexHead(file); a.agent && a.parent != "" {
			children[a.parent] = append(children[a.parent], file)
			ids[file] = a.id
		}
	}
	for open := []string{h.id}; len(open) > 0; open = open[1:] {
		for _, file := range children[open[0]] {
			id := ids[file]
			if _, ok := f.files[id]; !ok {
				open = append(open, id)
			}
			f.add(id, file)
		}
	}
	return f.list()
}

// codexDay is how the folders of a day end.
const codexDay = "2006/01/02"

// dayOf returns the folder of all rollouts and the day of a folder in it; false if it is
// not one of a day.
func dayOf(folder string) (root string, day time.Time, ok bool) {
	slashed := filepath.ToSlash(folder)
	if len(slashed) <= len(codexDay) {
		return "", time.Time{}, false
	}
	at := len(slashed) - len(codexDay)
	day, err := time.Parse(codexDay, slashed[at:])
	return filepath.FromSlash(slashed[:at]), day, err == nil
}

// daysOf returns the folders of the days on which a session ran, by its folder and the
// time at which it was last written, and one day more on either side, since folders are
// named in the time of their place.
func daysOf(path string) []string {
	folder := filepath.Dir(path)
	root, day, ok := dayOf(folder)
	info, err := os.Stat(path)
	if !ok || err != nil {
		return []string{folder}
	}
	const day24, most = 24 * time.Hour, 60 // days that are looked at
	var all []string
	for at := day.Add(-day24); !at.After(info.ModTime().Add(day24)) && len(all) < most || !at.After(day.Add(day24)); at = at.Add(day24) {
		all = append(all, filepath.Join(root, filepath.FromSlash(at.Format(codexDay))))
	}
	return all
}

// codexRoots returns the folders in which rollouts may be, of a rollout's own: all days,
// and the archive.
func codexRoots(folder string) []string {
	root, _, ok := dayOf(folder)
	if !ok {
		root = filepath.Join(filepath.Dir(folder), "sessions")
	}
	all := []string{folder, filepath.Join(filepath.Dir(filepath.Clean(root)), "archived_sessions")}
	walk(root, []string{"*", "*", "*", "rollout-*.jsonl"}, func(below string, _ os.FileInfo) {
		if day := filepath.Join(root, filepath.Dir(below)); !slices.Contains(all, day) {
			all = append(all, day)
		}
	})
	return all
}

// rollouts lists the rollouts in some folders whose names end so. A folder that a link
// leads to is left out.
func rollouts(folders []string, end string) []string {
	var all []string
	for _, folder := range folders {
		if real, err := filepath.EvalSymlinks(folder); err != nil || real != folder {
			continue
		}
		walk(folder, []string{"rollout-*.jsonl"}, func(below string, _ os.FileInfo) {
			if strings.HasSuffix(below, end) {
				all = append(all, filepath.Join(folder, below))
			}
		})
	}
	return all
}

// linksIn lists which of some folders are behind a link, and which rollouts in the others are
// links.
func linksIn(folders []string) []string {
	var all []string
	for _, folder := range folders {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue // there is no such day
		}
		if real != folder {
			all = append(all, folder)
			continue
		}
		entries, _ := os.ReadDir(folder) // what cannot be looked at is not ours
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 && strings.HasPrefix(e.Name(), "rollout-") {
				all = append(all, filepath.Join(folder, e.Name()))
			}
		}
	}
	return all
}

// isFile, isFolder and isLink report what a path is itself.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
