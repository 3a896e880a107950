package openai

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An order watches over the order of the events that an encoder is given.
type order struct {
	begun, ended bool
	parts        map[int]*written // that are open
}

// A written is an open part and what has been written of it.
type written struct {
	part                         llm.Part
	nth                          int // the number that the format gives it
	text, signature, args, other bool
	id                           string
	said                         []byte // all deltas so far, where the format repeats them at the end
}

// told notes that a delta has been written.
func (p *written) told(kind llm.DeltaKind) {
	switch kind {
	case llm.DeltaText:
		p.text = true
	case llm.DeltaSignature:
		p.signature = true
	case llm.DeltaArgs:
		p.args = true
	default:
		p.other = true
	}
}

// next returns the part that e is of. The error says that e cannot come here.
func (o *order) next(e llm.Event) (*written, error) {
	if e.Kind == llm.EventOther {
		return nil, nil
	}
	if o.ended {
		return nil, fmt.Errorf("event, want none after the end, got %v", e.Kind)
	}
	if o.begun == (e.Kind == llm.EventStart) {
		return nil, fmt.Errorf("event, want one start and then the others, got %v", e.Kind)
	}
	p := o.parts[e.Index]
	switch e.Kind {
	case llm.EventStart:
		o.begun, o.parts = true, map[int]*written{}
	case llm.EventPartStart:
		if p != nil {
			return nil, fmt.Errorf("part start, want an index that is not open, got %d", e.Index)
		}
		p = &written{part: e.Part}
		o.parts[e.Index] = p
	case llm.EventDelta, llm.EventPartEnd:
		if p == nil {
			return nil, fmt.Errorf("%v, want the index of an open part, got %d", e.Kind, e.Index)
		}
		if e.Kind == llm.EventPartEnd {
			delete(o.parts, e.Index)
		}
	case llm.EventEnd:
		if len(o.parts) > 0 {
			return nil, fmt.Errorf("end, want every part ended, got %d that are open", len(o.parts))
		}
		o.ended = true
	default:
		return nil, fmt.Errorf("event, want a known kind, got %d", e.Kind)
	}
	return p, nil
}
