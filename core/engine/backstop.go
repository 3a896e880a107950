package engine

import (
	"errors"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Texts of the backstop where the policy has none.
const (
	backstopStub    = "[{tool} output, {bytes} bytes, stored as {ref}]"
	backstopArchive = "[{n} earlier messages stored as {ref}]"
	backstopOffload = "{preview}\n[{tool} output, {bytes} bytes, {lines} lines, stored as {ref}]"
)

// backstopRule is the name that the backstop's edits carry.
const backstopRule = "backstop"

// orderRule is the name of edits that put away what cannot be sent as it stands.
const orderRule = "order"

// backstop reduces the view, step by step, until it fits or is the floor. Where there
// are too many bytes or images, media go first, the oldest before the newest. Then
// text: older outputs to one line and older messages into the archive, the notes among
// the newest messages, summaries, the newest outputs. Media of pinned messages go last.
func (m *Machine) backstop() {
	before := len(m.journal)
	m.media(reachOlder)
	m.media(reachNewest)
	if m.pinnedMediaFirst() {
		m.media(reachPinned)
	}
	m.reduceText()
	m.media(reachPinned)
	m.stats.Backstop += len(m.journal) - before
}

// reduceText reduces what is no media.
func (m *Machine) reduceText() {
	for _, rung := range []func(*Machine, int) edit.Plan{(*Machine).oldest, (*Machine).notes, (*Machine).summaries, (*Machine).newest} {
		for try := range tries {
			if !m.over() {
				return
			}
			p := rung(m, m.need(try))
			if p.Gain() <= 0 || !m.adopt(p, backstopRule) {
				break
			}
		}
	}
}

// need returns by how much the view is over, in tokens by the count. What is over
// in bytes or images is taken for the same share of the tokens; how much of them
// an edit takes along is not known before, so that the last try is for all.
func (m *Machine) need(try int) int {
	all := m.count[m.to].Count().Bound
	if try == tries-1 {
		return max(all, 1)
	}
	w := m.targets[m.to].Window
	bytes, images := m.count[m.to].Wire()
	need := max(all-w.Limit(), 1)
	if w.MaxBytes > 0 && bytes > w.MaxBytes {
		need = max(need, all/bytes*(bytes-w.MaxBytes)+all%bytes*(bytes-w.MaxBytes)/bytes)
	}
	if w.MaxImages > 0 && images > w.MaxImages {
		need = max(need, all*(images-w.MaxImages)/images)
	}
	return need
}

// backstopScene looks with the count, whatever the policy's own estimator is.
func (m *Machine) backstopScene(keep llm.MessageID) edit.Scene {
	count := m.count[m.to]
	return edit.Scene{
		Messages: m.messages, View: m.view, Turns: &m.turns,
		Size: count.Part, Measure: count.Message,
		Keep: keep, Pinned: m.pinned, Rule: backstopRule, Template: backstopArchive,
	}
}

// backstopSpare is the share of the limit, in permille, that the backstop frees of
// older content beyond what it must, so that it need not break the prefix again at
// the very next call.
const backstopSpare = 150

func (m *Machine) oldest(need int) edit.Plan {
	need += budget.Share(m.targets[m.to].Window.Limit(), backstopSpare)
	return m.backstopScene(m.tail()).Demote(need, edit.DemoteArgs{
		Stub: backstopStub, Archive: backstopArchive, Kind: edit.KindStub, KindDrop: edit.KindDrop,
	})
}

// notes archives the notes in the tail that are not pinned.
func (m *Machine) notes(int) edit.Plan {
	tail, end := m.tail(), llm.MessageID(len(m.messages))+1
	s := m.backstopScene(end)
	s.Pinned = func(msg llm.Message) bool {
		return m.pinned(msg) || msg.ID >= tail && msg.Origin != llm.Note
	}
	return gaining(s.Drop(edit.Span{From: 1, To: end}, edit.KindDrop, "no room"))
}

// gaining returns the edits of a plan that save tokens, with what they store.
func gaining(p edit.Plan) edit.Plan {
	var out edit.Plan
	for _, e := range p.Edits {
		if e.Before <= e.After {
			continue
		}
		out.Edits = append(out.Edits, e)
		for _, b := range p.Blobs {
			if slices.Contains(e.Refs, b.Ref) {
				out.Blobs = append(out.Blobs, b)
			}
		}
	}
	return out
}

// summaries leaves of archives their lines. A summary goes before what the model has not
// read yet, without which it cannot go on.
func (m *Machine) summaries(int) edit.Plan {
	return gaining(m.backstopScene(m.tail()).Unsummarised(edit.KindDrop, "no room"))
}

func (m *Machine) newest(need int) edit.Plan {
	s := m.backstopScene(llm.MessageID(len(m.messages)) + 1)
	return s.Demote(need, edit.DemoteArgs{Stub: backstopStub, Kind: edit.KindStub})
}

// tail returns the first message that the model has not answered yet; if that is
// the result of a call, the message that made the call.
func (m *Machine) tail() llm.MessageID {
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

// floor returns an error if not even the floor fits.
func (m *Machine) floor() error {
	if !m.over() {
		return nil
	}
	if trial := m.reduced(); trial.over() {
		return trial.overError()
	}
	return nil
}

// reduced returns what would be left of m after every rung. It tries them on a
// copy, so that nothing is changed.
func (m *Machine) reduced() *Machine {
	trial := m.clone()
	trial.noStore = false
	trial.backstop()
	return trial
}

// overError says what does not fit, and of it what nothing may be done about.
func (m *Machine) overError() *budget.OverError {
	t, c := m.targets[m.to], m.count[m.to]
	r := c.Report()
	load := budget.Load{Count: r.Bound, Components: r.Parts, Bytes: r.Bytes, Images: r.Images}
	f := m.reduced().floorParts()
	var over *budget.OverError
	if errors.As(budget.Check(t, load, f), &over) {
		return over
	}
	return &budget.OverError{Target: t, Used: load.Count, Limit: t.Window.Limit(), Floor: f}
}

// floorParts returns the parts of a view that the backstop has reduced. They add
// up to no less than the count: what it has beyond them is its margin.
func (m *Machine) floorParts() budget.Floor {
	c := m.count[m.to]
	r := c.Report()
	f := budget.Floor{System: r.Parts.System + r.Parts.Skills, Tools: r.Parts.Tools, Bytes: r.Bytes, Images: r.Images}
	tail := m.tail()
	for _, it := range m.view.Items {
		n := c.Message(it.Message)
		if it.Before >= tail {
			f.NewestRound += n
		} else {
			f.Pins += n
		}
	}
	for _, sec := range m.view.Sections {
		f.System += c.Text(sec.Text)
	}
	f.Margin = max(r.Bound-f.Total(), 0)
	return f
}
