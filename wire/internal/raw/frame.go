package raw

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Body collects the changes to a request body whose frame is known.
type Body struct {
	frame   llm.Frame
	known   []llm.Span
	changes []Change
	added   []Field
	dropped []string
}

// NewBody returns the body in f without changes. The error says that the places in f
// cannot be right.
func NewBody(f llm.Frame) (*Body, error) {
	known := []llm.Span{f.System, f.Tools, f.Messages}
	slices.SortFunc(known, func(a, b llm.Span) int { return a.Start - b.Start })
	if !IsObject(f.Raw[Leading(f.Raw):]) || !inside(known, len(f.Raw)) {
		return nil, fmt.Errorf("frame, want an object and places within its %d bytes, got system %v, tools %v, messages %v",
			len(f.Raw), f.System, f.Tools, f.Messages)
	}
	return &Body{frame: f, known: known}, nil
}

// List returns the array at s, a place of the frame; each as in [NewList], but in
// places of the frame.
func (b *Body) List(s llm.Span, each []llm.Span) *List {
	value := Slice(b.frame.Raw, s)
	if len(each) == 0 || !inside(each, s.End) || each[0].Start < s.Start {
		return NewList(value, nil)
	}
	moved := make([]llm.Span, len(each))
	for i, e := range each {
		moved[i] = Shift(e, -s.Start)
	}
	return NewList(value, moved)
}

// Put changes the value at s to value; for an s of zero length it adds a member.
func (b *Body) Put(name string, s llm.Span, value []byte) {
	if s.Len() > 0 {
		b.changes = append(b.changes, Change{At: s, New: value})
		return
	}
	b.added = append(b.added, Field{name, value})
}

// Drop takes a member out.
func (b *Body) Drop(name string) { b.dropped = append(b.dropped, name) }

// PutList changes the array at s to elements, if they are others. Without elements the
// member goes.
func (b *Body) PutList(name string, s llm.Span, list *List, elements []Element) {
	if len(elements) == 0 && !list.Same(elements) {
		b.Drop(name)
		return
	}
	b.PutElements(name, s, list, elements)
}

// PutElements changes the array at s to elements, if they are others. Where each has kept its
// place only those that are others are written.
func (b *Body) PutElements(name string, s llm.Span, list *List, elements []Element) {
	if list.Same(elements) {
		return
	}
	changes, ok := list.changes(elements)
	if !ok {
		b.Put(name, s, list.With(elements))
		return
	}
	for _, c := range changes {
		b.changes = append(b.changes, Change{At: Shift(c.At, s.Start), New: c.New})
	}
}

// Find returns the place of the value of a member, and the value; zero if it is not there.
func (b *Body) Find(name string) (llm.Span, []byte) {
	start := Leading(b.frame.Raw)
	_, at := Member(b.frame.Raw[start:], name, b.within()...)
	if at.Len() == 0 {
		return llm.Span{}, nil
	}
	at = Shift(at, start)
	return at, Slice(b.frame.Raw, at)
}

// PutText changes the text of a member if it is another one.
func (b *Body) PutText(name, text string) {
	if at, value := b.Find(name); text != "" && Unquote(value) != text {
		b.Put(name, at, Quote(text))
	}
}

// PutInt changes the number of a member if it is another one.
func (b *Body) PutInt(name string, n int) {
	at, value := b.Find(name)
	if old, _ := Int(value); n > 0 && old != n {
		b.Put(name, at, fmt.Append(nil, n))
	}
}

// Bytes returns the body with its changes; without any, the very bytes it came as.
func (b *Body) Bytes() []byte {
	out := Apply(b.frame.Raw, b.changes)
	if len(b.added)+len(b.dropped) == 0 {
		return out
	}
	start := Leading(out)
	obj := Trim(out)
	before, after := out[:start], out[start+len(obj):]
	for _, name := range b.dropped {
		obj = Delete(obj, name)
	}
	return slices.Concat(before, SetFields(obj, b.added...), after)
}
