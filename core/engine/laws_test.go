package engine_test

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// laws looks at a machine after every input. It works everything out from the
// transcript and from what the host was told to keep, in the plainest way, and
// shares no code with what it judges but the counters.
type laws struct {
	sent, refused, edits int // that were looked at
	last                 *engine.Send
	lastEdits            map[edit.ID]bool       // that held then
	gone                 map[llm.MessageID]bool // left the view under another policy

	prefixes  map[llm.MessageID][]string // before a message with thinking, what the model had read when it made it
	lastWords []string                   // of the request that was sent last
	roughly   map[llm.MessageID]rough    // of the request that a message with thinking answers
	lastRough rough
	lastEnd   int // messages that there were then
}

func newLaws() *laws {
	return &laws{lastEdits: map[edit.ID]bool{}, gone: map[llm.MessageID]bool{}, prefixes: map[llm.MessageID][]string{}, roughly: map[llm.MessageID]rough{}}
}

// newPolicy notes what the policy so far has taken out of the view: pins do not
// bring it back, since edits stay.
func (l *laws) newPolicy(m *engine.Machine) {
	l.edits = len(m.Journal())
	shown := map[llm.MessageID]bool{}
	for _, it := range m.View().Items {
		shown[it.Message.ID] = true
	}
	for _, msg := range m.Messages() {
		l.gone[msg.ID] = l.gone[msg.ID] || !shown[msg.ID]
	}
}

// check returns the first law that is broken.
func (l *laws) check(h *host) error {
	if err := metersAgree(h); err != nil {
		return err
	}
	if err := l.gains(h.m); err != nil {
		return err
	}
	for ; l.refused < len(h.refused); l.refused++ {
		r := h.refused[l.refused]
		if r.Used <= r.Limit || h.failBlobs == 0 && !r.Irreducible() {
			return broken("law 1: refused with %v", r)
		}
		if err := irreducible(h); err != nil {
			return err
		}
	}
	for ; l.sent < len(h.sent); l.sent++ {
		if err := l.send(h, h.sent[l.sent]); err != nil {
			return err
		}
	}
	return nil
}

func (l *laws) send(h *host, s *engine.Send) error {
	for _, law := range []func(*host, *engine.Send) error{fits, stored, paired, l.sticky, l.thinkingWhole, l.pinned, honest, l.listed} {
		if err := law(h, s); err != nil {
			return err
		}
	}
	l.last, l.lastEdits = s, map[edit.ID]bool{}
	for _, e := range held(h.m) {
		l.lastEdits[e.ID] = true
	}
	return nil
}

// listed: the messages of a Send are those of its items, and what later Sends share with it leaves
// them as they are (laws 4 and 5).
func (l *laws) listed(_ *host, s *engine.Send) error {
	if s := l.last; s != nil {
		if err := listsItems(s); err != nil {
			return broken("the Send before: %v", err)
		}
	}
	return listsItems(s)
}

func listsItems(s *engine.Send) error {
	all := s.Messages()
	if len(all) != len(s.Items) || cap(all) > len(all) {
		return broken("law 4: %d messages of %d items, with room for %d", len(all), len(s.Items), cap(all))
	}
	for i, it := range s.Items {
		if a, b := llm.DigestOf(all[i]), llm.DigestOf(it.Message); a != b || all[i].ID != it.Message.ID {
			return broken("law 5: message %d is not that of its item", i)
		}
	}
	return nil
}

// fits is law 1: what is sent fits, by the count and by a sum made anew, or is
// marked where the policy sends all the same.
func fits(h *host, s *engine.Send) error {
	p, w := h.m.Policy(), s.Target.Window
	total := sizeOfAll(counterFor(h.m, s), s)
	total.Bytes += 256 // what stands around tools and messages
	over := s.Count.Bound > w.Limit() || w.MaxBytes > 0 && total.Bytes+total.More > w.MaxBytes || w.MaxImages > 0 && total.Media > w.MaxImages
	switch {
	case s.Limit != w.Limit():
		return broken("law 1: limit %d, want %d", s.Limit, w.Limit())
	case !p.Backstop:
		return nil
	case over != s.StillOver:
		return broken("law 1: send %d has at most %d tokens of %d, %d bytes of %d, %d images of %d, still over %v",
			s.Seq, s.Count.Bound, w.Limit(), total.Bytes+total.More, w.MaxBytes, total.Media, w.MaxImages, s.StillOver)
	case over && p.OnFloor != policy.FloorSend:
		return broken("law 1: send %d is over, but the policy refuses", s.Seq)
	case over:
		return irreducible(h)
	}
	return nil
}

