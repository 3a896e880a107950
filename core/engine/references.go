package engine

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// How a References note is shared out, in permille of what it may have; what is seen gets the
// rest. A name that was used counts by how often, each time less by a share for every Step
// since. The figures are those of the study of what later calls refer to (70 % of it the model
// had used before).
const (
	shareSaid = 150
	shareRan  = 80
	shareUsed = 520
	shareKept = 100

	fades      = 985  // permille a Step
	mostSaid   = 300  // bytes of a person's message
	mostName   = 120  // bytes
	seenOfPart = 60   // names of one part
	bytesToken = 4    // at most, to begin with
	oldest     = 1000 // Steps after which a use counts nothing more
)

// grounded returns the index of what calls refer to, up to date. It is made of the transcript
// alone, so that it is the same after a restart.
func (m *measures) grounded() *ground.Index {
	if m.ground == nil {
		m.ground = &ground.Index{}
	}
	m.ground.Grow(len(m.messages) - m.ground.Len())
	for _, msg := range m.messages[m.ground.Len():] {
		m.ground.Add(msg)
	}
	return m.ground
}

// room returns what the messages have of the limit.
func (m *measures) room() int {
	return max(m.window().Limit()-m.gauge.System()-m.schemaTokens(), 0)
}

func (m *measures) schemaTokens() int {
	if tools := token.Shown(m.asLoaded(m.offered())); len(tools) > 0 {
		return m.gauge.Counter().Tools(tools)
	}
	return 0
}

// references are what a note may name.
type references struct {
	m       *ruler
	index   *ground.Index
	plan    edit.Plan
	keep    llm.MessageID
	forms   map[ground.Place]llm.Part // what the plan shows in the place of parts
	shown   ground.Texts              // after the plan
	shows   []showing                 // what is shown of the message with ID i then
	told    map[string]bool           // what the note has
	outputs map[string]bool           // the entries that name outputs
}

// A showing says whether a message is shown after the plan.
type showing byte

const (
	shownNot   showing = iota
	shownOther         // in another form
	shownWhole         // as it came
)

func newReferences(m *ruler, p edit.Plan, keep llm.MessageID) *references {
	r := &references{
		m: m, index: m.grounded(), plan: p, keep: keep, forms: map[ground.Place]llm.Part{}, shows: make([]showing, len(m.messages)+1),
		told: map[string]bool{}, outputs: map[string]bool{},
	}
	var gone []edit.Span
	for _, e := range p.Edits {
		switch at := (ground.Place{Message: e.Span.From, Part: e.Part}); e.Op {
		case edit.Archive:
			gone = append(gone, e.Span)
		case edit.Replace:
			if _, other := r.forms[at]; !other {
				r.forms[at] = e.Replacement
			}
		}
	}
	slices.SortFunc(gone, func(a, b edit.Span) int { return cmp.Compare(a.From, b.From) })
	stays, end := []*edit.Item{}, llm.MessageID(0) // messages stand in their order; those before end leave
	for i := range m.view.Items {
		it := &m.view.Items[i]
		if it.IsNote() {
			continue
		}
		for len(gone) > 0 && gone[0].From <= it.Message.ID {
			end, gone = max(end, gone[0].To), gone[1:]
		}
		if it.Message.ID >= end {
			stays = append(stays, it)
		}
	}
	r.shown.Grow(len(stays))
	for _, it := range stays {
		r.show(it)
	}
	return r
}

// show notes what an item shows after the plan.
func (r *references) show(it *edit.Item) {
	whole := len(it.Edits) == 0
	for n, part := range it.Message.Parts {
		at := ground.Place{Message: it.Message.ID, Part: n}
		if now, ok := r.forms[at]; ok {
			whole = false
			r.shown.Add(ground.TextOf(now))
		} else if len(it.Edits) > 0 {
			r.shown.Add(ground.TextOf(part))
		} else {
			r.shown.Add(r.index.Text(at))
		}
	}
	r.shows[it.Message.ID] = shownOther
	if whole {
		r.shows[it.Message.ID] = shownWhole
	}
}

// leaves reports whether an archive of the plan takes a note with it.
func (r *references) leaves(note edit.Edit) bool {
	return slices.ContainsFunc(r.plan.Edits, func(e edit.Edit) bool { return slices.Contains(e.Supersedes, note.ID) })
}

// visible reports whether s is shown after the plan.
func (r *references) visible(s ground.Span) bool { return r.shown.Says(s) }

