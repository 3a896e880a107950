package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A pair is a session on two machines that are fed the same, so that law 4 can be
// seen, with the laws looking at the first one.
type pair struct {
	*sim
	h, other *host
	laws     *laws
	twin     *counted
	events   []engine.Event // of the input fed last
	withdrew bool

	prepared     int // length of the journal before the call that was prepared last
	sentEdits    int // and when a request left last
	rejectedOnce bool
	switched     bool // the policy
}

func newPair(t *rapid.T) *pair {
	p := drawPolicy(t)
	c, err := configured(p, drawTargets(t, p)...)
	c.KeepOutputs = rapid.Bool().Draw(t, "keep outputs")
	if err != nil {
		t.Fatal(err)
	}
	s := &pair{sim: &sim{t: t}, laws: newLaws()}
	for _, h := range []**host{&s.h, &s.other} {
		if *h, err = newHost(c); err != nil {
			t.Fatalf("policy %s: %v", p.Name, err)
		}
	}
	if s.twin, err = newCounted(c.Catalog.FamilyOf(c.Targets[0].Model)); err != nil {
		t.Fatal(err)
	}
	s.h.ready = func(r engine.Ready, failed string) {
		s.events = append(s.events, r.Events...)
		for _, e := range r.Edits {
			t.Logf("  edit %d %s %s [%d,%d) by %s: %d to %d, supersedes %v", e.ID, e.Op, e.Kind, e.Span.From, e.Span.To, e.Rule, e.Before, e.After, e.Supersedes)
		}
		for _, e := range r.Events {
			t.Logf("  event %+v", e)
		}
		s.withdrew = s.withdrew || failed != ""
	}
	s.must(s.h.drain())
	s.must(s.other.drain())
	return s
}

func (s *pair) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// feed feeds both machines and looks at all laws. It returns the error of the input.
func (s *pair) feed(in engine.Input) error {
	s.t.Helper()
	if st, ok := in.(engine.Stored); ok {
		body := []byte(filler(st.Bytes, st.CallID))
		s.h.blobs[st.Ref], s.other.blobs[st.Ref] = body, body
	}
	s.trace(in)
	s.events, s.withdrew = nil, false
	guard, edits, sends, lines := s.h.m.Guard(), len(s.h.m.Journal()), len(s.h.sent), len(s.h.lines)
	if _, ok := in.(engine.SetPolicy); ok {
		s.laws.newPolicy(s.h.m)
		s.switched = true
	}
	lookAt(s.h.m) // not at the other one
	twin := s.twin.clone()
	twin.before(s.h, in)
	err := s.h.feed(in)
	if isBroken(err) {
		s.t.Fatalf("after %T: %v", in, err)
	}
	if err == nil { // else the input changed nothing
		twin.after(s.h, len(s.h.sent) > sends)
		s.twin = twin
	}
	if other := s.other.feed(in); (err == nil) != (other == nil) || err != nil && err.Error() != other.Error() {
		s.t.Fatalf("law 4: after %T: one machine says %v, the other %v", in, err, other)
	}
	if a, b := s.h.written(lines), s.other.written(lines); a != b {
		s.t.Fatalf("law 4: after %T: the records are\n%s\nand\n%s", in, a, b)
	}
	if err := s.laws.check(s.h); err != nil {
		s.t.Fatalf("after %T: %v", in, err)
	}
	if err := s.twin.agrees(s.h); err != nil {
		s.t.Fatalf("after %T: %v", in, err)
	}
	s.monotonic(in, guard, edits)
	s.bounded(in, edits)
	if n := len(s.h.sent); n > sends {
		s.sent, s.sentEdits = s.h.sent[n-1].Count.Point, len(s.h.m.Journal())
		s.same(s.h.sent[n-1], s.other.sent[len(s.other.sent)-1])
	}
	return err
}

// trace tells of an input, for whoever reads of a failure.
func (s *pair) trace(in engine.Input) {
	text := fmt.Sprintf("%T %+v", in, in)
	if a, ok := in.(engine.Append); ok {
		text = fmt.Sprintf("append %d %s %v:", len(s.h.m.Messages())+1, a.Message.Origin, a.Message.Flags)
		for _, p := range a.Message.Parts {
			text += " | " + partLine(p, false)
		}
	}
	s.t.Logf("%s; store fails %d; count %+v", short(text), s.h.failBlobs, s.h.m.Count())
}

// same is law 4 for what is sent.
func (s *pair) same(a, b *engine.Send) {
	s.t.Helper()
	if x, y := encoded(s.t, a), encoded(s.t, b); x != y {
		s.t.Fatalf("law 4: one machine sends\n%s\nthe other\n%s", x, y)
	}
}