func counterFor(m *engine.Machine, s *engine.Send) token.Counter {
	for i, t := range m.Targets() {
		if t == s.Target {
			return m.MeterStates()[i].Counter
		}
	}
	return nil
}

func sizeOfAll(c token.Counter, s *engine.Send) token.Size {
	var total token.Size
	for _, sec := range s.Sections {
		total = total.Add(token.SizeOfSection(c, sec))
	}
	if len(s.Tools) > 0 {
		total = total.Add(token.SizeOfTools(c, s.Tools))
	}
	for _, it := range s.Items {
		total = total.Add(token.SizeOf(c, it.Message))
	}
	return total
}

// irreducible looks for what the backstop could still have taken out of a view
// that is over: an output that is more than a line, or messages before the tail
// that nothing pins. A little is left for the line and the note themselves.
func irreducible(h *host) error {
	if h.failBlobs != 0 {
		return nil // what cannot be stored cannot be taken out
	}
	m := h.m
	meter := m.MeterStates()[0]
	known := h.known(meter.Key)
	const note = 60 // tokens of a line or a note, generously
	size := func(msg llm.Message) int {
		if n, ok := known[msg.ID]; ok && msg.ID > 0 {
			return n
		}
		return token.SizeOf(meter.Counter, msg).All()
	}
	run, from := 0, 0
	for i, it := range m.View().Items {
		for _, p := range it.Message.Parts {
			r, ok := p.(llm.ToolResult)
			if ok && edit.FormOf(r) != edit.Bare && token.SizeOfPart(meter.Counter, r).All() > note {
				return broken("law 1: nothing more is taken out, but the output of call %q, %d tokens, is shown", r.CallID, token.SizeOfPart(meter.Counter, r).All())
			}
		}
		free := !it.IsNote() && it.Message.ID < m.Tail() && !m.Pinned(it.Message)
		if !free {
			run, from = 0, i+1
			continue
		}
		if run += size(it.Message); run > note && isCut(m.Messages(), int(m.View().Items[from].Message.ID)-1) && isCut(m.Messages(), int(it.Message.ID)) {
			return broken("law 1: nothing more is taken out, but messages %d to %d, %d tokens, are shown", m.View().Items[from].Message.ID, it.Message.ID, run)
		}
	}
	return nil
}

// isCut reports whether no call before a position is answered at or after it.
func isCut(msgs []llm.Message, at int) bool {
	waiting := map[string]int{}
	for _, m := range msgs[:at] {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				if !p.Hosted {
					waiting[p.CallID]++
				}
			case llm.ToolResult:
				waiting[p.CallID]--
			}
		}
	}
	for _, n := range waiting {
		if n > 0 {
			return false
		}
	}
	return true
}

// paired is law 3: every result follows its call, no call is left alone, and every
// archive and note lies between Rounds.
func paired(h *host, s *engine.Send) error {
	open := map[string]int{}
	for _, it := range s.Items {
		for _, p := range it.Message.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				if !p.Hosted {
					open[p.CallID]++
				}
			case llm.ToolResult:
				if open[p.CallID]--; open[p.CallID] < 0 {
					return broken("law 3: send %d has a result of %q without its call", s.Seq, p.CallID)
				}
			}
		}
	}
	for id, n := range open {
		if n > 0 {
			return broken("law 3: send %d has a call %q without its result", s.Seq, id)
		}
	}
	if err := between(s); err != nil {
		return err
	}
	for _, e := range held(h.m) {
		if e.Op != edit.Replace && !(isCut(h.m.Messages(), int(e.Span.From)-1) && isCut(h.m.Messages(), int(e.Span.To)-1)) {
			return broken("law 3: edit %d, %s of [%d,%d), lies inside a Round", e.ID, e.Op, e.Span.From, e.Span.To)
		}
	}
	return nil
}

