package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// followEvery is how often a session that is followed is looked at.
const followEvery = time.Second

// followOne prints a line for each new Step of a session until the context ends.
func (f inspectFlags) followOne(ctx context.Context, s streams, o inspect.Options, files []string) error {
	if len(files) != 1 {
		return usage(fmt.Errorf("inspect: --follow wants one session file, got %d", len(files)), "")
	}
	if files[0] == stdinName {
		return usage(errors.New("inspect: --follow wants a session file, got the standard input"), "")
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	return follow(ctx, s, o, files[0], tick.C)
}

// follow prints the Steps of a session that were not printed, now and at each tick at which
// the file has another size.
func follow(ctx context.Context, s streams, o inspect.Options, path string, tick <-chan time.Time) error {
	printed, size := 0, int64(-1)
	for {
		file, _ := formats.Split(path)
		info, err := os.Stat(file)
		if err != nil {
			return fail(fmt.Errorf("inspect: --follow: %w", err), "")
		}
		if info.Size() != size {
			size = info.Size()
			if printed, err = followed(s, o, path, printed); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case _, more := <-tick:
			if !more {
				return nil
			}
		}
	}
}

// followed prints the Steps beyond so many, and returns how many there are.
func followed(s streams, o inspect.Options, path string, printed int) (int, error) {
	session, err := formats.Open(path)
	if _, unknown := errors.AsType[*sessionfile.FormatError](err); unknown {
		return printed, nil // nothing to be read yet
	}
	if err != nil {
		return printed, fail(err, "")
	}
	r, err := inspect.Session(session, o)
	if err != nil {
		return printed, fail(err, "")
	}
	n, before := 0, 0
	for _, g := range r.Segments {
		for _, st := range g.Steps {
			if n++; n > printed {
				if _, err := fmt.Fprintln(s.out, reports.Follow(g, st, before)); err != nil {
					return n, fail(err, "")
				}
			}
			before = st.Tokens
		}
	}
	return max(n, printed), nil
}
