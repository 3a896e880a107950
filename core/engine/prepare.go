package engine

import (
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// preparing is a Prepare on its way to a Send.
type preparing struct {
	rule    int // the next rule to look at
	waiting int // the Ask that has to be answered first; 0: none
}

func (m *Machine) feedPrepare(in Prepare) error {
	if len(in.Targets) > 0 && !slices.Equal(in.Targets, m.cfg.Targets) {
		if err := m.setTargets(in.Targets); err != nil {
			return err
		}
	}
	if err := m.repair(); err != nil {
		return err
	}
	m.guard.Release(m.guard.Reserved()) // every call has its result by now
	m.traceTurn()
	m.guard.BeginRequest()
	m.noStore = false
	m.traceEvaluate(TurnPreflight)
	m.begin()
	return nil
}

// begin goes through the rules for a request from the first one on.
func (m *Machine) begin() {
	m.to = 0
	m.prepare = &preparing{}
	if m.wanted != ReasonNone {
		m.force(m.wanted, ruleOf(m.wanted), finalTexts[m.wanted])
	}
	m.goOn()
}

// goOn takes the request through the remaining rules, the backstop and out,
// unless an answer has to come first.
func (m *Machine) goOn() {
	p := m.prepare
	for ; p.rule < len(m.policy.Rules); p.rule++ {
		r := m.policy.Rules[p.rule]
		if !m.dueNow(r) || !m.untried(r) {
			continue
		}
		m.act(r)
		if p.waiting > 0 {
			p.rule++
			return
		}
	}
	m.finish()
}

// dueNow reports whether r acts before this call: a rule of this moment whose
// condition holds, or one whose moment has passed since.
func (m *Machine) dueNow(r policy.Rule) bool {
	if m.final == ReasonContext && r.Do != policy.DoFinal {
		return false // what the policy ended it does not shorten
	}
	if r.At == policy.AtPrepare {
		return m.speaks(r)
	}
	was := m.due[r.Name]
	delete(m.due, r.Name)
	if r.At == policy.AtRejected && r.When.Measure == "" && m.newestEdit() > m.sent.edit && !m.sentAnew() {
		return false // another rule has made it a different request
	}
	return was
}

// speaks reports whether the condition of r holds. If it does not, there is room
// again, and a note that r made may come anew.
func (m *Machine) speaks(r policy.Rule) bool {
	if m.holds(r.When, nil) {
		return true
	}
	if m.noted[r.Name] {
		delete(m.noted, r.Name)
		m.record(journal.Record{Kind: journal.KindRule, Rule: journal.RuleMoment{Name: r.Name, Room: true}})
	}
	return false
}

// untried reports whether r has not been tried on this very state, and notes
// that it is now (law 7). Where nothing can be stored it is tried in vain.
func (m *Machine) untried(r policy.Rule) bool {
	if m.noStore {
		return true
	}
	now := m.situation()
	if m.tried[r.Name] == now {
		return false
	}
	m.tried[r.Name] = now
	return true
}

// finish lets the backstop act and makes the Send.
func (m *Machine) finish() {
	m.prepare = nil
	m.out.Send, m.out.Refused, m.out.Torn = nil, nil, nil
	m.restate()
	m.to = m.choose()
	if m.policy.Backstop && m.over() {
		next := m.verdict(m.fits).Next
		if next < 0 || m.floor() == nil { // else nothing that is taken out would do
			m.backstop()
			m.restate()
			next = m.verdict(m.fits).Next
		}
		if next >= 0 && m.over() {
			m.to = next
		}
	}
	same := m.sameAsRefused()
	if m.repeats() {
		m.begin()
		return
	}
	if !m.noStore { // another Prepare is not to change what has just been made
		m.triedAll()
	}
	if m.policy.Backstop && m.over() {
		refused := m.overError()
		if m.policy.OnFloor == policy.FloorSend && m.final == ReasonNone { // only a final request is sent although it is over
			m.force(ReasonContext, ruleOf(ReasonContext), m.text(policy.TemplateFinal))
			m.begin()
			return
		}
		if m.policy.OnFloor != policy.FloorSend || same {
			m.stats.Refused++
			m.out.Refused = refused
			m.writeState()
			return
		}
		m.stats.StillOver++
		m.event(EventStillOver, "", "%s: %v", StillOverText, refused)
	}
	m.send()
}

// sameAsRefused reports whether the request would be the one that was just refused, to
// the target that refused it. A smaller window leaves the reply less, which is another
// request: prompt and output together were too long.
func (m *Machine) sameAsRefused() bool {
	return m.refused != nil && m.sent.meter != nil && m.to == m.sent.target && m.sentAnew() &&
		m.sent.end == len(m.messages) && m.sent.output == m.mostOutput(m.to)
}

// triedAll notes that every rule had its turn in this situation.
func (m *Machine) triedAll() {
	for _, r := range m.policy.Rules {
		if r.At == policy.AtPrepare {
			m.tried[r.Name] = m.situation()
		}
	}
}

// choose returns the target that the request goes to: the first that has room for its
// tokens (R000-11), else the one with the most. By the guard's sum all of them may be
// full, although the count says that some are not: the final request that follows goes
// to the one with the most room as well. What is over in bytes or images can nearly
// always be taken out, which is no reason to ask another model.
func (m *Machine) choose() int {
	next := m.decided(m.fitsTokens).Next
	if next >= 0 && !(m.ends() && m.guard.Evaluate(nil, m.targets, 0).Next < 0) {
		return next
	}
	most := 0
	for i, t := range m.targets {
		if t.Window.Limit() > m.targets[most].Window.Limit() {
			most = i
		}
	}
	return most
}

// send makes the Send of what the view is now.
func (m *Machine) send() {
	var torn *turn.TornError
	if errors.As(m.whole(), &torn) {
		m.out.Torn = torn
		m.writeState()
		return
	}
	i := m.to
	verdict := m.decided(m.fits)
	m.skipped(verdict, i)
	m.guard.BeginRequest() // with what the rules have made of it
	m.traceSend()
	m.sent = sending{
		seq: m.sent.seq + 1, target: i, meter: m.count[i], edit: m.newestEdit(), end: len(m.messages), output: m.mostOutput(i),
	}
	m.all(func(t *meter.Meter) { t.Leave(m.border(), m.view) })
	m.out.Send = &Send{
		Seq: m.sent.seq, Target: m.targets[i], Sections: m.allSections(), Items: m.view.Items[:len(m.view.Items):len(m.view.Items)],
		Tools: m.offered(), Count: m.count[i].Count(), Limit: m.targets[i].Window.Limit(), MaxOutput: m.sent.output,
		Edited: m.edited(), DropBrokenThinking: m.brokenThinking(), Final: m.final,
		StillOver: m.policy.Backstop && m.over(), Verdict: verdict,
	}
	m.writeState()
}

// mostOutput returns what a target may write: a quarter of a large window, where nobody
// states a reserve, is more than many a model can.
func (m *Machine) mostOutput(target int) int {
	reserve := m.targets[target].Window.OutputReserve
	model, ok := m.cfg.Catalog.Lookup(m.targets[target].Model)
	if ok && model.MaxOutput > 0 && (reserve == 0 || model.MaxOutput < reserve) {
		return model.MaxOutput
	}
	return reserve
}

// edited reports whether an edit changes what the client made.
func (m *Machine) edited() bool {
	return slices.ContainsFunc(m.view.Edits(), func(e edit.Edit) bool { return e.Op != edit.Undo })
}

// over reports whether the request does not fit the target that it goes to.
func (m *Machine) over() bool { return !m.fits(m.to) }

// fits reports whether the view fits a target by the count, in bytes and in images.
func (m *Machine) fits(target int) bool {
	w := m.targets[target].Window
	bytes, images := m.count[target].Wire()
	return m.fitsTokens(target) && (w.MaxBytes == 0 || bytes <= w.MaxBytes) && (w.MaxImages == 0 || images <= w.MaxImages)
}

// fitsTokens reports whether the view fits a target by the count.
func (m *Machine) fitsTokens(target int) bool {
	return m.count[target].Count().Bound <= m.targets[target].Window.Limit()
}

// verdict says for every target whether the view fits it. The guard's own
// counters are asked by the rules that name them.
func (m *Machine) verdict(fits func(target int) bool) budget.Verdict {
	n := m.Count().Bound
	v := budget.Verdict{Projection: budget.Projection{Base: n, WithSchema: n}, Next: -1}
	for i, t := range m.targets {
		v.Entries = append(v.Entries, budget.Entry{Target: t, Limit: t.Window.Limit(), Blocked: !fits(i)})
	}
	return settled(v)
}

// decided is the answer that a request follows: by the count, and, where the policy
// asks the guard, by the guard's sum as well (R000-11), until the final Step is forced.
func (m *Machine) decided(fits func(target int) bool) budget.Verdict {
	v := m.verdict(fits)
	if !m.ends() || m.final != ReasonNone {
		return v
	}
	for i, e := range m.guard.Evaluate(nil, m.targets, 0).Entries {
		v.Entries[i].SchemaOnly = e.SchemaOnly
		v.Entries[i].Blocked = v.Entries[i].Blocked || e.Blocked
	}
	return settled(v)
}

// settled returns a verdict with what follows from the targets that are blocked.
func settled(v budget.Verdict) budget.Verdict {
	v.Next = slices.IndexFunc(v.Entries, func(e budget.Entry) bool { return !e.Blocked })
	instead := budget.Skip
	if v.Next < 0 {
		instead = budget.Final
	}
	for i := range v.Entries {
		v.Entries[i].Decision = budget.OK
		if v.Entries[i].Blocked {
			v.Entries[i].Decision = instead
		}
	}
	v.Decision = v.Entries[0].Decision
	return v
}

// brokenThinking reports whether an edit stands before thinking, which the model
// may have made without it.
func (m *Machine) brokenThinking() bool {
	for _, e := range m.view.Edits() {
		if e.Op != edit.Insert && e.Span.From <= m.thought {
			return true
		}
	}
	return false
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}
