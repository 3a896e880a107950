package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Figures of the program that the document describes (runaway_detector.py).
const (
	fastMillis = 500 // an iteration of less has done nothing
	fastAlert  = 10  // in a row
	manyAlert  = 500 // iterations without a limit of time
)

// A finisher takes in what an iteration led to.
type finisher struct{ ledger }

// finish records the running iteration and settles what follows from it.
func (f *finisher) finish(in Output) {
	s := f.s
	f.passed(in.At)
	r := *s.Running
	s.Running = nil
	text := in.Text
	if in.Structured {
		text = in.Answer
	}
	own := strings.TrimSpace(afterEcho(plain(bounded(text)), r.Prompt))
	words := said(own)
	it := IterationContext{
		Number: r.Number, Began: r.Began, CLI: s.Context.CurrentCLI, Model: s.Context.CurrentModel,
		Prompt: clip(r.Prompt, maxPrompt), Output: f.shortened(own), PromptSize: r.Tokens,
		ProgressMarkers: markersIn(words, progressTag), Duration: max(0, moment(in.At)-r.Began),
		Fault: oneLine(plain(in.Fault), maxName), Interrupted: in.Interrupted,
	}
	it.FileChanges = f.changed(in.Files)
	it.ProgressScore = f.scored(it, words, in.Files)
	f.remember(it, words)
	f.append(it)
	if in.Interrupted {
		s.Messages = append(r.Messages, s.Messages...)
	}
	f.count(it, own)
	f.settle(s.Context.TotalIterations%f.cfg.SummarizeEvery == 0)
	if f.cfg.Memory {
		for _, text := range markersIn(words, rememberTag) {
			f.event(EventRemember, it.Number, "%s", text)
		}
	}
	f.event(EventIteration, it.Number, "iteration %d: %d of 1000", it.Number, it.ProgressScore)
	if !in.Interrupted && promised(words, f.cfg.Promise, r.Prompt) {
		f.end(GoalComplete, "the agent promised that the goal is achieved")
	}
	f.judge()
}

// shortened returns what is kept of an output.
func (f *finisher) shortened(own string) string {
	if f.cfg.BySense {
		own = bySense(own, func(text string) bool { return clip(text, maxOutput) == text })
	}
	return clip(own, maxOutput)
}

func (f *finisher) append(it IterationContext) {
	c := &f.s.Context
	c.Iterations = append(c.Iterations, it)
	c.TotalIterations++
}

// changed keeps file events, and returns the paths, each once.
func (f *finisher) changed(events []FileEvent) []string {
	var paths []string
	c := &f.s.Context
	for _, e := range events {
		e = FileEvent{At: moment(e.At), Path: clip(plain(e.Path), maxPath), Op: clip(plain(e.Op), maxName), Lines: max(1, e.Lines)}
		c.FileEvents = append(c.FileEvents, e)
		if len(paths) < maxFiles && !slices.Contains(paths, e.Path) {
			paths = append(paths, e.Path)
		}
	}
	if over := len(c.FileEvents) - maxEvents; over > 0 {
		c.FileEvents = append([]FileEvent(nil), c.FileEvents[over:]...)
	}
	return paths
}

// scored returns the score of an iteration; what came before is the newest output that
// is still there.
func (f *finisher) scored(it IterationContext, words string, events []FileEvent) int {
	before := ""
	for _, old := range slices.Backward(f.s.Context.Iterations) {
		if !blank(old.Output) {
			before = old.Output
			break
		}
	}
	lines := 0
	for _, e := range events {
		lines = min(fullLines, lines+min(fullLines, max(1, e.Lines)))
	}
	done, items := checklist(words)
	n := signals{
		diff: differs(before, it.Output), lines: lines, markers: len(it.ProgressMarkers),
		done: done, items: items, best: f.s.Counters.ListDone,
	}
	f.s.Counters.ListDone = max(done, n.best)
	return n.score()
}

// remember adds the facts of an iteration that are not known yet.
func (f *finisher) remember(it IterationContext, words string) {
	f.note()
	found := factsIn(it.Number, words, it.ProgressMarkers, it.FileChanges)
	if it.Interrupted {
		found = append(slices.DeleteFunc(found, func(x fact) bool { return x.Kind == empty }), fact{interrupted, "", it.Number})
	}
	for _, x := range found {
		if !f.known[x.same()] {
			f.s.Facts = append(f.s.Facts, x)
		}
	}
}

// count brings the counters up to date. An interrupted iteration says nothing about how
// the agent gets on.
func (f *finisher) count(it IterationContext, own string) {
	n := &f.s.Counters
	if it.Interrupted {
		return
	}
	if it.ProgressScore >= f.cfg.Threshold {
		n.Stuck, n.Recovery = 0, 0
	} else if n.Stuck++; n.Stuck == f.cfg.StuckAfter {
		f.event(EventStuck, it.Number, "%d iterations without progress", n.Stuck)
	}
	sum := sha256.Sum256([]byte(fold(own)))
	digest := hex.EncodeToString(sum[:8])
	if digest != n.Digest {
		n.Same, n.Digest = 0, digest
	}
	if n.Same++; n.Same == f.cfg.RunawayAfter {
		f.event(EventRunaway, it.Number, "%d identical outputs in a row", n.Same)
	}
	if it.Duration >= fastMillis {
		n.Fast = 0
	} else if n.Fast++; n.Fast == fastAlert {
		f.event(EventFast, it.Number, "%d iterations in a row took less than half a second", n.Fast)
	}
	if it.Number == manyAlert && f.cfg.MaxTime == 0 {
		f.event(EventMany, it.Number, "%d iterations, and no limit of time", it.Number)
	}
}

// judge ends the loop if there is a reason to. It runs between iterations alone.
func (f *finisher) judge() {
	n := f.s.Counters
	switch {
	case f.s.End != "":
	case f.s.Stopping:
		f.end(ManualStop, "stopped")
	case n.Same >= f.cfg.RunawayAfter && !f.cfg.IgnoreAlerts:
		f.end(AlertPause, "identical outputs in a row")
	case n.Stuck >= f.cfg.StuckAfter && n.Recovery >= f.cfg.RecoveryBudget:
		f.end(RecoveryFailed, "no progress, whatever was tried")
	case f.s.Context.TotalIterations >= f.cfg.MaxIterations:
		f.end(IterationLimit, "as many iterations as allowed")
	case f.cfg.MaxTime > 0 && f.s.Elapsed >= f.cfg.MaxTime:
		f.end(TimeLimit, "as much time as allowed")
	}
}

func (f *finisher) end(r Reason, why string) { f.s.End, f.s.Why, f.s.Stopping = r, why, false }

// passed adds the time since the last input. A clock that goes back adds none.
func (f *finisher) passed(at int64) {
	at = moment(at)
	if f.s.Seen > 0 && at > f.s.Seen {
		f.s.Elapsed += at - f.s.Seen
	}
	f.s.Seen = at
}

// moment keeps times within what can be added up.
func moment(at int64) int64 { return min(max(at, 0), 1<<53) }
