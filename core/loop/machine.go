package loop

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Machine is one autonomous loop. It is not safe for concurrent use. Make one with
// [New], or [Restore] one.
type Machine struct {
	finisher
	next  *Prompt // the next prompt, once it was asked for
	shown int     // messages in it
}

// New returns a machine for a task that nothing was done about yet.
func New(c Config, t Task) (*Machine, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	t = Task{ID: clip(plain(t.ID), maxName), Goal: plain(t.Goal)}
	if blank(t.Goal) {
		return nil, errors.New("loop: new: goal, want one, got none")
	}
	return machine(c, &state{Version: stateVersion, Context: LoopContext{Task: t}}), nil
}

// Restore returns the machine whose state was saved. The settings may be others; what
// follows from that happens when Resumed is fed.
func Restore(c Config, saved []byte) (*Machine, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	s, err := load(saved)
	if err != nil {
		return nil, err
	}
	return machine(c, s), nil
}

func machine(c Config, s *state) *Machine {
	return &Machine{finisher: finisher{ledger{cfg: c, s: s}}}
}

// Save returns the state, as JSON. It is to be durable before an iteration is begun, and
// after it.
func (m *Machine) Save() []byte { return m.s.save() }

// Waiting returns how many messages no prompt has shown yet. Nothing bounds them here: a host
// that lets others write to it feeds no more than it wants in the state.
func (m *Machine) Waiting() int { return len(m.s.Messages) }

// Context returns what the next prompt is made of.
func (m *Machine) Context() LoopContext {
	c := m.s.Context
	c.Iterations, c.FileEvents = slices.Clone(c.Iterations), slices.Clone(c.FileEvents)
	c.EnvSnapshot = maps.Clone(c.EnvSnapshot)
	return c
}

// Lessons returns what is worth knowing beyond the loop, at most n facts: the newest of what
// was decided, and of what failed.
func (m *Machine) Lessons(n int) []string {
	var found []string
	for _, f := range slices.Backward(m.s.Facts) {
		if f.Kind != decision && f.Kind != failed {
			continue
		}
		if found = append(found, f.Text); len(found) == n {
			break
		}
	}
	slices.Reverse(found)
	return found
}

// Ready returns what to do next.
func (m *Machine) Ready() Ready {
	number := m.s.Context.TotalIterations + 1
	switch {
	case m.s.End != "":
		return Ready{Do: DoEnd, End: m.s.End, Why: m.s.Why}
	case m.s.Running != nil:
		return Ready{Do: DoAwait, Number: number}
	case m.s.Want != nothing:
		return Ready{Do: DoAsk, Number: number, Ask: m.question()}
	case m.s.Paused:
		return Ready{Do: DoWait, Number: number}
	case m.cfg.Recall && m.s.Context.Folded() > 0 && (m.s.Recalled == nil || m.s.Recalled.Number != number):
		return Ready{Do: DoRecall, Number: number, Query: m.query()}
	}
	if m.next == nil {
		m.next, m.shown = writePrompt(m.s, m.cfg)
	}
	return Ready{Do: DoBegin, Number: number, Prompt: m.next}
}

// Feed takes an input and returns what came of it. An error means that it was not accepted
// and changed nothing.
func (m *Machine) Feed(in Input) ([]Event, error) {
	m.events = nil
	if b, ok := in.(Began); ok {
		err := m.begin(b)
		m.next = nil
		return nil, err
	}
	m.next = nil
	var err error
	switch in := in.(type) {
	case Select:
		m.s.Context.CurrentCLI, m.s.Context.CurrentModel = oneLine(plain(in.CLI), maxName), oneLine(plain(in.Model), maxName)
	case Output:
		if m.s.Running == nil {
			return nil, errors.New("loop: feed: output, want an iteration that runs, got none")
		}
		m.finish(in)
	case Answer:
		err = m.answered(in)
	case NoAnswer:
		err = m.unanswered(in)
	case Message:
		m.deliver(in)
	case Recalled:
		err = m.recall(in)
	case Known:
		m.s.Known = memos(in.Facts)
	case Tick:
		m.passed(in.At)
		m.judgeIdle()
	case Stop:
		m.s.Stopping = m.s.End == ""
		m.judgeIdle()
	case Pause:
		m.s.Paused = true
	case Continue:
		m.s.Paused = false
	case Fatal:
		m.fatal(in)
	case Resumed:
		m.resume(in)
	default:
		err = errors.New("loop: feed: want one of the inputs of this package")
	}
	return m.events, err
}

// begin notes that the prompt is on its way.
func (m *Machine) begin(in Began) error {
	r := m.Ready()
	if r.Do != DoBegin {
		return fmt.Errorf("loop: feed: began, want it when an iteration is to begin, got it with %d to do", r.Do)
	}
	m.passed(in.At)
	at := moment(in.At)
	if m.s.Context.StartTime == 0 {
		m.s.Context.StartTime = at
	}
	if in.Env != nil {
		env := map[string]string{}
		for k, v := range in.Env {
			env[clip(plain(k), maxName)] = clip(plain(v), maxOutput)
		}
		m.s.Context.EnvSnapshot = env
	}
	if m.s.Counters.Stuck >= m.cfg.StuckAfter {
		m.s.Counters.Recovery++
	}
	m.s.Running = &running{Number: r.Number, Began: at, Prompt: r.Prompt.Text, Tokens: r.Prompt.Tokens, Messages: slices.Clone(m.s.Messages[:m.shown])}
	m.s.Messages = slices.Clone(m.s.Messages[m.shown:])
	return nil
}

// deliver puts a message behind those of its priority.
func (m *Machine) deliver(in Message) {
	in.Text = plain(bounded(in.Text))
	if blank(in.Text) {
		return
	}
	m.s.Messages = append(slices.Clone(m.s.Messages), in)
	slices.SortStableFunc(m.s.Messages, func(a, b Message) int {
		switch {
		case a.Priority < b.Priority:
			return -1
		case a.Priority > b.Priority:
			return 1
		}
		return 0
	})
}

// recall takes passages for the next prompt.
func (m *Machine) recall(in Recalled) error {
	r := m.Ready()
	if r.Do != DoRecall {
		return errors.New("loop: feed: recalled, want a query before it, got none")
	}
	m.s.Recalled = &recalled{r.Number, m.passages(in.Passages)}
	return nil
}

// judgeIdle judges unless an iteration is running.
func (m *Machine) judgeIdle() {
	if m.s.Running == nil {
		m.judge()
	}
}

// fatal ends the loop. What was running is interrupted.
func (m *Machine) fatal(in Fatal) {
	if m.s.End != "" {
		return
	}
	if m.s.Running != nil {
		m.finish(Output{At: in.At, Interrupted: true, Fault: in.Why})
	}
	m.passed(in.At)
	m.end(FatalError, oneLine(plain(in.Why), maxName))
}

// resume goes on after a restart.
func (m *Machine) resume(in Resumed) {
	if m.s.End != GoalComplete {
		if m.s.End == AlertPause || m.s.End == RecoveryFailed {
			m.s.Counters.Same, m.s.Counters.Stuck, m.s.Counters.Recovery = 0, 0, 0
		}
		m.s.End, m.s.Why, m.s.Stopping = "", "", false
	}
	if m.s.Running != nil {
		m.finish(Output{At: m.s.Seen, Interrupted: true}) // how long it ran after that nobody knows
	} else {
		m.settle(false)
	}
	m.s.Seen = moment(in.At)
	m.judge()
}
