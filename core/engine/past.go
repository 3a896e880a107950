package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// A past is what happened, and what of it is shown.
type past struct {
	messages []llm.Message // the transcript; messages[i].ID is i+1
	turns    turn.Index
	journal  []edit.Edit // all edits, superseded ones too
	lastEdit edit.ID     // the highest number given out
	sections []llm.Section
	told     edit.ID // the newest edit when the sections were set: notes that are older are of other ones
	toolbox
	front llm.Digest // of sections and what is offered, see journal.FrontOf
	view  edit.View  // what follows from them

	// listed are the messages of the view's first items, where its items begin at listedAt and an
	// edit holds. All Sends share them; none is ever changed.
	listed   []llm.Message
	listedAt *edit.Item

	stored map[llm.Ref]bool // blobs that are durable or handed out
	humans [2]llm.MessageID // the first and the last message that a person typed
	turnAt llm.MessageID    // the message that opened this Turn

	replies int // that models have given

	compacting []llm.MessageID // messages with a summary that a provider has stand for all before it

	// Thinking may be bound to all that stood before it. What an edit changes of that
	// breaks the thinking that stands after it and was made without it; what the model
	// thinks later it thinks with the edit in place.
	thoughts []journal.Thought // messages with thinking, in order
	broken   []edit.Span       // of them, those that no longer fit and are shown; ascending by end
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}

// isReply reports whether msg is what a call to a model returned.
func isReply(msg llm.Message) bool {
	return msg.Origin == llm.Model && !msg.Flags.Has(llm.FlagSynthetic)
}

// countTo returns how many edits have a number up to last.
func countTo(edits []edit.Edit, last edit.ID) int {
	n, _ := slices.BinarySearchFunc(edits, last+1, func(e edit.Edit, id edit.ID) int { return int(e.ID - id) })
	return n
}

// newestEdit returns the number of the newest edit; 0 if there is none. One that was
// taken back has left its number unused.
func (m *past) newestEdit() edit.ID {
	if len(m.journal) == 0 {
		return 0
	}
	return m.journal[len(m.journal)-1].ID
}

// tail returns the first message that the model has not answered yet; if that is
// the result of a call, the message that made the call.
func (m *past) tail() llm.MessageID {
	at := len(m.messages)
	for at > 0 && m.messages[at-1].Origin != llm.Model {
		at--
	}
	for pos := at; pos < len(m.messages); pos++ {
		if r, ok := m.turns.RoundAt(pos); ok {
			return llm.MessageID(min(r.Call, at)) + 1
		}
	}
	return llm.MessageID(at) + 1
}

// human returns the first (0) or last (1) message that a person typed, or, in a
// conversation without one, the first message; 0 if there is none.
func (m *past) human(which int) llm.MessageID {
	if id := m.humans[which]; id > 0 {
		return id
	}
	return llm.MessageID(min(len(m.messages), 1))
}

// shows reports whether a message stands in the view.
func (m *past) shows(id llm.MessageID) bool {
	return slices.ContainsFunc(m.view.Within(edit.Span{From: id, To: id + 1}), func(msg llm.Message) bool { return msg.ID == id })
}

// viewAt returns the view of the first messages under the edits up to one.
func (m *past) viewAt(messages int, last edit.ID) (edit.View, bool) {
	v, err := meter.Border{Messages: messages, Edit: last}.View(m.messages, m.journal)
	return v, err == nil
}

// border returns where a prompt of all there is ends.
func (m *past) border() meter.Border {
	return meter.Border{Messages: len(m.messages), Edit: m.lastEdit}
}

// allSections returns the system prompt with what edits added to it.
func (m *past) allSections() []llm.Section {
	if len(m.view.Sections) == 0 {
		return m.sections
	}
	return append(m.sections[:len(m.sections):len(m.sections)], m.view.Sections...)
}

// archivedTo returns the end of the archive that begins with message 1, as a position.
func (m *past) archivedTo() int {
	end := 0
	for _, e := range m.view.Edits() {
		if e.Op == edit.Archive && int(e.Span.From)-1 <= end {
			end = max(end, int(e.Span.To)-1)
		}
	}
	return end
}

// leaving returns how many messages an archive takes out that no earlier one has.
func (m *past) leaving(e edit.Edit) int {
	n := int(e.Span.To - e.Span.From)
	for _, old := range m.view.Edits() {
		if old.Op == edit.Archive && e.Span.Covers(old.Span) {
			n -= int(old.Span.To - old.Span.From)
		}
	}
	return n
}

// oldestShare returns the position after the oldest share of the messages that the
// view shows; those that left it long ago do not count (R002-11).
func (m *past) oldestShare(permille int) int {
	shown := slices.DeleteFunc(slices.Clone(m.view.Items), edit.Item.IsNote)
	if n := len(shown) * permille / 1000; n > 0 {
		return int(shown[n-1].Message.ID)
	}
	return 0
}

