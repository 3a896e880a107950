package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"charm.land/lipgloss/v2"
	"github.com/schollz/progressbar/v3"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/web"
)

// An inspectPrinter prints reports as they come.
type inspectPrinter struct {
	streams
	flags   inspectFlags
	width   int
	bar     *progressbar.ProgressBar
	read    int
	models  []string         // of what was inspected
	printed bool             // something, so that a blank line comes first
	report  []inspect.Report // for the page, if one is wanted
}

// file inspects one file. One that cannot be read is reported and left out.
func (p *inspectPrinter) file(ctx context.Context, o inspect.Options, name string) error {
	if ctx.Err() != nil {
		return &codedError{exitInterrupted, fmt.Errorf("inspect: interrupted at %s", name), ""}
	}
	defer p.advance()
	s, err := formats.Open(name)
	if err != nil {
		p.clear()
		printError(p.err, err)
		if p.flags.json {
			return fail(printJSON(p.out, inspect.Unreadable(name, err)), "")
		}
		return nil
	}
	p.read++
	report, err := inspect.Session(s, o)
	if err != nil {
		return fail(err, "")
	}
	if err := attach(&report, name, o); err != nil {
		return fail(err, "")
	}
	for _, seg := range report.Segments {
		p.models = append(p.models, seg.Model)
	}
	if p.flags.page.html != "" {
		p.report = append(p.report, report)
	}
	if p.flags.json {
		return fail(printJSON(p.out, report), "")
	}
	p.clear()
	text := reportText(report, p.width, colourful(p.out), p.flags.steps)
	if p.printed {
		text = "\n" + text
	}
	p.printed = true
	return fail(printStyled(p.out, text), "")
}

// finish returns the error that the exit code says.
func (p *inspectPrinter) finish(files int) error {
	if err := tellPrices(p.err, p.models); err != nil {
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
		return fail(fmt.Errorf("inspect: %s", noneRead(files)), "docs/session-formats.md says what can be read")
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

// printStyled prints a text without the colours that w cannot show.
func printStyled(w io.Writer, text string) error {
	_, err := lipgloss.Fprint(w, text)
	return err
}
