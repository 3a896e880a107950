package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// one shows one Step, or what changed between two.
func (f inspectFlags) one(s streams, o inspect.Options, files []string) error {
	if len(files) != 1 {
		return usage(fmt.Errorf("inspect: --step, --diff, --context and --message want one session file, got %d", len(files)), "")
	}
	session, err := s.openSession(files[0])
	if err != nil {
		return fail(err, "plimsoll sessions lists the sessions on this machine")
	}
	if f.diff != "" {
		return f.showDiff(s, session, o)
	}
	ref, err := f.ref(session)
	if err != nil {
		return err
	}
	if f.context {
		return f.showContext(s, session, ref, o)
	}
	l, err := inspect.Contents(session, ref, o)
	if err != nil {
		return stepError(err)
	}
	if f.message > 0 {
		return f.showMessage(s, l)
	}
	if f.json {
		return fail(console.PrintJSON(s.out, l), "")
	}
	return fail(console.Print(s.out, reports.Listing(l, console.Width(s.out))), "")
}

// ref returns the Step that is asked for, the last one if none is.
func (f inspectFlags) ref(session *sessionfile.Session) (inspect.StepRef, error) {
	if f.step != "" {
		return parseStep(session, f.step)
	}
	ref, ok := inspect.Last(session)
	if !ok {
		return ref, fail(errors.New("inspect: no model call is in the file"), "")
	}
	return ref, nil
}

func (f inspectFlags) showDiff(s streams, session *sessionfile.Session, o inspect.Options) error {
	a, b, err := f.pair(session)
	if err != nil {
		return err
	}
	d, err := inspect.Compare(session, a, b, o)
	if err != nil {
		return stepError(err)
	}
	if f.json {
		return fail(console.PrintJSON(s.out, d), "")
	}
	return fail(console.Print(s.out, reports.Difference(d, console.Width(s.out))), "")
}

// pair returns the two Steps that are compared.
func (f inspectFlags) pair(s *sessionfile.Session) (a, b inspect.StepRef, err error) {
	from, to, ok := strings.Cut(f.diff, "..")
	if f.diff != diffBefore {
		if !ok {
			return a, b, usage(fmt.Errorf("inspect: --diff %q, want two steps A..B", f.diff), "plimsoll inspect PATH --diff 11..12")
		}
		if a, err = parseStep(s, from); err == nil {
			b, err = parseStep(s, to)
		}
		return a, b, err
	}
	if b, err = parseStep(s, f.step); err != nil {
		return a, b, err
	}
	a, ok = inspect.Before(s, b)
	if !ok {
		return a, b, usage(fmt.Errorf("inspect: --diff: step %s is the first", b.Name()), "")
	}
	return a, b, nil
}

// parseStep reads "14" or "2.14".
func parseStep(s *sessionfile.Session, text string) (inspect.StepRef, error) {
	segment, step, two := strings.Cut(text, ".")
	n, err := strconv.Atoi(segment)
	if err == nil && !two {
		ref, err := inspect.StepAt(s, n)
		return ref, stepError(err)
	}
	k, err2 := strconv.Atoi(step)
	if err != nil || err2 != nil {
		return inspect.StepRef{}, usage(fmt.Errorf("inspect: step %q, want a number or SEGMENT.STEP", text), "")
	}
	return inspect.StepRef{Segment: n, Step: k}, nil
}

// stepError makes a Step that there is none of an error of the command line.
func stepError(err error) error {
	if _, ok := errors.AsType[*inspect.NoStepError](err); ok {
		return usage(err, "")
	}
	return fail(err, "")
}

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