// previous returns the summary that stands in a view.
func previous(v edit.View) string {
	for _, sec := range v.Sections {
		if sec.Kind == llm.SectionSummary {
			return sec.Text
		}
	}
	for _, it := range v.Items {
		if it.Message.Flags.Has(llm.FlagSummary) {
			return it.Message.Text()
		}
	}
	return ""
}

// standing returns the edits by which notes of r stand in the view.
func (m *past) standing(r policy.Rule) []edit.Edit {
	var out []edit.Edit
	for _, e := range m.view.Edits() {
		if e.Op == edit.Insert && e.Rule == r.Name {
			out = append(out, e)
		}
	}
	return out
}

// inForce returns an edit that took something out and that no later one supersedes.
func (m *past) inForce(id edit.ID) (edit.Edit, error) {
	got := fmt.Sprintf("none of the %d edits made so far", len(m.journal))
	for _, e := range m.journal {
		if e.ID == id {
			got = "one that a later edit supersedes"
		}
	}
	for _, e := range m.view.Edits() {
		switch {
		case e.ID != id:
		case e.Op == edit.Insert:
			got = "a note"
		case e.Op == edit.Undo:
			got = "one that put something back"
		default:
			return e, nil
		}
	}
	return edit.Edit{}, fmt.Errorf("engine: undo of edit %d: want one in force that took something out, got %s", id, got)
}

func (m *past) toolOf(callID string) string {
	c, _ := m.turns.CallOf(callID)
	return c.Name
}

// durable reports whether everything a plan stores is in the store already.
func (m *past) durable(p edit.Plan) bool {
	for _, b := range p.Blobs {
		if !m.stored[b.Ref] {
			return false
		}
	}
	return true
}

// durableNow notes that the store has what refs name.
func (m *past) durableNow(refs ...llm.Ref) {
	for _, r := range refs {
		m.stored[r] = true
	}
}

// durableEdit notes that the store has what an edit refers to. The edits before it were noted.
func (m *past) durableEdit(e edit.Edit) {
	before, after, _ := e.Added(m.journal)
	m.durableNow(before...)
	m.durableNow(after...)
}

// View returns what would be sent now. It is not changed by later inputs.
func (m *past) View() edit.View { return m.view }

// Journal returns all edits made so far, superseded ones too. The caller must
// not change them.
func (m *past) Journal() []edit.Edit { return m.journal }

// Messages returns the transcript. The caller must not change it.
func (m *past) Messages() []llm.Message { return m.messages }

// list returns the messages of the view: those of the transcript where no edit holds, else a
// list that grows with the view and begins anew where an edit has made another one.
func (m *past) list() []llm.Message {
	items := m.view.Items
	switch {
	case len(items) == 0:
		return nil
	case len(m.view.Edits()) == 0 && len(items) == len(m.messages):
		m.listed, m.listedAt = nil, nil
		return m.messages[:len(items):len(items)]
	}
	n := len(m.listed)
	if m.listedAt != &items[0] || n > len(items) || n > 0 && m.listed[n-1].ID != items[n-1].Message.ID {
		m.listed, m.listedAt = make([]llm.Message, 0, cap(items)), &items[0]
	}
	for i := len(m.listed); i < len(items); i++ {
		m.listed = append(m.listed, items[i].Message)
	}
	return m.listed[:len(items):len(items)]
}

// setOffer says which of the tools are offered, by their places; nil: all, but for the one that
// finds what is left out. Places that are none say nothing: then all are offered.
// declared says that the provider is told of the others, as deferred ones.
func (m *past) setOffer(tools []llm.Tool, placed []int, declared bool) {
	m.tools, m.shownAt = tools, placed
	if slices.ContainsFunc(placed, func(at int) bool { return at < 0 || at >= len(tools) }) {
		m.shownAt = nil
	}
	m.declared = declared && m.shownAt != nil
	m.active = journal.Offered(tools, m.shownAt, m.declared)
	m.reload()
}

// reload finds anew which deferred tools what is shown has loaded, and reports whether these
// are others than before.
func (m *past) reload() (changed bool) {
	now := map[string]bool{}
	if slices.ContainsFunc(m.active, func(t llm.Tool) bool { return t.Deferred }) {
		for _, it := range m.view.Items {
			addLoads(now, it.Message)
		}
	}
	changed = !maps.Equal(m.loaded, now)
	m.loaded = now
	return changed
}

// addLoads adds the tools of which the provider puts the definition in the place of a part. An
// answer of the policy's own search has the definitions itself.
func addLoads(names map[string]bool, msg llm.Message) {
	add := func(p llm.Part) {
		if o, ok := p.(llm.Opaque); ok {
			for _, name := range o.Loads {
				names[name] = true
			}
		}
	}
	for _, p := range msg.Parts {
		add(p)
		if r, ok := p.(llm.ToolResult); ok {
			for _, c := range r.Content {
				add(c)
			}
		}
	}
}

// Answers reports whether a part of a message is the answer of one of the policy's own tools,
// which says again what stands elsewhere.
func (m *past) Answers(id llm.MessageID, part int) bool {
	c, ok := m.turns.CallFor(int(id)-1, part)
	return ok && m.own(c.Name)
}
