package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// An Outcome says why a loop has ended.
type Outcome struct {
	Reason core.Reason
	Why    string
}

// Run runs iterations until the loop ends, or ctx does: then the iteration that runs is
// ended and kept as interrupted, and the error is [ErrInterrupted]. Other errors are of the
// store and of the folder; what was written holds.
func (r *Runner) Run(ctx context.Context) (Outcome, error) {
	if r.o.Watch {
		if err := r.watcher.listen(r.o.Now); err != nil {
			r.note("when files change is not told: %v", err)
		}
		defer func() { _ = r.watcher.deaf() }() // nothing is lost with it
	}
	r.look(ctx)
	// What is written has to be written also while everything ends.
	durable := context.WithoutCancel(ctx)
	for {
		if err := r.signals(durable); err != nil {
			return Outcome{}, err
		}
		switch ready := r.machine.Ready(); ready.Do {
		case core.DoEnd:
			return Outcome{ready.End, ready.Why}, r.folder.remove(stopFile)
		case core.DoAsk:
			if r.model == nil {
				return Outcome{}, fmt.Errorf("loop: %s: want a model for its summary, got none", r.id)
			}
			if err := r.ask(ctx, durable, ready.Ask); err != nil {
				return Outcome{}, err
			}
		case core.DoRecall:
			if err := r.recall(ctx, ready.Query); err != nil {
				return Outcome{}, err
			}
		case core.DoWait:
			if err := r.wait(ctx, durable); err != nil {
				return Outcome{}, err
			}
		case core.DoBegin:
			if ctx.Err() != nil {
				return Outcome{}, ErrInterrupted
			}
			if err := r.iterate(ctx, durable); err != nil {
				return Outcome{}, err
			}
		default:
			return Outcome{}, fmt.Errorf("loop: %s: want an iteration to begin, got %d to do", r.id, ready.Do)
		}
	}
}

// iterate runs one iteration. It is on record before its agent is started, and when that
// has ended.
func (r *Runner) iterate(ctx, durable context.Context) error {
	if err := r.changedByOthers(ctx); err != nil {
		return err
	}
	number := r.machine.Ready().Number
	agent := r.o.Agents[(number-1)%len(r.o.Agents)]
	if err := r.feed(core.Select{CLI: agent.Name, Model: agent.Model}, record{Kind: kindSelect, starting: starting{CLI: agent.Name, Model: agent.Model}}); err != nil {
		return err
	}
	if err := r.know(ctx); err != nil {
		return err
	}
	prompt := r.machine.Ready().Prompt
	began := record{Kind: kindBegan, At: r.o.Now(), starting: starting{Env: snapshot(r.o.Workspace), Tokens: prompt.Tokens}}
	for _, s := range prompt.Sections {
		began.Sections = append(began.Sections, Share{s.Name, s.Tokens})
	}
	if err := r.feed(core.Began{At: began.At, Env: began.Env}, began); err != nil {
		return err
	}
	if err := r.journal.flush(durable); err != nil {
		return fmt.Errorf("loop: %s: %w", r.id, err)
	}
	r.o.Notify(Notice{Kind: NoticeBegin, Iteration: number, CLI: agent.Name, Prompt: prompt.Tokens})
	if r.proxy != nil {
		var err error
		if agent, err = r.proxy.Reach(agent); err != nil {
			return err
		}
	}
	shown := &lockedWriter{w: r.o.Output}
	done := make(chan ran, 1)
	go func() {
		done <- task{agent: agent, prompt: prompt.Text, dir: r.o.Workspace, mark: fmt.Sprintf("%s:%d", r.id, number), timeout: r.o.Timeout, shown: shown}.run(ctx)
	}()
	ended, err := r.await(durable, done)
	if err != nil {
		return err
	}
	return r.ended(durable, ended)
}

// look returns what has changed in the workspace since the last look.
func (r *Runner) look(ctx context.Context) []core.FileEvent {
	events, err := r.watcher.look(ctx, r.o.Now())
	if err != nil {
		r.note("when files change is told no more: %v", err)
	}
	return events
}

// mostTold is how many changed files an agent is told of.
const mostTold = 20

