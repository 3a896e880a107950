package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"

	"github.com/plimsoll-dev/plimsoll/core/edit"
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
	text := contextText(c, console.Width(s.out))
	if err := console.Print(s.out, text); err != nil {
		return fail(err, "")
	}
	words := console.Glossary{Words: inspectWords()}
	words.Note(text)
	return fail(words.Print(s.out), "")
}

// contextText writes what takes how much of the window.
func contextText(c inspect.Context, width int) string {
	w := newReportWriter(width)
	w.Title(fmt.Sprintf("%s  step %s", w.Named(c.Session), c.Name()))
	text := fmt.Sprintf("%s, %s tokens (%s)", modelName(c.Model), edit.Thousands(c.Tokens), c.Kind)
	if c.Window > 0 {
		text += fmt.Sprintf(", %s of the window of %s", console.Share(c.Tokens, c.Window), edit.Thousands(c.Window))
	}
	w.Para(w.Style.Plain, text)
	all := cmp.Or(c.Window, c.Tokens)
	t := console.Table{Width: width, Columns: []console.Column{{Name: "  what"}, {Name: "tokens", Right: true}, {Name: "share", Right: true}, {Name: "items", Right: true, Spare: 1}, {Name: ""}}}
	columns := min(max(width-contextTable, leastBar), contextBar)
	row := func(what string, tokens, items int) {
		bar := strings.Repeat("#", (tokens*columns+all/2)/all)
		t.Rows = append(t.Rows, console.Plain("  "+console.Safe(what), edit.Thousands(tokens), console.Share(tokens, all), console.Count(items), bar))
	}
	for _, r := range c.Rows {
		what := r.What
		if r.Name != "" {
			what += " of " + r.Name
		}
		row(what, r.Tokens, r.Items)
	}
	if c.Buffer > 0 {
		row("kept free by the client (about)", c.Buffer, 0)
	}
	if c.Window > 0 {
		row("free", c.Free, 0)
	}
	w.WriteString(t.String())
	return w.String()
}

// Columns that the whole window has in the bars of a context.
const (
	contextBar   = 60
	leastBar     = 8
	contextTable = 56 // beside them
)

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
	return usage(fmt.Errorf("inspect: --message %d, want a message of step %s", f.message, l.Name()), "plimsoll inspect PATH --step "+f.step+" lists them")
}

// followEvery is how often a session that is followed is looked at.
const followEvery = time.Second

// followOne prints a line for each new Step of a session until the context ends.
func (f inspectFlags) followOne(ctx context.Context, s streams, o inspect.Options, files []string) error {
	if len(files) != 1 {
		return usage(fmt.Errorf("inspect: --follow wants one session file, got %d", len(files)), "")
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
				if _, err := fmt.Fprintln(s.out, followLine(g, st, before)); err != nil {
					return n, fail(err, "")
				}
			}
			before = st.Tokens
		}
	}
	return max(n, printed), nil
}

// followLine is a Step on one line.
func followLine(g inspect.Segment, st inspect.Step, before int) string {
	at := ""
	if st.Time > 0 {
		at = console.Clock(st.Time) + "  "
	}
	grown := fmt.Sprintf("%+d", st.Tokens-before)
	text := fmt.Sprintf("%sstep %s  %s tokens", at, strconv.Itoa(st.Number), edit.Thousands(st.Tokens))
	if g.Window > 0 {
		text += " (" + console.Share(st.Tokens, g.Window) + ")"
	}
	text += "  " + grown
	if c := st.Cache; c != nil {
		text += fmt.Sprintf("  %s from the cache", edit.Thousands(c.Read))
	}
	if st.CostUSD.Known {
		text += "  " + st.CostUSD.String()
	}
	if st.Refused != nil {
		text += "  refused: " + console.Safe(st.Refused.Class)
	}
	return text
}
