package plimsoll

import (
	"context"
	"fmt"
	"iter"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Look returns what a session that a store has comes to, as [Open] would begin with it, without
// taking it up: nothing is decided and nothing written. snapshot is how many of its records a
// snapshot had, 0 if none was of use. A session that has not begun comes to nothing.
func Look(ctx context.Context, st store.Store, id string) (s journal.Snapshot, snapshot int, err error) {
	s, page, err := drive.Collect(ctx, st, id, func(all iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] { return all })
	if err != nil {
		return journal.Snapshot{}, 0, fmt.Errorf("plimsoll: look at %q: %w", id, err)
	}
	return s, page.To, nil
}
