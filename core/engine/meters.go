package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Estimator ids of a policy that stand for something of the target's.
const (
	estimatorCount = "count" // the one count
	estimatorModel = "model" // the tokenizer of the target's model
)

// setTargets resolves the windows of targets and makes their meters. An error
// changes nothing.
func (m *Machine) setTargets(targets []budget.Target) error {
	if len(targets) == 0 {
		return fmt.Errorf("engine: targets: want at least one, got none")
	}
	resolved := make([]budget.Target, len(targets))
	var count []*meter.Meter
	var assumed []string
	for i, t := range targets {
		w, warning, err := m.resolve(t)
		if err != nil {
			return err
		}
		mt, err := m.meterFor(t, count)
		if err != nil {
			return err
		}
		resolved[i], resolved[i].Window = t, w
		count = append(count, mt)
		if warning != "" {
			assumed = append(assumed, warning)
		}
	}
	gauge := count[0]
	if m.policy.Estimator != estimatorCount {
		var err error
		if gauge, err = m.gaugeFor(resolved); err != nil {
			return err
		}
	}
	if m.looksAtOutputs() {
		gauge.TellOutputs(m.view)
	}
	m.keepSpare(count)
	m.cfg.Targets, m.targets, m.count, m.gauge = slices.Clone(targets), resolved, count, gauge
	m.stated = nil
	clear(m.tried) // in other windows another plan may do
	if m.sent.target >= len(targets) {
		m.sent.target = 0
	}
	if m.to >= len(targets) {
		m.to = 0
	}
	m.guard.SetSchema(m.schema())
	for _, warning := range assumed {
		m.event(EventWindow, "", "%s", warning)
	}
	return nil
}

// resolve returns the window of a target with what the target leaves open: the
// tokens by [Machine.figures], bytes and images by what a refusal taught and the
// catalogue (see [NoLimit]). The text says what was assumed, if the policy wants that
// to be known.
func (m *Machine) resolve(t budget.Target) (budget.Window, string, error) {
	f, err := m.figures(t)
	if err != nil {
		return budget.Window{}, "", fmt.Errorf("engine: target %s: %w, want it stated (policy %s assumes none)", t.Name(), err, m.policy.Name)
	}
	w, warning := f.Window(), ""
	if f.Assumed && m.policy.OnUnknownWindow.Warn {
		warning = fmt.Sprintf("the window of %s is not known: %d assumed", t.Model, w.Capacity)
	}
	w.MaxBytes, w.MaxImages = t.Window.MaxBytes, t.Window.MaxImages
	if n, ok := m.learntBytes[t.Name()]; ok && (w.MaxBytes == 0 || n < w.MaxBytes) {
		w.MaxBytes = n
	}
	limits := m.cfg.Catalog.LimitsOf(t.Model)
	w.MaxBytes, w.MaxImages = cmp.Or(w.MaxBytes, limits.Bytes), cmp.Or(w.MaxImages, limits.Images)
	if err := w.Validate(); err != nil {
		return w, "", fmt.Errorf("engine: target %s: %w", t.Name(), err)
	}
	return w, warning, nil
}

// figures returns the tokens of a target's window, each with where it comes from: what a
// refusal taught, the target, the catalogue, the policy.
func (m *Machine) figures(t budget.Target) (policy.Figures, error) {
	model, _ := m.cfg.Catalog.Lookup(t.Model)
	learnt, refused := m.learnt[t.Name()]
	return m.policy.Resolve(
		policy.Layer{Source: "refusal", Most: policy.Optional{Value: learnt, Set: refused}},
		policy.Stated("target", t.Window),
		policy.Known(model),
	)
}

// meterFor returns the meter that counts for t, a new one if there is none yet.
// before are those of the targets before it.
func (m *Machine) meterFor(t budget.Target, before []*meter.Meter) (*meter.Meter, error) {
	f := m.cfg.Catalog.FamilyOf(t.Model)
	key := f.Name + " " + t.Model
	preferred := len(before) == 0
	for _, old := range slices.Concat(before, m.count, m.spare) {
		if old.Key() == key {
			return old, nil
		}
	}
	c, err := token.ForFamily(f, m.cfg.Encodings)
	if err != nil {
		return nil, fmt.Errorf("engine: target %s: %w", t.Name(), err)
	}
	cal := token.NewCalibration(f)
	if model, ok := m.cfg.Catalog.Lookup(t.Model); ok {
		cal.DropsThinking(model.DropsThinking)
	}
	if preferred && m.cfg.Calibration != nil {
		cal = m.cfg.Calibration
	}
	mt := m.newMeter(meter.Options{
		Key: key, Counter: c, Calibration: cal, Taught: preferred && m.cfg.Calibration != nil, Offline: m.cfg.Offline,
	}, m.outputsOf(t.Model, preferred))
	m.takeUp(mt)
	return mt, nil
}

