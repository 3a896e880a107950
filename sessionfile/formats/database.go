package formats

import (
	"fmt"
	"os"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A Listed is one session of a file that holds several.
type Listed struct {
	Path   string // by which [Open] reads it: "opencode.db#ses_1"
	Parent string // id of the session whose sub-agent it is, if any
	Time   int64  // when it was last written, in Unix milliseconds
}

// Sessions lists the sessions of a database, the one that was begun first first. It is
// empty for a file that is one session, or that nothing is known about. The error is the
// operating system's or the database's.
func Sessions(path string) ([]Listed, error) {
	src, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: sessions: %w", err)
	}
	defer func() { _ = src.Close() }() // it was only read
	in, err := inputOf(src)
	if err != nil || !in.Database() {
		return nil, err
	}
	in.Path = path
	d := detection{in: in, readers: readers()}
	if d.database(); d.err != nil {
		return nil, fmt.Errorf("sessionfile: sessions: %s, want a database that can be read, got: %w", path, d.err)
	} else if d.format == "" {
		return nil, nil
	}
	parts, err := d.found.Parts(path)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: sessions: %s: %w", path, err)
	}
	return listed(path, parts), nil
}

func listed(path string, parts []read.Part) []Listed {
	all := make([]Listed, len(parts))
	for i, p := range parts {
		all[i] = Listed{Path: path + "#" + p.ID, Parent: p.Parent, Time: p.Time}
	}
	return all
}
