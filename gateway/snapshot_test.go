package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A kept store is taken for one on a disk, and remembers what is done with snapshots.
type kept struct {
	*store.Memory
	mu   sync.Mutex
	put  []int                             // by number of records
	from []int                             // the first record that was read, each time
	serv func(seq int, data []byte) []byte // what is read of one; nil: what was kept
	most int                               // the newest that is read; 0: any
	full bool                              // none is taken
}

func (k *kept) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full {
		return errors.New("the disk is full")
	}
	k.put = append(k.put, seq)
	return k.Memory.PutSnapshot(ctx, session, seq, data)
}

func (k *kept) Snapshot(ctx context.Context, session string) (int, []byte, error) {
	if k.most > 0 {
		data, err := k.SnapshotAt(ctx, session, k.most)
		return k.most, data, err
	}
	seq, data, err := k.Memory.Snapshot(ctx, session)
	return seq, k.served(seq, data), err
}

func (k *kept) SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error) {
	data, err := k.Memory.SnapshotAt(ctx, session, seq)
	return k.served(seq, data), err
}

func (k *kept) served(seq int, data []byte) []byte {
	if k.serv == nil || data == nil {
		return data
	}
	return k.serv(seq, bytes.Clone(data))
}

func (k *kept) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		n := 0
		for r, err := range k.Memory.Records(ctx, session, from) {
			if n++; !yield(r, err) {
				break
			}
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if n > 1 { // whether there is one is asked as well
			k.from = append(k.from, from)
		}
	}
}

// older returns of how many records there is a snapshot that is not the newest one.
func (k *kept) older(t *testing.T, session string) int {
	t.Helper()
	newest, _, err := k.Memory.Snapshot(t.Context(), session)
	must(t, err)
	most := 0
	for _, seq := range k.put {
		if data, err := k.Memory.SnapshotAt(t.Context(), session, seq); err == nil && len(data) > 0 && seq < newest {
			most = max(most, seq)
		}
	}
	if most == 0 {
		t.Fatalf("want more than one snapshot, got %v", k.put)
	}
	return most
}

// worked plays a conversation that is made shorter several times, and closes its gateway.
func worked(t *testing.T, s store.Store) *talk {
	t.Helper()
	g := begin(t, s)
	c := newTalk(t, "Read them.")
	for range 100 {
		ends(t, c.reads(60).sends(g))
	}
	must(t, g.Close(t.Context()))
	return c
}

// TestSnapshotsOfConversations (R002-19, R002-20): what the proxy keeps of a conversation is taken
// up from a snapshot, and what leaves is what leaves without one; also where the snapshot is
// stale, missing, damaged or of another version, and where none could be kept.
func TestSnapshotsOfConversations(t *testing.T) {
	plain := &store.Memory{}
	c := worked(t, plain)
	want := c.reads(60).sends(begin(t, plain))
	if !want.Edited() {
		t.Fatal("nothing was taken out")
	}
	for name, damage := range map[string]func(k *kept){
		"R002-19_whole":   func(*kept) {},
		"R002-19_stale":   func(k *kept) { k.most = k.older(t, want.Report().Session) },
		"R002-19_missing": func(k *kept) { k.serv = func(int, []byte) []byte { return nil } },
		"R002-19_damaged": func(k *kept) { k.serv = func(_ int, d []byte) []byte { return d[:len(d)/2] } },
		"R002-19_version": func(k *kept) {
			k.serv = func(_ int, d []byte) []byte {
				return bytes.Replace(d, []byte(`"plimsoll":`), []byte(`"plimsoll":9`), 1)
			}
		},
		"R002-26_none": func(k *kept) {
			k.full, k.Memory = true, &store.Memory{}
			worked(t, k)
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{Memory: &store.Memory{}}
			c := worked(t, k)
			if len(k.put) == 0 {
				t.Fatal("no snapshot after a compaction")
			}
			damage(k)
			k.from = nil
			got := c.reads(60).sends(begin(t, k))
			if !bytes.Equal(got.Body(), want.Body()) || got.Report().Match != gateway.MatchNext {
				t.Errorf("after a restart %+v, and another body than from records: %v", got.Report(), !bytes.Equal(got.Body(), want.Body()))
			}
			if whole := slices.Contains(k.from, 0); whole == (name == "R002-19_whole" || name == "R002-19_stale") {
				t.Errorf("read from records %v on", k.from)
			}
		})
	}
}