// gaugeFor returns the meter of the policy's own estimator. Where that contains the
// tokenizer of the target's model, the largest figure of all targets counts (R000-20).
func (m *Machine) gaugeFor(targets []budget.Target) (*meter.Meter, error) {
	id := m.policy.Estimator
	if strings.Contains(id, estimatorModel) {
		var largest string
		var seen []string
		for _, t := range targets {
			est := m.tokenizerOf(t)
			switch {
			case slices.Contains(seen, est):
				continue
			case largest == "":
				largest = est
			default:
				largest = "max(" + largest + "," + est + ")"
			}
			seen = append(seen, est)
		}
		id = strings.ReplaceAll(id, estimatorModel, largest)
	}
	if m.gauge != nil && m.gauge.Key() == id {
		return m.gauge, nil
	}
	c, err := token.NewCounter(id, m.cfg.Encodings)
	if err != nil {
		return nil, fmt.Errorf("engine: policy %s: estimator: %w", m.policy.Name, err)
	}
	return m.newMeter(meter.Options{Key: id, Counter: c}, nil), nil
}

// mostSpare is how many meters of targets that are not named any more are kept up.
const mostSpare = 8

// keepSpare keeps the meters of targets that the next calls leave out, such as one
// that failed: what they have learnt is worth more than measuring each message once more.
func (m *Machine) keepSpare(next []*meter.Meter) {
	var spare []*meter.Meter
	for _, t := range slices.Concat(m.count, m.spare) {
		if !slices.Contains(next, t) && !slices.Contains(spare, t) && len(spare) < mostSpare {
			spare = append(spare, t)
		}
	}
	m.spare = spare
}

// tokenizerOf returns the estimator of a target's model.
func (m *Machine) tokenizerOf(t budget.Target) string {
	if model, ok := m.cfg.Catalog.Lookup(t.Model); ok && model.Estimator != "" {
		return model.Estimator
	}
	return m.cfg.Catalog.FamilyOf(t.Model).Estimator
}

// looksAtOutputs reports whether a rule measures all outputs together.
func (m *Machine) looksAtOutputs() bool {
	return slices.ContainsFunc(m.policy.Rules, func(r policy.Rule) bool { return r.When.Measure == policy.MeasureOutputs })
}

// newMeter returns a meter of all there is, with the sizes of replies that were reported.
func (m *Machine) newMeter(o meter.Options, known map[llm.MessageID]int) *meter.Meter {
	t := meter.New(o)
	p := m.past()
	p.Known = known
	t.Measure(p)
	return t
}

// past returns what the session has come to.
func (m *Machine) past() meter.Past {
	return meter.Past{
		Prompt:   meter.Prompt{View: m.view, Sections: m.allSections(), Tools: m.offered()},
		Messages: m.messages, Journal: m.journal,
	}
}

// all calls f with every meter once.
func (m *Machine) all(f func(*meter.Meter)) {
	seen := map[*meter.Meter]bool{}
	for _, t := range slices.Concat(m.count, m.spare, []*meter.Meter{m.gauge}) {
		if !seen[t] {
			seen[t] = true
			f(t)
		}
	}
}

func (m *Machine) measureFront() {
	was := m.gauge.System()
	m.all(func(t *meter.Meter) { t.SetFront(m.allSections(), m.offered()) })
	// R000-20: the system prompt; less than before counts at the next usage.
	if grown := m.gauge.System() - was; len(m.messages) == 0 {
		m.guard.TurnStart(grown) // what the session begins with is pending (R000-2)
	} else {
		m.guard.AddFresh(grown)
	}
	m.guard.SetSchema(m.schema())
	m.traceSchema()
}

func (m *Machine) schema() int {
	tools := m.offered()
	if len(tools) == 0 {
		return 0
	}
	n := m.gauge.Counter().Tools(tools)
	if f := m.policy.ToolsPermille; f > 0 {
		n = (n*f + 999) / 1000
	}
	return n
}

func (m *Machine) measureAppended() {
	it := m.view.Items[len(m.view.Items)-1]
	m.all(func(t *meter.Meter) { t.Append(it) })
}

// remeasureEdited books what edits changed in the view, of which old is how it was.
func (m *Machine) remeasureEdited(old edit.View, edits []edit.Edit) {
	front := false
	for _, e := range edits {
		front = front || len(e.Sections) > 0 || len(e.Supersedes) > 0 && e.Op != edit.Replace
	}
	was := m.gauge.Total()
	change := meter.Compare(old, m.view, edits...)
	m.all(func(t *meter.Meter) {
		t.Edited(change)
		if front {
			t.SetFront(m.allSections(), m.offered())
		}
	})
	m.guard.Edited(m.gauge.Total() - was)
}

// indexLines remembers the lines of all outputs shown in full, if a rule asks for it.
func (m *Machine) indexLines() {
	m.shown = nil
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoDedup {
			m.shown = edit.NewLines(r.Args.Lines)
		}
	}
	if m.shown == nil {
		return
	}
	for _, it := range m.view.Items {
		for n, p := range it.Message.Parts {
			if r, ok := p.(llm.ToolResult); ok && !it.IsNote() {
				m.show(it.Message.ID, n, r)
			}
		}
	}
}

// show remembers the lines of an output that is shown in full.
func (m *Machine) show(id llm.MessageID, part int, r llm.ToolResult) {
	if _, edited := edit.StubOf(r); !edited {
		m.shown.Add(id, part, r.Text())
	}
}

