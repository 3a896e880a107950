package convert

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A Filter makes the events of a stream fit for another format, one by one, as
// [Response] does with a whole reply. It is used by one goroutine.
type Filter struct {
	c     *converter
	parts map[int]filtered // those that have begun, by their index
	kept  int
}

// A filtered part is one that has begun.
type filtered struct {
	index int // in the stream that leaves; nowhere if the part does not
	start llm.Part
}

// NewFilter returns a filter at the start of a stream that goes to the format d from
// another one.
func NewFilter(d catalog.Dialect) *Filter {
	f := &Filter{c: newConverter(d, Options{}), parts: map[int]filtered{}}
	f.c.message = 0
	return f
}

// Aliases returns what stands for the ids and names of the calls so far.
func (f *Filter) Aliases() Aliases { return f.c.aliases }

// Losses returns what was lost so far.
func (f *Filter) Losses() []Loss { return f.c.losses }

// Event returns e as the other format can carry it; false if it cannot.
func (f *Filter) Event(e llm.Event) (llm.Event, bool) {
	e.Raw = nil
	switch e.Kind {
	case llm.EventOther:
		return e, false // means something in its own format only
	case llm.EventStart:
		return e, true
	case llm.EventEnd:
		e.Reason = ""
		return e, true
	case llm.EventPartStart:
		f.begin(e)
	}
	p := f.parts[e.Index]
	e.Index = p.index
	switch e.Kind {
	case llm.EventPartStart:
		e.Part = p.start
	case llm.EventPartEnd:
		e.Part = plain(e.Part, p.start)
	}
	return e, p.index != nowhere
}

// begin decides about a part that begins.
func (f *Filter) begin(e llm.Event) {
	f.c.part = e.Index
	p := filtered{index: nowhere, start: f.c.carried(e.Part, false)}
	if p.start != nil {
		p.index = f.kept
		f.kept++
		p.start = plain(p.start, p.start)
	}
	f.parts[e.Index] = p
}

// plain returns a part without the bytes of its own format; a call with the id and the
// name that it began with.
func plain(p, start llm.Part) llm.Part {
	switch p := p.(type) {
	case llm.Text:
		return llm.Text{Text: p.Text}
	case llm.ToolCall:
		if s, ok := start.(llm.ToolCall); ok {
			p.CallID, p.Name = s.CallID, s.Name
		}
		p.Raw = llm.Raw{}
		return p
	}
	return p
}

// Stream writes a whole stream in the format d, event by event.
func Stream(stream []byte, from wire.Decoder, to wire.Encoder, d catalog.Dialect) (out []byte, losses []Loss, err error) {
	f := NewFilter(d)
	write := func(events []llm.Event, err error) error {
		for _, e := range events {
			e, ok := f.Event(e)
			if !ok {
				continue
			}
			var encErr error
			if out, encErr = to.Append(out, e); encErr != nil {
				return encErr
			}
		}
		return err
	}
	if err = write(from.Feed(stream)); err == nil {
		err = write(from.Close())
	}
	return out, f.Losses(), err
}
