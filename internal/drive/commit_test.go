package drive_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A committing store keeps blobs and records at once, and can fail to.
type committing struct {
	*watched
	err error
}

func (c *committing) Commit(ctx context.Context, session string, seq int, lines [][]byte, blobs []edit.Blob) error {
	c.calls = append(c.calls, "commit")
	if c.err != nil {
		return c.err
	}
	return errors.Join(c.Memory.Put(ctx, session, blobs), c.Memory.Append(ctx, session, seq, lines))
}

// TestCommit: a store that can is given contents and the records that name them at once. One
// that takes neither is law 12: the output stays in the conversation, with a record of it, and
// nothing names what is not kept.
func TestCommit(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		shown engine.Shown
		calls string
	}{
		"kept":     {nil, engine.ShownHandle, "append, commit"},
		"not kept": {errFull, engine.ShownWhole, "append, commit, append"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watched{}
			c := config(t, "guard", 20_000, w)
			c.Store = &committing{w, tt.err}
			d := open(t, c)
			feed(t, d, human("Read it."))
			w.calls = nil
			done := work(t, d, 1_000)
			if got := strings.Join(w.calls, ", "); got != tt.calls {
				t.Errorf("calls %s, want %s", got, tt.calls)
			}
			if !errors.Is(done.BlobsErr, tt.err) || len(done.Placements) != 1 || done.Placements[0].Shown != tt.shown {
				t.Errorf("placed %+v (%v), want it shown: %s", done.Placements, done.BlobsErr, tt.shown)
			}
			if again := open(t, c); len(again.Machine().Messages()) != 3 || again.Records() != d.Records() || len(again.Machine().Journal()) != len(d.Machine().Journal()) {
				t.Errorf("taken up: %d messages of %d records, want 3 of %d", len(again.Machine().Messages()), again.Records(), d.Records())
			}
		})
	}
}

// TestCommitConflicts: where another writer was faster the driver goes on only from what the
// store has.
func TestCommitConflicts(t *testing.T) {
	w := &watched{}
	c := config(t, "guard", 20_000, w)
	c.Store = &committing{w, &store.ConflictError{Session: "s"}}
	d := open(t, c)
	feed(t, d, human("Read it."))
	feed(t, d, reply(call()))
	if _, err := d.Feed(t.Context(), output(1_000)); !errors.Is(err, store.ErrConflict) || !d.Stopped() {
		t.Errorf("got %v, stopped %v, want a conflict and a stop", err, d.Stopped())
	}
}