func (m *Machine) cloneMeters(from *Machine) {
	copies := map[*meter.Meter]*meter.Meter{}
	from.all(func(t *meter.Meter) { copies[t] = t.Trial() })
	m.count = make([]*meter.Meter, len(from.count))
	for i, t := range from.count {
		m.count[i] = copies[t]
	}
	m.spare = nil // what is tried out goes to no other target
	m.gauge = copies[from.gauge]
}

// border returns where a prompt of all there is ends.
func (m *Machine) border() meter.Border {
	return meter.Border{Messages: len(m.messages), Edit: m.lastEdit}
}

// sender returns the meter of the target that the last request went to.
func (m *Machine) sender() *meter.Meter {
	if m.sent.meter == nil {
		return m.count[0]
	}
	return m.sent.meter
}

// feedRejected learns the real window and lets the rules for it act before the
// next call; that call is prepared at once.
func (m *Machine) feedRejected(in Rejected) error {
	if err := checkUsage(llm.Usage{Input: in.Used}); err != nil {
		return err
	}
	if in.Window < 0 || in.Window > mostUsage {
		return &UsageError{"window", in.Window}
	}
	target := min(m.sent.target, len(m.targets)-1)
	if w := m.targets[target].Window; in.Window > 0 && in.Window < w.Capacity {
		if err := m.learn(target, in.Window); err != nil {
			return err
		}
		m.event(EventWindow, "", "the provider states a window of %d", in.Window)
	}
	rejected := journal.Rejected{Target: m.targets[target].Name(), Window: in.Window, Used: in.Used}
	if in.Bytes {
		limit, err := m.tooLarge(target)
		if err != nil {
			return err
		}
		rejected.Bytes = limit
	}
	m.record(journal.Record{Kind: journal.KindRejected, Rejected: rejected})
	m.heard(in.Used)
	m.refused = &in
	clear(m.tried)
	if !in.Bytes { // media go first; what the policy does about tokens is for tokens
		m.background(policy.AtRejected)
	}
	return m.feedPrepare(Prepare{})
}

// heard takes what a refused request had, by its provider, for a report where the count
// was lower.
func (m *Machine) heard(used int) {
	if t := m.sender(); used > t.Count().Bound {
		t.Usage(meter.Usage{Usage: llm.Usage{Input: used}, Reported: true, OutputUnknown: true}, m.border(), m.view)
	}
}

// tooLarge takes the limit of a target's bytes for nine tenths of what the view has.
func (m *Machine) tooLarge(target int) (limit int, err error) {
	bytes, _ := m.count[target].Wire()
	limit = max(bytes*9/10, 1)
	if old, ok := m.learntBytes[m.cfg.Targets[target].Name()]; ok {
		limit = min(limit, old)
	}
	m.learntBytes[m.cfg.Targets[target].Name()] = limit
	m.event(EventWindow, "", "a request of some %d bytes was refused: at most %d are sent from now on", bytes, limit)
	return limit, m.setTargets(m.cfg.Targets)
}

// learn takes a target's window for smaller than it was stated.
func (m *Machine) learn(target, capacity int) error {
	name := m.cfg.Targets[target].Name()
	was, known := m.learnt[name]
	m.learnt[name] = capacity
	err := m.setTargets(m.cfg.Targets)
	if err != nil && known {
		m.learnt[name] = was
	} else if err != nil {
		delete(m.learnt, name)
	}
	return err
}

// learnLimit takes a target's window for one that leaves no more than limit, beginning
// with a capacity that does at most. A smaller capacity may have a smaller buffer and
// reserve too, so that it is approached step by step.
func (m *Machine) learnLimit(target, limit, capacity int) (int, bool) {
	const steps = 64 // each leaves a quarter of the excess, or half where the reserve is large
	for range steps {
		if m.learn(target, capacity) != nil {
			return 0, false
		}
		extra := m.targets[target].Window.Limit() - limit
		if extra <= 0 {
			break
		}
		capacity -= extra
	}
	return capacity, true
}

// repeats reports whether the request would be the one that was just rejected,
// after it has taken the window for smaller than that request, so that something
// can happen (law 7). A provider need not say how large its window is: then the
// limit is taken for nine tenths of the request, so that a few rejections in a row
// do not leave a window in which nothing fits.
func (m *Machine) repeats() bool {
	same := m.sameAsRefused()
	m.refused = nil
	if !same || !m.policy.Backstop || m.over() {
		return false
	}
	i := m.to
	w := m.targets[i].Window
	limit := max(m.count[i].Count().Bound*9/10, 1)
	capacity, ok := m.learnLimit(i, limit, min(w.Capacity-1, limit+w.Buffer+w.OutputReserve))
	if !ok {
		return false // there is no smaller one
	}
	m.record(journal.Record{Kind: journal.KindRejected, Rejected: journal.Rejected{Target: m.targets[i].Name(), Window: capacity}})
	m.event(EventWindow, "", "the request was rejected: a limit of %d tokens is assumed", limit)
	return true
}