// said goes through what a person said and is no longer shown, the newest first. room returns
// the bytes that an entry may have: what is surely longer is left out unseen.
func (r *references) said(room func() int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := int(r.keep) - 2; i >= 0; i-- {
			msg := &r.m.messages[i]
			if msg.Origin != llm.Human || r.shows[msg.ID] == shownWhole || !quotable(msg.Parts, room()) {
				continue
			}
			text := strings.Join(strings.Fields(msg.Text()), " ")
			if text != "" && !yield(fmt.Sprintf("%q", cutAt(text, mostSaid))) {
				return
			}
		}
	}
}

// quotable reports whether a quotation of texts may have no more than so many bytes: it has all
// characters but blanks, or is cut.
func quotable(parts []llm.Part, most int) bool {
	n := len(`""`)
	for _, p := range parts {
		t, ok := p.(llm.Text)
		for i := 0; ok && i < len(t.Text) && n <= most && n < mostSaid; i++ {
			if c := t.Text[i]; c > ' ' && c < utf8.RuneSelf {
				n++
			}
		}
	}
	return n <= most
}

// cutAt returns the beginning of a text of at most n bytes, whole characters.
func cutAt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}

// ran returns the commands whose newest run ended before the tail, the newest first, each
// with how it ended.
func (r *references) ran() []string {
	var c summary.Collector
	for i := range r.m.messages[:r.keep-1] {
		msg := &r.m.messages[i]
		if r.shows[msg.ID] != shownWhole && slices.ContainsFunc(msg.Parts, runs) { // no other message says anything of a command
			c.Add(*msg)
		}
	}
	var out []string
	for _, cmd := range slices.Backward(c.Facts().Commands) {
		how := ""
		if cmd.ExitKnown {
			how = fmt.Sprintf(" → exit %d", cmd.Exit)
		} else if cmd.Failed {
			how = " → failed"
		}
		out = append(out, "`"+cutAt(cmd.Line, mostName)+"`"+how)
	}
	return out
}

// runs reports whether a part is a call or its result.
func runs(p llm.Part) bool {
	switch p.(type) {
	case llm.ToolCall, llm.ToolResult:
		return true
	}
	return false
}

// used returns the names in the model's own calls that are no longer shown, those used most
// and most lately first, until they take size bytes.
func (r *references) used(size int) []string {
	type name struct {
		ground.Span
		weight, last int
	}
	names := map[string]*name{}
	var order []*name
	step, weights := r.index.Step(), faded()
	for i := range r.m.messages[:r.keep-1] {
		msg := &r.m.messages[i]
		calls := msg.Calls()
		if len(calls) == 0 {
			continue
		}
		weight := weights[min(max(step-r.index.StepOf(msg.ID), 0), oldest)]
		for _, c := range calls {
			for _, s := range ground.Spans(c) {
				if s.Kind == ground.Line || len(s.Text) > mostName {
					continue
				}
				n := names[s.Text]
				if n == nil {
					n = &name{Span: s}
					names[s.Text] = n
					order = append(order, n)
				}
				n.last = int(msg.ID)
				n.weight += weight
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *name) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.last, a.last))
	})
	var out []string
	for _, n := range order {
		if size <= 0 {
			break
		}
		if !r.visible(n.Span) {
			out = append(out, n.Text)
			size -= len(n.Text) + 1
		}
	}
	return out
}

// faded returns the weight of a use by its age in Steps, in a millionth of one now.
func faded() (weights [oldest + 1]int) {
	weights[0] = 1_000_000
	for age := range oldest {
		weights[age+1] = weights[age] * fades / 1000
	}
	return weights
}

// seen returns names in what is no longer shown that no call used, of what was referred to
// most lately first, until they take size bytes.
func (r *references) seen(size int) []string {
	type part struct {
		ground.Place
		used int
	}
	var hidden []part
	for i := int(r.keep) - 2; i >= 0; i-- { // as a rule they are in their order then
		msg := &r.m.messages[i]
		if r.shows[msg.ID] == shownWhole {
			continue
		}
		if hidden == nil {
			hidden = make([]part, 0, i+1)
		}
		for n := range msg.Parts {
			at := ground.Place{Message: msg.ID, Part: n}
			hidden = append(hidden, part{at, r.index.Used(at)})
		}
	}
	slices.SortFunc(hidden, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.used, a.used), cmp.Compare(b.Message, a.Message), cmp.Compare(a.Part, b.Part))
	})
	var out []string
	told := map[string]bool{}
	for _, h := range hidden {
		if size <= 0 {
			break
		}
		took := 0
		for _, s := range ground.Names(r.index.Text(h.Place).String()) {
			if took >= seenOfPart {
				break
			}
			if told[s.Text] || len(s.Text) > mostName || r.visible(s) {
				continue
			}
			told[s.Text] = true
			out = append(out, s.Text)
			size -= len(s.Text) + 1
			took++
		}
	}
	return out
}
