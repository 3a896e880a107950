package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/plimsoll-dev/plimsoll/advice"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/web"
)

// find returns the findings about a session. Of several files none is replayed for them, which
// would take much longer than all else.
func (p *inspectPrinter) find(ctx context.Context, r inspect.Report, s *sessionfile.Session) []inspect.Finding {
	var replayed *advice.Replayed
	if p.single {
		replayed = replayOf(ctx, s, p.flags.model)
	}
	return advice.Of(r, replayed)
}

// An inspectPrinter prints reports as they come.
type inspectPrinter struct {
	streams
	flags   inspectFlags
	width   int
	bar     *progressbar.ProgressBar
	read    int
	nothing int  // files of these without anything to inspect
	single  bool // there is one file
	seen    seenSessions
	copies  sessionfile.Copies
	models  []string         // of what was inspected
	printed bool             // something, so that a blank line comes first
	report  []inspect.Report // for the page, if one is wanted
	words   console.Glossary
}

// file inspects one file. One that cannot be read is reported and left out.
func (p *inspectPrinter) file(ctx context.Context, o inspect.Options, name string) error {
	if ctx.Err() != nil {
		return &codedError{exitInterrupted, fmt.Errorf("inspect: interrupted at %s", name), ""}
	}
	defer p.advance()
	s, err := p.openSession(name)
	if err != nil {
		p.clear()
		printError(p.err, err)
		if p.flags.json {
			return fail(console.PrintJSON(p.out, inspect.Unreadable(name, err)), "")
		}
		return nil
	}
	p.read++
	p.copies.Mark(s)
	shown := o.Top
	o.Top = max(shown, inspect.DefaultTop) // findings do not depend on how many are shown
	report, err := inspect.Session(s, o)
	if err != nil {
		return fail(err, "")
	}
	findings := p.find(ctx, report.Top(inspect.DefaultTop), s)
	report = report.Top(shown)
	report.Findings = findings
	if err := p.kin(&report, s, o); err != nil {
		return fail(err, "")
	}
	if why := nothingIn(report); why != "" {
		p.nothing++
		report.Problems = append(report.Problems, inspect.Problem{What: "nothing to inspect: " + why})
	}
	for _, seg := range report.Segments {
		p.models = append(p.models, seg.Model)
	}
	if p.flags.page.html != "" {
		p.report = append(p.report, report)
	}
	if p.flags.json {
		return fail(console.PrintJSON(p.out, report), "")
	}
	p.clear()
	text := reports.Inspection(report, p.width, console.Colourful(p.out), p.flags.steps)
	if p.printed {
		text = "\n" + text
	}
	p.printed = true
	p.words.Note(text)
	return fail(console.Print(p.out, text), "")
}

// nothingIn says why a report has no Step and no word of how a call ended; empty if it has one.
func nothingIn(r inspect.Report) string {
	switch {
	case r.Totals.Steps+r.Totals.CopiedSteps > 0 || r.End.Failed != nil:
		return ""
	case len(r.Segments) == 0:
		return "the file holds no conversation"
	}
	return "no model call is in the file"
}

// kin adds to the report of a session what other files have to do with it.
func (p *inspectPrinter) kin(r *inspect.Report, s *sessionfile.Session, o inspect.Options) error {
	var first sessionfile.Segment
	if len(s.Segments) > 0 {
		first = s.Segments[0]
	}
	wrong, twin := p.seen.add(s, first)
	for _, what := range []string{missingParent(s), wrong} {
		if what != "" {
			r.Problems = append(r.Problems, inspect.Problem{What: what})
		}
	}
	if twin != "" { // its sub-agents are the other file's
		return nil
	}
	agents, bad, err := agentsOf(s.Path, func(s *sessionfile.Session) (inspect.Report, error) {
		p.copies.Mark(s)
		return inspect.Session(s, o)
	})
	for _, what := range bad {
		r.Problems = append(r.Problems, inspect.Problem{What: what})
	}
	r.Attach(agents)
	return err
}

// finish returns the error that the exit code says.
func (p *inspectPrinter) finish(files int) error {
	if err := tellPrices(p.err, p.models); err != nil {
		return fail(err, "")
	}
	if err := p.words.Print(p.out); err != nil {
		return fail(err, "")
	}
	if p.flags.page.html != "" && p.read > 0 {
		err := p.flags.page.save("inspect", p.streams, func(w io.Writer, o web.Options) error { return web.WriteInspect(w, p.report, o) })
		if err != nil {
			return err
		}
	}
	switch {
	case files == 0:
		return fail(errors.New("inspect: no session file found"), noSessionHint)
	case p.read == 0:
		return fail(fmt.Errorf("inspect: %s", noneRead(files)), "plimsoll sessions lists the sessions on this machine")
	case p.nothing == p.read:
		return fail(errors.New("inspect: nothing was inspected: no file has a model call"), "with --json it says what is in the file")
	}
	return nil
}

func (p *inspectPrinter) advance() {
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
	}
}

func (p *inspectPrinter) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
