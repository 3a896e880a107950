package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Usage is what a provider reported about the request last sent, before the
// reply is appended.
type Usage struct {
	Usage llm.Usage
	// Reported is true for a provider's own figures about exactly what was
	// sent. A host that only simulates a call leaves it false: the figures then
	// drive a policy's triggers but never become an anchor.
	Reported bool
	// Extra is what the call cost beyond that, such as the pass of a compaction: it is on the bill
	// and says nothing about the prompt.
	Extra llm.Usage
	// OutputUnknown is true if Usage.Output is not the final figure.
	OutputUnknown bool
	// Target names the target that answered, for a machine that was restored between
	// the request and its usage. Else it is the one that the request went to.
	Target string
}

func (Usage) input() {}

// A UsageError says that reported figures cannot be tokens.
type UsageError struct {
	Field string
	Got   int
}

// mostUsage is above every window that can exist.
const mostUsage = 1 << 40

// Error names the field.
func (e *UsageError) Error() string {
	return fmt.Sprintf("engine: usage: %s, want 0 to %d tokens, got %d", e.Field, mostUsage, e.Got)
}

func checkUsage(u llm.Usage) error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"input", u.Input},
		{"cache read", u.CacheRead},
		{"cache write 5m", u.CacheWrite5m},
		{"cache write 1h", u.CacheWrite1h},
		{"output", u.Output},
		{"reasoning", u.Reasoning},
		{"cleared", u.Cleared},
		{"made", u.Made},
		{"stored", u.Stored},
	} {
		if f.value < 0 || f.value > mostUsage {
			return &UsageError{f.name, f.value}
		}
	}
	return nil
}

func (m *Machine) feedUsage(in Usage) error {
	if err := errors.Join(checkUsage(in.Usage), checkUsage(in.Extra)); err != nil {
		return err
	}
	if in.Usage.IsZero() {
		return nil // a failed call that reports nothing wipes nothing
	}
	m.answeredBy(in.Target, "")
	stated, reported := in.Usage, in.Reported
	in = m.believed(in)
	u := in.Usage
	rec := journal.Usage{Usage: u, Reported: in.Reported, Output: !in.OutputUnknown, Model: m.SentTo().Model}
	if u != stated {
		rec.Stated = stated
	}
	if reported { // believed or not, it is on the bill
		rec.Target, rec.Extra = m.SentTo().Name(), in.Extra
	}
	if err := m.accept(m.SentTo().Name(), in); err != nil {
		return err
	}
	m.book(in)
	if n := in.Usage.Cleared; n > 0 {
		m.event(EventCleared, "", "the provider took %d tokens out of the prompt", n)
	}
	if m.request.phase == phaseSent {
		m.request.phase = phaseIdle
	}
	if cal := m.count[0].Calibration(); cal != nil {
		rec.Ratio, rec.By = cal.Ratio(), m.count[0].Key()
	}
	m.record(journal.Record{Kind: journal.KindUsage, Usage: rec})
	m.background(policy.AtUsage)
	return nil
}

// book takes figures that are believed.
func (m *Machine) book(in Usage) {
	if in.Usage.Prompt() > 0 {
		m.lastUsage = in.Usage
	}
	m.reports++
	m.sender().Usage(meter.Usage{Usage: in.Usage, Reported: in.Reported, OutputUnknown: in.OutputUnknown}, m.border(), m.view)
	m.covered = m.guard.Commit(in.Usage) && !in.OutputUnknown
}

// accept takes a prompt that went through, although it is above what was thought to be
// the most, for the least that the target's window has: the catalogue may be behind, a plan
// have more, a refusal have been of another kind. It has to be near what was counted, as the
// sum of two calls is not, and where nothing is sent it teaches nothing. The count is that
// of before the usage is booked.
func (m *Machine) accept(name string, in Usage) error {
	to := m.SentTo()
	count, left := m.sender().Sent()
	if to.Name() != name || !left || !in.Reported || m.cfg.Offline {
		return nil
	}
	was, prompt := to.Window.Input(), in.Usage.Prompt()
	if prompt <= was || prompt <= m.accepted[name] || prompt > count.Point*3/2 {
		return nil
	}
	m.accepted[name] = prompt
	i := m.named(name)
	if i < 0 { // it is kept for when that one is named again
		return nil
	}
	if err := m.aim(m.stated); err != nil {
		return err
	}
	if now := m.resolved[i].Window.Input(); now > was {
		m.event(EventWindow, "", "a prompt of %d tokens was accepted, above the window of %d: it has %d at least", prompt, was, now)
	}
	return nil
}

// answeredBy says which target answered, where a restart has forgotten to which one the
// request went. One that is not named now has a meter of its own all the same, for when it
// is named again: its figures are of no other. The model may be empty.
func (m *Machine) answeredBy(name, model string) {
	if name == "" || m.sent.meter != nil {
		return
	}
	if i := m.named(name); i >= 0 {
		m.sent.to, m.sent.meter = m.resolved[i], m.count[i]
		return
	}
	to := budget.TargetNamed(name, model)
	t, err := m.meterFor(to, m.count)
	if err != nil {
		return
	}
	m.sent.to, m.sent.meter = to, t
	if !slices.Contains(m.spare, t) && !slices.Contains(m.count, t) {
		m.spare = append(m.spare, t)
	}
}

// How far a reported prompt may be from what its content costs to be believed: an
// estimate is never off by so much, while a gateway that reports only what it did not
// find in the cache, or a sum over several calls, is.
const (
	unbelievable = 4
	smallPrompt  = 2_000  // of such content the estimate may be off by more
	unseenPrompt = 20_000 // what a provider may put into a prompt unseen
)

// believed returns a usage whose prompt can be that of the request: as it came, or,
// where it cannot, with the count in its place. It is less than a quarter of what the
// request's text costs, without thinking and media, which a provider may leave out; or it
// is above the window that the call went through, and more than four times what all of
// it costs. Else one wrong figure would switch the guard off, or force a final Step that
// nothing calls for.
func (m *Machine) believed(in Usage) Usage {
	prompt := in.Usage.Prompt()
	if prompt > 0 {
		prompt += in.Usage.Cleared
	}
	t := m.sender()
	if !in.Reported || prompt == 0 || t.Calibration() == nil {
		return in
	}
	sure, most := t.Costs()
	capacity := m.SentTo().Window.Capacity
	low := prompt*unbelievable < sure-smallPrompt
	high := prompt > capacity && prompt > most*unbelievable+unseenPrompt
	if !low && !high {
		return in
	}
	cost := sure
	if high {
		cost = most
	}
	m.event(EventUsage, "", "the provider reports a prompt of %d tokens, its content is some %d: the count stands in its place", prompt, cost)
	in.Reported = false
	in.Usage = llm.Usage{Input: t.Count().Point, Output: in.Usage.Output, Reasoning: in.Usage.Reasoning}
	return in
}
