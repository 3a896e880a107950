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

// Accounts are all that is counted: the past for every target, the guard's sum, what was
// sent and what providers said of it.
type accounts struct {
	offers
	outbox
	targets

	guard     budget.Guard
	lastUsage llm.Usage
	covered   bool   // the usage that was committed last contains the reply that comes next
	reports   int    // of usage so far
	opened    bool   // a Turn began since the last request
	final     Reason // why this Step and those after it in the Turn are final ones
	wanted    Reason // why the next Step is to be the final one
	granted   int    // tokens of room that the output being appended was promised
	incoming  incoming

	request request
	sent    sending
	anew    bool // what stands before all messages has changed since the last request, so that nothing is cached

	shares []toolShare // nil: nobody has asked since the tools changed
}

// A toolShare is a [ToolShare] as it was measured, before anything is known of the scale.
type toolShare struct {
	ToolShare
	offered, leftOut token.Size
}

// incoming is an output that the host has stored, while it is appended.
type incoming struct {
	ends edit.Ends
	bare bool // nothing of it is shown
}

// setTargets resolves the windows of targets and makes their meters. An error
// changes nothing.
func (m *accounts) setTargets(targets []budget.Target) error {
	if len(targets) == 0 {
		return fmt.Errorf("engine: targets: want at least one (Options.Targets, or those of a Prepare), got none")
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
	m.stated, m.key, m.resolved, m.count, m.gauge = slices.Clone(targets), keyOf(targets), resolved, count, gauge
	m.wrote, m.shares = nil, nil
	if m.request.to >= len(targets) {
		m.request.to = 0
	}
	m.guard.SetSchema(m.schema())
	for _, warning := range assumed {
		m.event(EventWindow, "", "%s", warning)
	}
	return nil
}

// resolve returns the window of a target with what the target leaves open: the
// tokens by figures, bytes and images by what a refusal taught and the
// catalogue (see [NoLimit]). The text says what was assumed, if the policy wants that
// to be known.
func (m *accounts) resolve(t budget.Target) (budget.Window, string, error) {
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
// refusal or a large prompt taught, the target, the catalogue, the policy. What the host
// states is no guess, and no prompt changes it.
func (m *accounts) figures(t budget.Target) (policy.Figures, error) {
	model, _ := m.cfg.Catalog.Lookup(t.Model)
	learnt, refused := m.learnt[t.Name()]
	accepted, more := m.accepted[t.Name()]
	for _, stated := range []int{t.Window.Capacity, t.Window.MaxInput} {
		if stated > 0 {
			accepted = min(accepted, stated)
		}
	}
	return m.policy.Resolve(
		policy.Layer{Source: "refusal", Most: policy.Optional{Value: learnt, Set: refused}},
		policy.Layer{Source: "accepted prompt", Least: policy.Optional{Value: accepted, Set: more}},
		policy.Stated("target", t.Window),
		policy.Known(model),
	)
}

// tokenizerOf returns the estimator of a target's model.
func (m *accounts) tokenizerOf(t budget.Target) string {
	if model, ok := m.cfg.Catalog.Lookup(t.Model); ok && model.Estimator != "" {
		return model.Estimator
	}
	return m.cfg.Catalog.FamilyOf(t.Model).Estimator
}

// meterFor returns the meter that counts for t, a new one if there is none yet.
// before are those of the targets before it.
func (m *accounts) meterFor(t budget.Target, before []*meter.Meter) (*meter.Meter, error) {
	f := m.cfg.Catalog.FamilyOf(t.Model)
	key := f.Name + " " + t.Model
	preferred := len(before) == 0
	for _, old := range slices.Concat(before, m.count, m.spare) {
		if old.Key() == key {
			return old, nil
		}
	}
	if m.cfg.Exactly != "" {
		c, err := token.NewCounter(m.cfg.Exactly, m.cfg.Encodings)
		if err != nil {
			return nil, fmt.Errorf("engine: count exactly by %s: %w", m.cfg.Exactly, err)
		}
		return m.newMeter(meter.Options{Key: key, Counter: c}, nil), nil
	}
	c, err := token.ForFamily(f, m.cfg.Encodings)
	if err != nil {
		return nil, fmt.Errorf("engine: target %s: %w", t.Name(), err)
	}
	cal := token.NewCalibration(f)
	if model, ok := m.cfg.Catalog.Lookup(t.Model); ok {
		cal.DropsThinking(model.DropsThinking)
		if model.LosesThinking {
			cal.LosesThinking()
		}
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
func (m *accounts) gaugeFor(targets []budget.Target) (*meter.Meter, error) {
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

// newMeter returns a meter of all there is, with the sizes of replies that were reported.
func (m *accounts) newMeter(o meter.Options, known map[llm.MessageID]int) *meter.Meter {
	t := meter.New(o)
	p := m.history()
	p.Known = known
	t.Measure(p)
	return t
}

// history returns what the session has come to.
func (m *accounts) history() meter.Past {
	return meter.Past{
		Prompt:   meter.Prompt{View: m.view, Sections: m.allSections(), Tools: m.asLoaded(m.offered())},
		Messages: m.messages, Journal: m.journal,
	}
}

// takeUp takes a meter to where it was when the state was written. One of a target that
// is named only later finds it then.
func (m *accounts) takeUp(t *meter.Meter) {
	s, ok := m.remembered[t.Key()]
	if !ok || t.Calibration() == nil {
		return
	}
	_ = t.Restore(s.State, m.history()) // where it is of another past, all there is counts
	delete(m.remembered, t.Key())
}

func (m *accounts) measureFront() {
	was := m.gauge.System()
	m.shares = nil
	m.all(func(t *meter.Meter) { t.SetFront(m.allSections(), m.asLoaded(m.offered())) })
	// R000-20: the system prompt; less than before counts at the next usage.
	if grown := m.gauge.System() - was; len(m.messages) == 0 {
		m.guard.TurnStart(grown) // what the session begins with is pending (R000-2)
	} else {
		m.guard.AddFresh(grown)
	}
	m.guard.SetSchema(m.schema())
	m.traceSchema()
}

func (m *accounts) schema() int {
	tools := token.Shown(m.asLoaded(m.offered()))
	if len(tools) == 0 {
		return 0
	}
	n := m.gauge.Counter().Tools(tools)
	if f := m.policy.ToolsPermille; f > 0 {
		n = (n*f + 999) / 1000
	}
	return n
}

func (m *accounts) measureAppended() {
	it := m.view.Items[len(m.view.Items)-1]
	m.all(func(t *meter.Meter) { t.Append(it) })
	if len(llm.Loads(it.Message)) > 0 && m.reload() {
		m.measureFront()
	}
}

// remeasureEdited books what edits changed in the view, of which old is how it was.
func (m *accounts) remeasureEdited(old edit.View, edits []edit.Edit) {
	front := false
	for _, e := range edits {
		front = front || len(e.Sections) > 0 || len(e.Supersedes) > 0 && e.Op != edit.Replace
	}
	reloaded := (len(m.loaded) > 0 || front) && m.reload() // what comes back may load some again
	was := m.gauge.Total()
	change := meter.Compare(old, m.view, edits...)
	m.all(func(t *meter.Meter) {
		t.Edited(change)
		if front || reloaded {
			t.SetFront(m.allSections(), m.asLoaded(m.offered()))
		}
	})
	m.guard.Edited(m.gauge.Total() - was)
	if reloaded {
		m.shares = nil
		m.guard.SetSchema(m.schema())
	}
}

func (m *accounts) setTools(tools []llm.Tool, shown []int, declared bool) (other bool) {
	m.setOffer(tools, shown, declared)
	return m.renewFront()
}

func (m *accounts) setSections(sections []llm.Section) {
	m.sections, m.told = sections, m.newestEdit()
	m.renewFront()
}

// renewFront takes in what stands before all messages, and reports whether that is something else.
func (m *accounts) renewFront() (other bool) {
	front := journal.FrontOf(m.sections, m.active)
	other = front != m.front
	m.front, m.anew = front, m.anew || other && m.Began()
	m.measureFront()
	m.rethink()
	return other
}

// offered returns the tools of this request: all that are not left out, or those of a final
// Step.
func (m *accounts) offered() []llm.Tool {
	if m.final == ReasonNone {
		return m.active
	}
	return m.last(m.finalTool())
}

// setFinal makes the next Steps final ones, or ordinary ones again.
func (m *accounts) setFinal(reason Reason) {
	if m.final == reason {
		return
	}
	m.final = reason
	m.measureFront() // other tools are offered
	m.rethink()
}

// rethink finds anew what thinking in the view is broken.
func (m *accounts) rethink() { m.reconsider(m.final != ReasonNone) }

// wayOut says what becomes of broken thinking in a request to a target: it is asked to drop
// it, or the request leaves it out, or it does not mind. A target that nobody knows may
// mind, and is asked.
func (m *accounts) wayOut(t budget.Target) (drop bool, strip []edit.Span) {
	row, known := m.cfg.Catalog.Lookup(t.Model)
	switch can := row.Capabilities; {
	case len(m.broken) == 0 || known && !can.PrefixThinking:
		return false, nil
	case known && !can.DropBlock:
		return false, m.beforeNewestRound(m.broken)
	}
	return true, nil
}

// wouldBreak reports whether an edit below the newest Round would break its thinking for
// good: the preferred target minds and cannot be asked to drop it, and it must not be left
// out. Rules wait for the end of that Round; what must fit is made to fit all the same.
func (m *accounts) wouldBreak() bool {
	row, known := m.cfg.Catalog.Lookup(m.resolved[0].Model)
	return known && row.Capabilities.PrefixThinking && !row.Capabilities.DropBlock && m.thinksNow()
}

// exceed notes, for a restart too, that no more tools run in this Turn.
func (m *accounts) exceed() {
	m.guard.Exceed()
	m.record(journal.Record{Kind: journal.KindExceeded})
}

// sender returns the meter of the target that the last request went to.
func (m *accounts) sender() *meter.Meter {
	if m.sent.meter == nil {
		return m.count[0]
	}
	return m.sent.meter
}

// SentTo returns the target of the request that was sent last; the preferred one if
// none was.
func (m *accounts) SentTo() budget.Target {
	if i := m.named(m.sent.to.Name()); i >= 0 {
		return m.resolved[i]
	}
	if m.sent.meter == nil {
		return m.resolved[0]
	}
	return m.sent.to
}

// Began reports whether a request has left, of this machine or of the one whose records it
// took up.
func (m *accounts) Began() bool { return m.sent.meter != nil || m.sent.end > 0 }

// elsewhere reports whether requests went to other targets only than the one that is preferred
// now, as far as anybody knows: its provider keeps nothing of them.
func (m *accounts) elsewhere() bool {
	return m.Began() && m.SentTo().Name() != m.resolved[0].Name() && !m.count[0].Report().Anchored
}

// named returns the place of a target among those that are named now, -1 if it is none.
func (m *accounts) named(name string) int {
	return slices.IndexFunc(m.resolved, func(t budget.Target) bool { return t.Name() == name })
}

// situation returns the one that m is in.
func (m *accounts) situation() journal.Situation {
	return journal.Situation{Messages: len(m.messages), Edit: m.newestEdit(), Reports: m.reports}
}

// Guard returns the guard's counters.
func (m *accounts) Guard() budget.Counters { return m.guard.Counters() }

// Reserved returns the tokens that are held for outputs on their way.
func (m *accounts) Reserved() int { return m.guard.Reserved() }

// Final returns the reason for which the final Step was forced, or is going to be by
// the next Prepare; empty if neither.
func (m *accounts) Final() Reason {
	if m.final == ReasonNone {
		return m.wanted
	}
	return m.final
}

// Projected returns what the next prompt is expected to have by the guard's sum.
func (m *accounts) Projected() int { return m.guard.Project(0).Base }

// CanExecute reports whether a tool may run: any, until an output found no room or
// the final Step was forced, and the policy's own at any time.
func (m *accounts) CanExecute(tool string) bool { return m.guard.CanExecute() || m.exempt(tool) }

// SkippedText is what a host appends as the result of a call that it did not run: that
// another output overflowed before it ([Machine.CanExecute]), or that this one found no
// room.
func (m *accounts) SkippedText() string {
	if m.guard.CanExecute() {
		return orElse(m.text(policy.TemplateFail), failText)
	}
	return orElse(m.text(policy.TemplateSkipped), skippedText)
}

// Sections returns the system prompt as it would be sent. The caller must not change it.
func (m *accounts) Sections() []llm.Section { return m.allSections() }

// Tools returns the tools as they would be offered. The caller must not change them.
func (m *accounts) Tools() []llm.Tool { return m.offered() }

// trace notes t with what the guard's counters are now.
func (m *accounts) trace(t Trace) {
	if !m.cfg.Trace {
		return
	}
	t.Counters, t.Extra, t.Projected = m.guard.Counters(), m.guard.Reserved(), m.guard.Project(0).Base
	m.out.Traces = append(m.out.Traces, t)
}

func (m *accounts) traceInit() { m.trace(Trace{Topic: TopicInitCounters}) }

func (m *accounts) traceSchema() { m.trace(Trace{Topic: TopicSchemaEstimate}) }

// traceTurn notes what the first call of a Turn begins with.
func (m *accounts) traceTurn() {
	if m.opened {
		m.trace(Trace{Topic: TopicLoopInit})
	}
	m.opened = false
}
