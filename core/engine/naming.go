package engine

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// leastKept is the bytes from which on a References note names an output: for less, its Ref
// takes a fair part of the room that the output itself would.
const leastKept = 400

// A keptOutput is an output in an archive that a References note names with a Ref of its own,
// so that reading it again does not take the whole archive.
type keptOutput struct {
	entry string // in the note
	blob  edit.Blob
}

// entriesOf returns what stands in the note for outputs.
func entriesOf(outputs []keptOutput) []string {
	out := make([]string, len(outputs))
	for i, k := range outputs {
		out[i] = k.entry
	}
	return out
}

// kept returns outputs that are in an archive after the plan, those that calls referred to
// most lately first, until what names them takes size bytes.
func (r *references) kept(size int) []keptOutput {
	type output struct {
		ground.Place
		used int
		text string
	}
	var gone []output
	for i := range r.m.messages[:r.keep-1] {
		msg := &r.m.messages[i]
		if r.shows[msg.ID] != shownNot {
			continue
		}
		for n, p := range msg.Parts {
			if res, ok := p.(llm.ToolResult); ok && len(res.Text()) >= leastKept {
				at := ground.Place{Message: msg.ID, Part: n}
				gone = append(gone, output{at, r.index.Used(at), res.Text()})
			}
		}
	}
	slices.SortFunc(gone, func(a, b output) int {
		return cmp.Or(cmp.Compare(b.used, a.used), cmp.Compare(b.Message, a.Message), cmp.Compare(a.Part, b.Part))
	})
	var out []keptOutput
	for _, o := range gone {
		if size <= 0 {
			break
		}
		data := []byte(o.text)
		ref := llm.RefOf(data)
		entry := r.about(o.Place) + " " + string(ref)
		if r.outputs[entry] {
			continue
		}
		r.outputs[entry] = true
		out = append(out, keptOutput{entry, edit.Blob{Ref: ref, Data: data}})
		size -= len(entry) + 1
	}
	return out
}

// about says in a word what an output is about: the first path that its call names, or the
// tool.
func (r *references) about(at ground.Place) string {
	c, ok := r.m.turns.CallFor(int(at.Message)-1, at.Part)
	if !ok {
		return "output"
	}
	call, _ := r.m.messages[c.Position].Parts[c.Part].(llm.ToolCall)
	for _, s := range ground.Spans(call) {
		if s.Kind == ground.Path && len(s.Text) <= mostName {
			return s.Text
		}
	}
	return call.Name
}

// A listing goes through what a note may name, the most wanted first. room returns the bytes that
// are left for one: what is longer need not be named.
type listing func(room func() int) iter.Seq[string]

// listed goes through a list that there is.
func listed(all []string) listing {
	return func(func() int) iter.Seq[string] { return slices.Values(all) }
}

// lists are what a note may name.
type lists struct{ said, ran, used, outputs, seen listing }

// withReferences adds to a batch the note that names what is no longer shown after it. It
// takes the place of the one before.
func (m *ruler) withReferences(p edit.Plan, keep llm.MessageID, rule string) edit.Plan {
	room := m.policy.References.Room(m.room())
	if p.Empty() || room <= 0 {
		return p
	}
	r := newReferences(m, p, keep)
	kept := r.kept(room * bytesToken)
	text := r.text(room, kept)
	one := edit.Edit{Op: edit.Insert, Kind: edit.KindReferences, Span: edit.Span{From: keep, To: keep}, Why: "names what is no longer shown", Rule: rule}
	for _, e := range m.view.Edits() {
		if e.Kind == edit.KindReferences && !r.leaves(e) {
			one.Supersedes = append(one.Supersedes, e.ID)
			one.Before += e.After
		}
	}
	if text == "" { // nothing has left that has a name; what stands there stays
		return p
	}
	note := edit.NoteOf(llm.Text{Text: text})
	one.Notes, one.After = []llm.Message{note}, m.gauge.Message(note)
	for _, k := range kept {
		if r.told[k.entry] {
			one.Refs = append(one.Refs, k.blob.Ref)
			p.Blobs = append(p.Blobs, k.blob)
		}
	}
	p.Edits = append(p.Edits, one)
	return p
}

// text returns the note of at most room tokens.
func (r *references) text(room int, kept []keptOutput) string {
	l := lists{
		r.said, listed(r.ran()), listed(r.used(room * bytesToken)), listed(entriesOf(kept)), listed(r.seen(2 * room * bytesToken)),
	}
	for size := room * bytesToken; size > 0; size = size * 4 / 5 {
		clear(r.told)
		text := r.write(size, l)
		if text == "" || r.m.gauge.Part(llm.Text{Text: text}) <= room {
			return text
		}
	}
	return ""
}

func (r *references) write(size int, l lists) string {
	var b strings.Builder
	left := size
	put := func(title string, list listing, share int) {
		lines := r.take(list, share)
		if lines == "" {
			return
		}
		if b.Len() == 0 {
			b.WriteString(r.m.text(policy.TemplateReferences))
		}
		b.WriteString("\n" + title + lines)
		left -= len(title) + len(lines) + 1
	}
	put("said: ", l.said, budget.Share(size, shareSaid))
	put("ran: ", l.ran, budget.Share(size, shareRan))
	put("used: ", l.used, budget.Share(size, shareUsed))
	put("outputs: ", l.outputs, budget.Share(size, shareKept))
	put("seen: ", l.seen, left)
	return b.String()
}

// take joins as many of a list as size has room for, the first ones first.
func (r *references) take(list listing, size int) string {
	var b strings.Builder
	room := func() int { return size - b.Len() - len(" ") }
	for s := range list(room) {
		if r.told[s] || len(s) > room() || r.foreign(s) {
			continue
		}
		r.told[s] = true
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}

// foreign reports whether s is not one of the note's outputs and has a Ref in it: a note must
// not promise what may not be stored.
func (r *references) foreign(s string) bool {
	return !r.outputs[s] && slices.ContainsFunc(strings.FieldsFunc(s, notInRef), func(word string) bool {
		_, err := llm.ParseRef(word)
		return err == nil
	})
}

func notInRef(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
}
