package places

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// databaseAgents lists the sub-agents of a session of a database, and theirs.
func databaseAgents(file, id string) ([]string, error) {
	sessions, err := formats.Sessions(file)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: agents: %w", err)
	}
	children := map[string][]string{} // ids by the parent's
	for _, s := range sessions {
		_, child := formats.Split(s.Path)
		children[s.Parent] = append(children[s.Parent], child)
	}
	var all []string
	seen := map[string]bool{id: true}
	for open := []string{id}; len(open) > 0; open = open[1:] {
		for _, child := range children[open[0]] {
			if !seen[child] {
				seen[child] = true
				open = append(open, child)
				all = append(all, file+"#"+child)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// databaseParent returns the session of a database that started another one of it.
func databaseParent(file, id string) (string, error) {
	sessions, err := formats.Sessions(file)
	if err != nil {
		return "", fmt.Errorf("sessionfile: parent: %w", err)
	}
	at := slices.IndexFunc(sessions, func(s formats.Listed) bool { return s.Path == file+"#"+id })
	if at < 0 || sessions[at].Parent == "" {
		return "", nil
	}
	parent := file + "#" + sessions[at].Parent
	if !slices.ContainsFunc(sessions, func(s formats.Listed) bool { return s.Path == parent }) {
		return "", fmt.Errorf("sessionfile: parent: %s#%s, want session %q, from which it began, in the same database, got none", file, id, sessions[at].Parent)
	}
	return parent, nil
}
