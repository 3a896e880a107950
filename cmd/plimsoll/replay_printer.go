package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/schollz/progressbar/v3"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/reports"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/web"
)

// A replayPrinter prints results as they come and remembers what the exit code
// depends on.
type replayPrinter struct {
	streams
	flags    replayFlags
	width    int
	bar      *progressbar.ProgressBar
	read     int  // files
	broken   int  // files that were read and whose replay failed
	printed  bool // something, so that a blank line comes first
	seen     seenSessions
	copies   sessionfile.Copies
	kin      []replay.Problem // of the file that is replayed, told with its first segment
	twin     string           // the file before that had the session that is replayed; empty: none had
	failures []string         // of --fail-on
	models   []string         // of what was replayed
	total    reports.Totals
	report   []replay.Result // for the page, if one is wanted
	words    console.Glossary
}

// file replays one file. A file that cannot be read is reported and left out, and
// one failure does not keep the other files from being replayed.
func (p *replayPrinter) file(ctx context.Context, r *replay.Replayer, name string) error {
	defer p.advance()
	if ctx.Err() != nil {
		return interrupted(name)
	}
	file, err := p.openFile(name)
	if err != nil {
		p.clear()
		printError(p.err, err)
		if p.flags.json {
			return fail(console.PrintJSON(p.out, replay.Unreadable(name, err)), "")
		}
		return nil
	}
	defer func() { _ = file.Close() }() // it was only read
	p.read++
	p.copies.Mark(&file.Session) // its segments as they come
	p.total.File(name)
	p.kin, p.twin = nil, ""
	p.wrong(name, missingParent(&file.Session))
	var unprinted error
	err = p.run(ctx, r, file, func(res replay.Result) error {
		if err := p.agents(r, name, &res); err != nil {
			return err
		}
		unprinted = p.result(res)
		return unprinted
	})
	switch {
	case err == nil:
		return nil
	case unprinted != nil:
		return fail(unprinted, "")
	case errors.Is(err, context.Canceled):
		return interrupted(name)
	}
	p.broken++
	p.clear()
	printError(p.err, err)
	return nil
}

// wrong notes a problem of the file that is replayed, if there is one.
func (p *replayPrinter) wrong(name, what string) {
	if what != "" {
		p.kin = append(p.kin, replay.Problem{File: name, What: what})
	}
}

// segments yields the segments of a file, and notes its session by the first.
func (p *replayPrinter) segments(file *formats.File) iter.Seq2[sessionfile.Segment, error] {
	return func(yield func(sessionfile.Segment, error) bool) {
		first, marked := true, p.copies.In(file.ID)
		for seg, err := range file.Segments() {
			seg = marked(seg)
			if first && err == nil {
				var what string
				what, p.twin = p.seen.add(&file.Session, seg)
				p.wrong(file.Path, what)
			}
			if first = false; !yield(seg, err) {
				return
			}
		}
	}
}

// run replays a file segment by segment, or as one session where the client's
// compactions are to be ignored.
func (p *replayPrinter) run(ctx context.Context, r *replay.Replayer, file *formats.File, f func(replay.Result) error) error {
	if !p.flags.join {
		return r.Stream(ctx, &file.Session, p.segments(file), f)
	}
	whole := file.Session
	for segment, err := range p.segments(file) {
		if err != nil {
			return err
		}
		whole.Segments = append(whole.Segments, segment)
	}
	return r.Session(ctx, &whole, f)
}

// agents adds the sub-agents of a session to the result of its last segment. Those of a
// session that another file has are the other file's.
func (p *replayPrinter) agents(r *replay.Replayer, name string, res *replay.Result) error {
	if res.Whole == nil || p.twin != "" {
		return nil
	}
	agents, wrong, err := agentsOf(name, func(s *sessionfile.Session) (inspect.Report, error) {
		p.copies.Mark(s)
		return r.Inspect(s)
	})
	for _, what := range wrong {
		p.wrong(name, what)
	}
	res.Attach(agents)
	return err
}

