package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

func (f inspectFlags) showContext(s streams, session *sessionfile.Session, ref inspect.StepRef, o inspect.Options) error {
	c, err := inspect.ContextOf(session, ref, o)
	if err != nil {
		return stepError(err)
	}
	if f.json {
		return fail(console.PrintJSON(s.out, c), "")
	}
	text := reports.Context(c, console.Width(s.out))
	if err := console.Print(s.out, text); err != nil {
		return fail(err, "")
	}
	words := console.Glossary{Words: reports.InspectWords()}
	words.Note(text)
	return fail(words.Print(s.out), "")
}

// showMessage prints one message of a request whole. In a terminal what it would obey is shown
// as an escape; elsewhere the text is as it is.
func (f inspectFlags) showMessage(s streams, l inspect.Listing) error {
	for _, it := range l.Items {
		if it.What != inspect.ItemMessage || it.Message != f.message {
			continue
		}
		var b strings.Builder
		for i, p := range it.Parts {
			if i > 0 {
				b.WriteByte('\n')
			}
			if p.Kind != "text" || len(it.Parts) > 1 {
				b.WriteString("[" + strings.TrimSpace(p.Kind+" "+console.Safe(p.Name)) + "]\n")
			}
			text := p.Text
			if console.IsTerminal(s.out) {
				text = console.SafeLines(text)
			}
			b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
		}
		_, err := fmt.Fprint(s.out, b.String())
		return fail(err, "")
	}
	last := 0
	for _, it := range l.Items {
		last = max(last, it.Message)
	}
	return usage(fmt.Errorf("inspect: --message %d, want 1 to %d of step %s", f.message, last, l.Name()), "plimsoll inspect PATH --step "+l.Name()+" lists them")
}

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
