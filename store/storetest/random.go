package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store"
)

// An Op is one operation on a store, as data.
type Op struct {
	Kind    string   // append, commit, put, stream, cut, fork, delete or snapshot
	Session string   // what it is done to; of a fork the parent
	Child   string   // of a fork
	Seq     int      // of an append, a fork or a snapshot: how far from the end of the session's records
	Texts   []string // the records, the blobs (commit: each is both), what comes as a stream (cut: before it fails) or the snapshot
}

func names() []string { return []string{"a", "b", "c", "\x00 d/../é"} }

func texts() []string {
	return []string{"", "x", "y", "long " + string(bytes.Repeat([]byte("z"), 5000)), strings.Repeat("middle", 30)}
}

// NextOp returns an operation. pick is where its choices come from: it returns a
// number from 0 to n-1. Most operations succeed.
func NextOp(pick func(n int) int) Op {
	oneOf := func(list []string) string { return list[pick(len(list))] }
	op := Op{Kind: oneOf([]string{"append", "append", "commit", "put", "put", "stream", "stream", "cut", "fork", "snapshot", "delete"}), Session: oneOf(names())}
	switch op.Kind {
	case "append", "commit":
		op.Seq = []int{0, 0, 0, 0, -1, 1}[pick(6)]
		for range pick(4) {
			op.Texts = append(op.Texts, oneOf(texts()))
		}
	case "put":
		for range 1 + pick(3) {
			op.Texts = append(op.Texts, oneOf(texts()))
		}
	case "stream", "cut":
		op.Texts = []string{oneOf(texts())}
	case "fork":
		op.Child, op.Seq = oneOf(names()), []int{0, -1, -2, -3, 1}[pick(5)]
	case "snapshot":
		op.Seq, op.Texts = []int{0, 0, -1, -2, 1}[pick(5)], []string{oneOf(texts())}
	}
	return op
}

// Do runs an operation. Of a store that cannot do such a thing it asks nothing.
func (op Op) Do(ctx context.Context, s store.Store) error {
	at := op.Seq
	switch op.Kind {
	case "append", "commit", "fork", "snapshot":
		all, err := read(ctx, s, op.Session, 0)
		if err != nil {
			return err
		}
		at += len(all)
	}
	switch op.Kind {
	case "append":
		return s.Append(ctx, op.Session, at, lines(op.Texts...))
	case "put":
		return s.Put(ctx, op.Session, op.blobs())
	case "commit":
		if c, ok := s.(store.Committer); ok {
			return c.Commit(ctx, op.Session, at, lines(op.Texts...), op.blobs())
		}
		if err := s.Append(ctx, op.Session, at, lines(op.Texts...)); err != nil {
			return err
		}
		return s.Put(ctx, op.Session, op.blobs())
	case "stream", "cut":
		return op.stream(ctx, s)
	case "fork":
		return s.Fork(ctx, op.Session, op.Child, at)
	case "delete":
		if d, ok := s.(store.Deleter); ok {
			return d.Delete(ctx, op.Session)
		}
		return nil
	case "snapshot":
		if n, ok := s.(store.Snapshotter); ok {
			return n.PutSnapshot(ctx, op.Session, at, []byte(op.Texts[0]))
		}
		return nil
	}
	return fmt.Errorf("storetest: do: operation, want one of NextOp, got %q", op.Kind)
}

func (op Op) blobs() (all []edit.Blob) {
	for _, text := range op.Texts {
		all = append(all, blobOf(text))
	}
	return all
}

// stream lets a store take a content as it comes, in pieces. One that fails in the end
// is not kept.
func (op Op) stream(ctx context.Context, s store.Store) error {
	f, ok := s.(store.Streamer)
	if !ok {
		return nil
	}
	text := op.Texts[0]
	r := iotest.HalfReader(strings.NewReader(text))
	if op.Kind == "cut" {
		r = io.MultiReader(r, iotest.ErrReader(errCut))
	}
	ref, size, err := f.PutFrom(ctx, op.Session, r)
	switch want := blobOf(text).Ref; {
	case op.Kind == "cut" && (!errors.Is(err, errCut) || ref != "" || size != 0):
		return fmt.Errorf("storetest: stream that fails: want its error, got %q of %d bytes (%w)", ref, size, err)
	case op.Kind == "cut":
		return nil
	case err == nil && (ref != want || size != int64(len(text))):
		return fmt.Errorf("storetest: stream: want %s of %d bytes, got %s of %d", want, len(text), ref, size)
	}
	return err
}

// errCut is the error of a stream that fails.
var errCut = errors.New("cut")

// Diff compares what the operations of [NextOp] can have left in two stores. It
// returns the first difference, or nothing.
func Diff(ctx context.Context, a, b store.Store) (string, error) {
	for _, n := range names() {
		of1, err := look(ctx, a, n)
		if err != nil {
			return "", err
		}
		of2, err := look(ctx, b, n)
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(of1, func(s string) bool { return !slices.Contains(of2, s) }); i >= 0 {
			return fmt.Sprintf("session %q: only one has %.60s", n, of1[i]), nil
		}
		if i := slices.IndexFunc(of2, func(s string) bool { return !slices.Contains(of1, s) }); i >= 0 {
			return fmt.Sprintf("session %q: only the other has %.60s", n, of2[i]), nil
		}
	}
	return "", nil
}

// look lists what a session has, one thing a line.
func look(ctx context.Context, s store.Store, session string) ([]string, error) {
	var out []string
	all, err := read(ctx, s, session, 0)
	if err != nil {
		return nil, err
	}
	for i, r := range all {
		out = append(out, fmt.Sprintf("record %d %q", i, r))
	}
	for _, text := range texts() {
		got, err := s.Get(ctx, session, blobOf(text).Ref)
		switch {
		case err == nil && string(got) == text:
			out = append(out, fmt.Sprintf("blob %q", text))
		case err == nil:
			return nil, fmt.Errorf("storetest: blob: want %.40q, got %.40q", text, got)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	n, ok := s.(store.Snapshotter)
	if !ok {
		return out, nil
	}
	seq, data, err := n.Snapshot(ctx, session)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	return append(out, fmt.Sprintf("snapshot %d %q", seq, data)), err
}

// Differential runs random operations on two stores and compares what can be seen
// of them after each. a and b return an empty store each time, and close it when t
// ends.
func Differential(t *testing.T, a, b func(t T) store.Store) {
	rapid.Check(t, func(r *rapid.T) {
		one, other := a(r), b(r)
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "pick") }
		for range rapid.IntRange(1, 40).Draw(r, "operations") {
			op := NextOp(pick)
			err1, err2 := op.Do(t.Context(), one), op.Do(t.Context(), other)
			if kindOf(err1) != kindOf(err2) {
				r.Fatalf("%+.200v: %T returned %v, %T returned %v", op, one, err1, other, err2)
			}
			diff, err := Diff(t.Context(), one, other)
			if err != nil || diff != "" {
				r.Fatalf("after %+.200v: %s (%v)", op, diff, err)
			}
		}
	})
}

// kindOf is what a caller can tell errors apart by.
func kindOf(err error) string {
	var conflict *store.ConflictError
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &conflict):
		return fmt.Sprintf("%+v", *conflict)
	case errors.Is(err, store.ErrConflict):
		return "conflict"
	case errors.Is(err, store.ErrNotFound):
		return "not found"
	}
	return "other"
}