// changedByOthers takes what changed between two iterations from what the next one did, and
// tells the agent of it where that is wanted.
func (r *Runner) changedByOthers(ctx context.Context) error {
	events := r.look(ctx)
	if !r.o.Watch || len(events) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("Changed in the workspace since the last iteration, by somebody else:")
	for i, e := range events {
		if i == mostTold {
			fmt.Fprintf(&b, "\n- and %d more", len(events)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s %s (lines: %d)", e.Op, strings.Map(printable, e.Path), e.Lines)
	}
	rec := record{Kind: kindMessage, At: r.o.Now(), message: message{Message: b.String(), Priority: plainRank}}
	return r.feed(core.Message{Text: rec.Message, Priority: rec.Priority}, rec)
}

// printable leaves out what could end a line: a file's name is no instruction.
func printable(c rune) rune {
	if unicode.IsPrint(c) {
		return c
	}
	return '?'
}

// await waits for the end of an iteration, and looks at the folder meanwhile.
func (r *Runner) await(durable context.Context, done <-chan ran) (ran, error) {
	tick := time.NewTicker(r.o.Poll)
	defer tick.Stop()
	var failed error
	for {
		select {
		case ended := <-done:
			return ended, failed
		case <-tick.C:
			if failed == nil { // told when the agent has ended: what it does is not lost
				failed = errors.Join(r.signals(durable), r.paid(durable))
			}
		}
	}
}

// paid records what the calls of the running iteration took so far, so that it is known if the
// loop is killed before its end.
func (r *Runner) paid(ctx context.Context) error {
	if r.proxy == nil {
		return nil
	}
	spent := r.proxy.SpentSoFar()
	if spent.Calls == 0 {
		return nil
	}
	at := r.o.Now()
	return r.written(ctx, core.Tick{At: at}, record{Kind: kindTick, At: at, effect: effect{Spent: &spent}})
}

// ended records the end of an iteration.
func (r *Runner) ended(ctx context.Context, run ran) error {
	at := r.o.Now()
	if run.missing != nil {
		rec := record{Kind: kindFatal, At: at, effect: effect{Why: run.missing.Error()}}
		return r.written(ctx, core.Fatal{At: at, Why: rec.Why}, rec)
	}
	rec := record{Kind: kindOutput, At: at}
	rec.ending = ending{Bytes: run.bytes, Structured: run.structured, Fault: run.fault, Interrupted: run.interrupted, Files: r.look(ctx)}
	if r.proxy != nil {
		if spent := r.proxy.Spent(); spent.Calls > 0 {
			rec.Spent = &spent
		}
	}
	var err error
	if rec.Text, err = r.journal.put(ctx, run.text); err == nil {
		rec.Answer, err = r.journal.put(ctx, run.answer)
	}
	if err != nil {
		return fmt.Errorf("loop: %s: %w", r.id, err)
	}
	number := r.machine.Context().TotalIterations + 1
	r.outputs[rec.said()] = number
	events, err := r.fed(core.Output{
		At: at, Text: run.text, Answer: run.answer, Structured: run.structured, Fault: run.fault, Interrupted: run.interrupted, Files: rec.Files,
	}, rec)
	if err == nil {
		err = r.remember(ctx, events) // what is remembered and is then not on record does no harm
	}
	if err != nil {
		return fmt.Errorf("loop: %s: %w", r.id, err)
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.embed(ctx, number, run)
	return nil
}

// wait waits for the end of a pause.
func (r *Runner) wait(ctx, durable context.Context) error {
	tick := time.NewTimer(r.o.Poll)
	defer tick.Stop()
	select {
	case <-ctx.Done():
		return ErrInterrupted
	case <-tick.C:
	}
	// The time of a pause counts. It need not be on record unless it ends the loop: the next
	// input brings the same time.
	at := r.o.Now()
	if r.machine.Ready().Do != core.DoWait {
		return nil
	}
	events, err := r.machine.Feed(core.Tick{At: at})
	if err != nil {
		return err
	}
	if ready := r.machine.Ready(); ready.Do == core.DoEnd {
		rec := record{Kind: kindTick, At: at, effect: effect{Events: events, End: ready.End, Why: ready.Why}}
		if err := r.journal.add(rec, r.machine.Save()); err != nil {
			return err
		}
		return r.journal.flush(durable)
	}
	return nil
}

// signals does what the folder says: stop, pause, messages.
func (r *Runner) signals(ctx context.Context) error {
	if !r.stopped && r.folder.has(stopFile) {
		r.stopped = true
		r.note("stopping: %s/%s is there", FolderName, stopFile)
		if err := r.written(ctx, core.Stop{}, record{Kind: kindStop, At: r.o.Now()}); err != nil {
			return err
		}
	}
	if pause := r.folder.has(pauseFile); pause != r.paused {
		r.paused = pause
		rec, in := record{Kind: kindContinue, At: r.o.Now()}, core.Input(core.Continue{})
		if pause {
			rec.Kind, in = kindPause, core.Pause{}
			r.note("paused until %s/%s is removed", FolderName, pauseFile)
		}
		if err := r.written(ctx, in, rec); err != nil {
			return err
		}
	}
	if !r.o.Inbox {
		return nil
	}
	return r.deliver(ctx)
}

// deliver gives the machine what is in the inbox, as far as it has room for it.
func (r *Runner) deliver(ctx context.Context) error {
	letters, wrong := r.inbox.letters()
	for _, l := range letters {
		if r.machine.Waiting() >= maxMessages {
			wrong = append(wrong, errFull)
			break
		}
		rec := record{Kind: kindMessage, At: r.o.Now(), message: message{l.text, l.priority, l.name}}
		if err := r.written(ctx, core.Message{Text: l.text, Priority: l.priority}, rec); err != nil {
			return err
		}
		if err := r.inbox.taken(l); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, text := range r.inbox.news(wrong...) {
		r.note("%s", text)
	}
	return nil
}

// A lockedWriter has one goroutine write at a time: an agent's two outputs are read by two.
type lockedWriter struct {
	mu sync.Mutex
	w  interface{ Write([]byte) (int, error) }
}

// Write implements io.Writer. What cannot be shown to a person does not end an agent.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(p)
	return len(p), nil
}