// hostStored reports whether an edit is about an output that the host has stored.
func hostStored(m *engine.Machine, e edit.Edit) bool {
	r, _ := m.Messages()[e.Span.From-1].Parts[e.Part].(llm.ToolResult)
	_, ok := edit.StubOf(r)
	return ok
}

// between is law 3 as providers see it: what answers a reply stands before the next one.
func between(s *engine.Send) error {
	for i, it := range s.Items {
		if it.Message.Role != llm.RoleAssistant || i == 0 || s.Items[i-1].Message.Role == llm.RoleAssistant {
			continue
		}
		calls, results := map[string]int{}, map[string]int{}
		for _, before := range s.Items[:i] {
			for _, c := range before.Message.Calls() {
				if !c.Hosted {
					calls[c.CallID]++
				}
			}
			for _, r := range before.Message.Results() {
				results[r.CallID]++
			}
		}
		for id, n := range calls {
			if results[id] < n {
				return broken("law 3: send %d has a reply at %d before the result of call %q", s.Seq, i, id)
			}
		}
	}
	return nil
}

// sticky is law 5: what was sent is sent again, the same and in the same order,
// but for what an edit made since has changed or taken away.
func (l *laws) sticky(h *host, s *engine.Send) error {
	if l.last == nil {
		return nil
	}
	now := map[string]edit.Item{}
	order := map[string]int{}
	for i, it := range s.Items {
		now[keyOf(it, s.Items[:i])], order[keyOf(it, s.Items[:i])] = it, i
	}
	before := -1
	for i, it := range l.last.Items {
		key := keyOf(it, l.last.Items[:i])
		same, ok := now[key]
		if l.touched(h, it) {
			continue
		}
		switch {
		case !ok:
			return broken("law 5: %s was sent and is gone without an edit", key)
		case !reflect.DeepEqual(it.Message, same.Message):
			return broken("law 5: %s was sent and has changed without an edit", key)
		case order[key] <= before:
			return broken("law 5: %s has changed its place", key)
		}
		before = order[key]
	}
	return nil
}

// keyOf names an item: by its message, or as the n-th note of an edit.
func keyOf(it edit.Item, before []edit.Item) string {
	if !it.IsNote() {
		return "message " + strconv.Itoa(int(it.Message.ID))
	}
	n := 0
	for _, b := range before {
		if b.IsNote() && b.Edits[0] == it.Edits[0] {
			n++
		}
	}
	return "note " + strconv.Itoa(n) + " of edit " + strconv.Itoa(int(it.Edits[0]))
}

// touched reports whether an edit that was not there at the last Send may have
// changed it.
func (l *laws) touched(h *host, it edit.Item) bool {
	holds := map[edit.ID]bool{}
	for _, e := range held(h.m) {
		holds[e.ID] = true
		if !l.lastEdits[e.ID] && e.Op != edit.Insert && e.Span.From <= it.Before && it.Before <= e.Span.To {
			return true
		}
	}
	return it.IsNote() && !holds[it.Edits[0]]
}

