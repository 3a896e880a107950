package places

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Found is a session file in one of the usual places.
type Found struct {
	Path   string
	Client string    // whose it is, in the words of sessionfile.Session.Client
	Time   time.Time // when it was last written
	Size   int64     // bytes
	Hint   string    // why it cannot be read as it is, and what to do; empty if it can
	// Agent says that it is a sub-agent's, whose session is another file.
	Agent bool
	// Database says that the file may hold many sessions, which sessionfile/formats lists.
	Database bool
}

// Newest lists the session files in the usual places of each program, the one
// written last first, and at most limit of them; all if limit is 0 or less. Of the
// environment it sees what env returns, goos is as runtime.GOOS, home the user's
// folder. The sub-agents of a session are not listed ([Agents] does that), nor is what cannot be
// looked at. The root of a place may be a link; links below it are not followed.
func Newest(env func(string) string, goos, home string, limit int) []Found {
	all := slices.DeleteFunc(All(env, goos, home), func(f Found) bool { return f.Agent })
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all
}

// All is Newest with the files of sub-agents, which are sessions of their own to who sums up
// what all of them took.
func All(env func(string) string, goos, home string) []Found {
	var all []Found
	seen := map[string]bool{}
	for _, p := range (where{env: env, goos: goos, home: home}).places() {
		root, err := filepath.EvalSymlinks(p.root)
		if err != nil {
			continue // there is no such folder
		}
		walk(root, strings.Split(p.pattern, "/"), func(below string, info os.FileInfo) {
			out, _ := path.Match(p.not, info.Name()) // the patterns are ours
			real := filepath.Join(root, below)
			if out || seen[real] {
				return
			}
			seen[real] = true
			all = append(all, Found{
				Path: filepath.Join(p.root, below), Client: p.client, Time: info.ModTime(), Size: info.Size(), Database: p.database,
				Agent: p.agents || p.client == "codex" && codexHead(real).agent,
			})
		})
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// walk calls visit for each regular file below root whose path fits the pattern's
// elements.
func walk(root string, pattern []string, visit func(below string, info os.FileInfo)) {
	level := []string{""}
	for depth, element := range pattern {
		last := depth == len(pattern)-1
		var next []string
		for _, folder := range level {
			entries, err := os.ReadDir(filepath.Join(root, folder))
			if err != nil {
				continue // not there, or not ours to look at
			}
			for _, e := range entries {
				fits, _ := path.Match(element, e.Name()) // the patterns are ours
				switch below := filepath.Join(folder, e.Name()); {
				case !fits:
				case !last && e.IsDir():
					next = append(next, below)
				case last && e.Type().IsRegular():
					if info, err := e.Info(); err == nil {
						visit(below, info)
					}
				}
			}
		}
		level = next
	}
}