func interrupted(name string) error {
	return &codedError{exitInterrupted, fmt.Errorf("replay: interrupted at %s", name), ""}
}

func (p *replayPrinter) advance() {
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
	}
}

// clear takes the bar off the screen before something else is printed.
func (p *replayPrinter) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// result prints one segment and books it.
func (p *replayPrinter) result(res replay.Result) error {
	res.Problems, p.kin = append(res.Problems, p.kin...), nil
	if p.flags.page.html != "" {
		p.report = append(p.report, res)
		res.Runs = slices.Clone(res.Runs)
		for i := range res.Runs {
			res.Runs[i].Series, res.Runs[i].Missing = nil, nil // are for the page only
			if !p.flags.bill {
				res.Runs[i].Batches, res.Runs[i].Batched = nil, nil
			}
		}
	}
	p.models = append(p.models, res.Model)
	p.total.Segment(res, p.twin)
	for _, run := range res.Runs {
		if run.Policy == reports.PolicyOff {
			continue
		}
		for _, c := range p.flags.failOn {
			if n := failed(c, run); n > 0 {
				p.failures = append(p.failures, fmt.Sprintf("%s, segment %d, %s at %s: %s %d", res.Session, res.Segment, run.Policy, run.Window, c, n))
			}
		}
	}
	if p.flags.json {
		return console.PrintJSON(p.out, res)
	}
	p.clear()
	text := reports.Segment(res, p.width)
	if p.printed {
		text = "\n" + text
	}
	p.printed = true
	p.words.Note(text)
	_, err := lipgloss.Fprint(p.out, text)
	return err
}

// failed returns how often a condition of --fail-on is met in a run.
func failed(condition string, run replay.Run) int {
	switch condition {
	case failOver:
		return run.StepsOver
	case failOrphan:
		return run.Orphans
	}
	return run.UnresolvedRefs + run.Uncovered
}

// finish prints the totals and returns the error that the exit code says.
func (p *replayPrinter) finish(files int) error {
	if err := tellPrices(p.err, p.models); err != nil {
		return fail(err, "")
	}
	p.total.Settle()
	if !p.flags.json {
		if err := p.printEnd(); err != nil {
			return fail(err, "")
		}
	}
	if p.flags.page.html != "" && p.read > 0 {
		err := p.flags.page.save("replay", p.streams, func(w io.Writer, o web.Options) error { return web.WriteReplay(w, p.report, o) })
		if err != nil {
			return err
		}
	}
	switch {
	case files == 0:
		return fail(errors.New("replay: no session file found"), noSessionHint)
	case p.read == 0:
		return fail(fmt.Errorf("replay: %s", noneRead(files)), "plimsoll sessions lists the sessions on this machine")
	case p.total.Ran == 0 && p.broken == 0:
		return fail(errors.New("replay: nothing was replayed: no segment could be run"), "plimsoll inspect shows what is in the file")
	case p.broken > 0:
		return fail(fmt.Errorf("replay: failed for %d of %s", p.broken, console.Plural(files, "file")), "")
	case len(p.failures) > 0:
		return &codedError{exitFailed, errors.New("replay: --fail-on: " + strings.Join(console.AtMost(p.failures, 20), "\n")), ""}
	}
	return nil
}

// printEnd prints what comes after the last segment.
func (p *replayPrinter) printEnd() error {
	text := ""
	if p.total.Segments+p.total.Twice > 1 {
		text = "\n" + p.total.Text(p.read-p.total.Twice, p.width)
	}
	if p.flags.out != "" && p.total.Runs() {
		text += fmt.Sprintf("exported to %s: a folder for each session, policy and window, with a manifest.json\n", console.Safe(p.flags.out))
	}
	if err := console.Print(p.out, text); err != nil {
		return err
	}
	return p.words.Print(p.out)
}