// thinkingWhole is law 6: thinking is sent as it came, with all of its message, and where
// something stands before it that did not when the model made it, the codec is told; else
// it is not.
func (l *laws) thinkingWhole(h *host, s *engine.Send) error {
	if all := h.m.Messages(); len(all) > l.lastEnd && slices.ContainsFunc(all[l.lastEnd].Parts, isThinking) {
		l.prefixes[all[l.lastEnd].ID], l.roughly[all[l.lastEnd].ID] = l.lastWords, l.lastRough
	}
	changed, known := llm.MessageID(0), true
	for i, it := range s.Items {
		for n, p := range it.Message.Parts {
			t, ok := p.(llm.Thinking)
			if !ok {
				continue
			}
			if !reflect.DeepEqual(h.m.Messages()[it.Message.ID-1].Parts[n], t) {
				return broken("law 6: the thinking of message %d is not as it came", it.Message.ID)
			}
			then, ok := l.prefixes[it.Message.ID]
			known = known && ok && l.roughly[it.Message.ID].tells(roughOf(h, s)) // else the model made it after something that was never sent
			if ok && !slices.Equal(then, words(s, i)) {
				changed = it.Message.ID
			}
		}
	}
	row, named := h.config.Catalog.Lookup(s.Target.Model)
	if binds := !named || row.Capabilities.PrefixThinking; !binds {
		changed = 0 // the provider does not mind
	}
	if changed > 0 && !s.DropBrokenThinking {
		return broken("law 6: send %d shows message %d, whose thinking was made after other words, and nobody is told", s.Seq, changed)
	}
	if changed == 0 && known && s.DropBrokenThinking && !undone(h) {
		return broken("law 6: send %d calls thinking broken before which nothing has changed", s.Seq)
	}
	l.lastWords, l.lastRough, l.lastEnd = words(s, len(s.Items)), roughOf(h, s), len(h.m.Messages())
	return nil
}

// undone reports whether an edit was taken back: it may have brought back the very words
// before thinking that it had broken.
func undone(h *host) bool {
	return slices.ContainsFunc(h.m.Journal(), func(e edit.Edit) bool { return e.Op == edit.Undo })
}

// A rough is what records say of the tools of a request. They do not say which of them a final
// Step has, and thinking is judged by them after a restart.
type rough struct {
	final bool
	tools string
}

func roughOf(h *host, s *engine.Send) rough {
	r := rough{final: s.Final != engine.ReasonNone}
	for _, tool := range h.m.ToolsSet() {
		r.tools += tool.Name + " " + tool.Description + " " + tool.Schema + "\n"
	}
	return r
}

// tells reports whether the same tools of two requests are known to be the same.
func (r rough) tells(other rough) bool { return r == other || !r.final && !other.final }

// words returns what a request says before item n: the system prompt, the tools that it has, and
// the messages without their thinking.
func words(s *engine.Send, n int) []string {
	var out []string
	for _, sec := range s.Sections {
		out = append(out, "section "+sec.Text)
	}
	for _, tool := range s.Tools {
		if tool.Deferred {
			continue // a model does not read of it before something names it
		}
		out = append(out, "tool "+tool.Name+" "+tool.Description+" "+tool.Schema)
	}
	for _, it := range s.Items[:n] {
		out = append(out, llm.DigestOf(it.Message).String())
	}
	return out
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}

// honest is law 9: a figure says what it is worth.
func honest(h *host, s *engine.Send) error {
	for i, t := range h.m.Targets() {
		if meter := h.m.MeterStates()[i]; t == s.Target && s.Count != meter.Count {
			return broken("law 9: send %d states %+v, the meter %+v", s.Seq, s.Count, meter.Count)
		}
	}
	if s.Count.Point > s.Count.Bound || s.Count.Kind > token.Estimated {
		return broken("law 9: send %d states %+v", s.Seq, s.Count)
	}
	return nil
}

// gains is law 7 for what a rule did at once: it saves tokens. A cap is made at its limit,
// where its notice may take more than what it cuts, but no more than the notice; of what a
// host has stored it may show more than stood there.
func (l *laws) gains(m *engine.Machine) error {
	edits := m.Journal()
	if l.edits > len(edits) { // withdrawn
		l.edits = len(edits)
	}
	saved := map[string]int{}
	for _, e := range edits[l.edits:] {
		const notice = 100 // tokens, generously
		switch {
		case e.Kind == edit.KindCap && e.After-e.Before > notice && !hostStored(m, e):
			return broken("law 7: %s made of %d tokens %d", e.Rule, e.Before, e.After)
		case e.Op != edit.Insert && e.Kind != edit.KindCap:
			saved[e.Rule] += e.Before - e.After
		}
	}
	l.edits = len(edits)
	for rule, n := range saved {
		if n <= 0 {
			return broken("law 7: %s made edits that save %d tokens", rule, n)
		}
	}
	return nil
}