func encoded(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// monotonic is law 10: the guard's count of the conversation falls only when usage
// is reported and when an edit is made.
func (s *pair) monotonic(in engine.Input, was budget.Counters, edits int) {
	now := s.h.m.Guard()
	switch in.(type) {
	case engine.Usage, engine.Rejected, engine.SetPolicy, engine.Restore:
		return
	}
	if len(s.h.m.Journal()) != edits || s.withdrew {
		return
	}
	if now.Current+now.Pending+now.Fresh < was.Current+was.Pending+was.Fresh {
		s.t.Fatalf("law 10: after %T the guard counts %+v, before it %+v", in, now, was)
	}
}

// bounded is law 7: one input leads to no more edits than there are things to edit,
// and no transform plans against the laws.
func (s *pair) bounded(in engine.Input, edits int) {
	parts := 10
	for _, m := range s.h.m.Messages() {
		parts += 2 * len(m.Parts)
	}
	if n := len(s.h.m.Journal()) - edits; n > parts {
		s.t.Fatalf("law 7: %T made %d edits of %d messages", in, n, len(s.h.m.Messages()))
	}
	for _, e := range s.events {
		if e.Kind == engine.EventNoProgress && strings.Contains(e.Text, "refused:") {
			s.t.Fatalf("a plan broke a law: %s", e.Text)
		}
	}
}

// answer answers what was asked, or does not.
func (s *pair) answer() {
	for len(s.h.asks) > 0 {
		ask := s.h.asks[0]
		s.h.asks, s.other.asks = s.h.asks[1:], s.other.asks[1:]
		a := engine.Answer{Ask: ask.ID}
		switch s.draw(8, "answer") {
		case 0:
			a.Err = "no model"
		case 1:
		case 2:
			a.Text = "<summary>" + filler(20000, "huge") + "</summary>"
		case 3:
			a.Text = "<retain>a.go</retain><summary>Short.</summary>"
		case 4:
			a.Text = "<retain>a.go</retain><summary>" + filler(1200, "enough") + "</summary>"
		case 5:
			a.Text = "<summary>" + filler(1200, "cut off")
		default:
			a.Text = "It was " + s.text("summary")
		}
		s.must(s.feed(a))
	}
}

// prepare prepares a call, answers what has to be answered for it, and reports
// whether a request left.
func (s *pair) prepare() bool {
	n := len(s.h.sent)
	s.prepared = len(s.h.m.Journal())
	lines := len(s.h.lines)
	s.must(s.feed(engine.Prepare{Cold: s.maybe(10, "cold")}))
	s.economical(lines)
	if s.waits() || s.maybe(70, "answer now") {
		s.answer()
	}
	for s.waits() { // the answer led to another question
		s.answer()
	}
	return len(s.h.sent) > n
}

// economical is law 11: of the records from number from on, which a Prepare wrote, those of a
// rule that waits say that it pays.
func (s *pair) economical(from int) {
	for _, line := range s.h.lines[from:] {
		r, err := journal.Decode(line)
		s.must(err)
		if r.Worth == nil {
			continue
		}
		for _, rule := range s.h.m.Policy().Rules {
			if rule.Name == r.Edit.Rule && s.h.m.Policy().Waits(rule) && r.Worth.Gain <= 0 {
				s.t.Fatalf("law 11: rule %s is to wait until it pays, and made edit %d for a gain of %d", rule.Name, r.Edit.ID, r.Worth.Gain)
			}
		}
	}
}

func (s *pair) waits() bool {
	return slices.ContainsFunc(s.h.asks, func(a engine.Ask) bool { return !a.Background })
}

// again is law 7: what has just been prepared is not prepared any better.
func (s *pair) again() {
	if s.h.failBlobs != 0 || s.h.m.Asking() {
		return
	}
	edits, sends := len(s.h.m.Journal()), len(s.h.sent)
	// No answer came since, and no note, which is new content as any other.
	same := edits == s.sentEdits && !slices.ContainsFunc(s.h.m.Journal()[s.prepared:], func(e edit.Edit) bool { return e.Op == edit.Insert })
	s.must(s.feed(engine.Prepare{}))
	if len(s.h.asks) > 0 {
		return
	}
	for _, e := range s.h.m.Journal()[edits:] {
		if same && e.Op != edit.Insert {
			s.t.Fatalf("law 7: a second Prepare made the edit %+v", e)
		}
	}
	if same && len(s.h.sent) == sends+1 && sends > 0 && len(s.h.m.Journal()) == edits {
		a, b := s.h.sent[sends-1], s.h.sent[sends]
		if encoded(s.t, a.Items) != encoded(s.t, b.Items) {
			s.t.Fatalf("law 7: a second Prepare sends something else")
		}
	}
}

// step does one random thing.
func (s *pair) step() {
	switch s.draw(15, "step") {
	case 0, 1, 2, 3, 4, 5:
		s.round()
	case 6:
		s.turn()
	case 7:
		s.must(s.feed(engine.Append{Message: s.note()}))
	case 8: // a person interrupts
		s.open = nil
		s.must(s.feed(engine.Append{Message: s.human()}))
	case 9:
		s.settings()
	case 10:
		n := s.draw(3, "store fails")
		s.h.failBlobs, s.other.failBlobs = []int{0, 0, -1}[n], []int{0, 0, -1}[n]
	case 11:
		s.answer()
	case 12:
		if s.prepare() && s.maybe(50, "again") {
			s.again()
		}
	case 13:
		s.rejected()
	case 14:
		s.without()
	}
}

// without goes on while calls are open: with more of the same reply, or with another one.
func (s *pair) without() {
	if s.h.m.Asking() {
		return
	}
	s.must(s.feed(engine.Append{Message: s.reply(true)}))
	results := s.results()
	for _, in := range results[:s.draw(len(results)+1, "answered before")] {
		s.must(s.feed(in))
	}
	if s.maybe(30, "a person interrupts") {
		s.must(s.feed(engine.Append{Message: s.human()}))
	}
	s.open = nil
	s.must(s.feed(engine.Append{Message: s.reply(s.maybe(50, "calls"))}))
	for _, in := range s.results() { // with ids that may be those of calls that were interrupted
		s.must(s.feed(in))
	}
}

// round is a call, its reply and its tools.
func (s *pair) round() {
	sent := s.prepare()
	if sent && s.maybe(30, "again") {
		s.again()
	}
	if s.maybe(5, "steering") {
		s.must(s.feed(engine.Append{Message: s.note()}))
	}
	if sent && s.maybe(85, "usage known") {
		s.must(s.feed(s.usage()))
	}
	s.open = nil
	s.must(s.feed(engine.Append{Message: s.reply(true)}))
	for _, in := range s.results() {
		s.must(s.feed(s.withRoom(in)))
	}
}

// turn ends a Turn and begins the next one.
func (s *pair) turn() {
	if s.prepare() {
		s.must(s.feed(s.usage()))
	}
	s.open = nil
	s.must(s.feed(engine.Append{Message: s.reply(false)}))
	s.must(s.feed(engine.TurnEnd{}))
	s.must(s.feed(engine.Append{Message: s.human()}))
}

func (s *pair) settings() {
	switch s.draw(4, "setting") {
	case 3:
		s.must(s.feed(engine.Promote{Names: []string{"web", "bash", "none"}[s.draw(3, "first"):]}))
	case 0:
		names := []string{"agent__final_report", "read", "bash", "web"}
		var tools []llm.Tool
		for i, n := range names[:s.draw(5, "tools")] {
			tools = append(tools, llm.Tool{Name: n, Description: s.text("tool"), Schema: "{}", Kind: []llm.ToolKind{0, 0, llm.ToolOfSkill, llm.ToolOfServer}[i]})
		}
		if s.maybe(70, "search") {
			tools = append(tools, llm.Tool{Name: policy.ToolSearch, Schema: "{}", Builtin: true})
		}
		s.must(s.feed(engine.SetTools{Tools: tools}))
	case 1:
		sections := []llm.Section{{Name: "system", Text: s.text("system")}, {Name: "skills", Kind: llm.SectionSkills, Text: s.text("skills")}}
		if s.maybe(30, "hidden") {
			sections = append(sections, llm.Section{Name: "client", Tokens: 500 * s.draw(4, "hidden tokens")})
		}
		s.must(s.feed(engine.SetSections{Sections: sections}))
	case 2:
		p, err := policy.Preset(policy.Presets()[s.draw(len(policy.Presets()), "preset")])
		s.must(err)
		_ = s.feed(engine.SetPolicy{Policy: p}) // its buffer may be more than the window
	}
}

func (s *pair) rejected() {
	if !s.prepare() {
		return
	}
	in := engine.Rejected{}
	if s.maybe(50, "states its window") {
		in.Window = s.sent * (50 + s.draw(60, "of what was sent")) / 100
	}
	if s.maybe(50, "states what was used") {
		in.Used = s.sent * (90 + s.draw(100, "percent of the count")) / 100
	}
	s.rejectedOnce = true
	_ = s.feed(in) // a window that leaves no room is refused
	for s.waits() {
		s.answer()
	}
}

// TestLaws plays random sessions under every preset and random policies and looks
// at all laws after every input.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newPair(t)
		s.must(s.feed(engine.Append{Message: s.human()}))
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			s.step()
		}
	})
}
