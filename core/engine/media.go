package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A reach is which messages lose media. Each one takes in those before it.
type reach int

const (
	reachOlder  reach = iota // answered by the model, and not pinned
	reachNewest              // not answered yet
	reachPinned              // pinned: only its images and the like, never its words
)

// media takes images and the like out of the view (see [edit.Scene.TakeMedia]) as
// long as it has too many bytes or images. Of older messages it frees some more, as
// the backstop does with their outputs, so that a session with a screenshot in every
// Step does not break its prefix in every Step.
func (m *reducer) media(r reach) {
	spare := 0
	if r == reachOlder {
		spare = backstopSpare
	}
	for m.over() { // ends: each plan takes something out that no later one finds
		s := m.backstopScene(m.tail())
		if r >= reachNewest {
			s.Keep = llm.MessageID(len(m.messages)) + 1
		}
		if r >= reachPinned {
			s.Pinned = nil
		}
		p := s.TakeMedia(m.overWire(spare))
		if p.Empty() || !m.adopt(p, backstopRule) {
			return
		}
	}
}

// overWire returns by how much the view is above the limits of bytes and images, and,
// where it is, a spare share of the limit in permille.
func (m *reducer) overWire(spare int) edit.Excess {
	w := m.resolved[m.request.to].Window
	bytes, images := m.count[m.request.to].Wire()
	return edit.Excess{Bytes: beyond(bytes, w.MaxBytes, spare), Images: beyond(images, w.MaxImages, spare)}
}

// beyond returns by how much used is above a limit less a share of it; 0 if it is
// within the limit or there is none.
func beyond(used, limit, spare int) int {
	if limit == 0 || used <= limit {
		return 0
	}
	return used - limit + limit*spare/1000
}

// pinnedMediaFirst reports whether media of pinned messages have to go before any
// text does: no text makes up for too many images, and if all of it together does not
// make up for the bytes, it would leave in vain.
func (m *reducer) pinnedMediaFirst() bool {
	switch x := m.overWire(0); {
	case x.Images > 0:
		return true
	case x.Bytes > 0:
		trial := m.clone()
		trial.reduceText()
		return trial.overWire(0).Bytes > 0
	}
	return false
}
