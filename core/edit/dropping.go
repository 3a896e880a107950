package edit

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// DropUntil plans to archive the oldest messages up to the first legal cut that
// saves need tokens, the notes in their place counted, or up to the last legal
// cut before Keep.
func (s Scene) DropUntil(need int, kind Kind, why string) Plan {
	return s.tallied().dropping(kind, why).until(need)
}

// A dropping archives the oldest messages, of which more and more leave: the pieces
// between pinned messages. Each message is looked at once, and each archive made once.
type dropping struct {
	s    Scene
	kind Kind
	why  string
	last llm.MessageID // no message at or after it leaves
	to   llm.MessageID // those before it do
	all  bool          // no more can

	next   llm.MessageID // the first that was not looked at
	from   llm.MessageID // behind the last pinned message before it
	closed []Span        // the pieces before that
	gained int           // what archives of them save, without those that save nothing
	made   map[Span]Plan
}

// dropping needs a scene that is tallied.
func (s Scene) dropping(kind Kind, why string) *dropping {
	last := min(s.Keep, llm.MessageID(len(s.Messages))+1)
	return &dropping{s: s, kind: kind, why: why, last: last, next: 1, from: 1, made: map[Span]Plan{}}
}

// until plans archives that save need tokens, if all messages do. Asked again, it is
// asked for more.
func (d *dropping) until(need int) Plan {
	d.to = max(d.to, d.s.firstCut(need, d.last))
	for ; d.to < d.last; d.to++ {
		if d.s.Turns.CanCut(int(d.to)-1) && d.gain(d.to) >= need {
			break
		}
	}
	pieces := d.pieces(d.to)
	p := d.plan(pieces)
	for p.Gain() < need && d.to < d.last { // the Ref made a note a little longer
		d.to++
		if now := d.pieces(d.to); !slices.Equal(now, pieces) {
			pieces, p = now, d.plan(now)
		}
	}
	d.all = d.to >= d.last
	return p
}

// grow looks at the messages before to.
func (d *dropping) grow(to llm.MessageID) {
	for ; d.next < to; d.next++ {
		if !d.s.pinned(d.next) {
			continue
		}
		if piece, ok := d.s.legal(Span{d.from, d.next}); ok {
			d.closed = append(d.closed, piece)
			d.gained += max(d.s.gainOf(piece), 0)
		}
		d.from = d.next + 1
	}
}

// gain returns about what archives of the messages before to save.
func (d *dropping) gain(to llm.MessageID) int {
	d.grow(to)
	if piece, ok := d.s.legal(Span{d.from, to}); ok {
		return d.gained + max(d.s.gainOf(piece), 0)
	}
	return d.gained
}

// pieces returns what [Scene.Unpinned] makes of the messages before to.
func (d *dropping) pieces(to llm.MessageID) []Span {
	d.grow(to)
	if piece, ok := d.s.legal(Span{d.from, to}); ok {
		return append(d.closed[:len(d.closed):len(d.closed)], piece)
	}
	return d.closed
}

// plan archives pieces, without those of which an archive saves nothing.
func (d *dropping) plan(pieces []Span) Plan {
	var p Plan
	for _, piece := range pieces {
		one, ok := d.made[piece]
		if !ok {
			one = d.s.archive(piece, d.kind, d.why)
			d.made[piece] = one
		}
		if one.Gain() > 0 {
			p = p.Join(one)
		}
	}
	return p
}

// firstCut returns a message before which less than need tokens stand, so that no
// earlier cut can do.
func (s Scene) firstCut(need int, last llm.MessageID) llm.MessageID {
	saved := 0
	for i, it := range s.View.Items {
		if it.Before >= last {
			break
		}
		if !it.IsNote() && s.pinned(it.Message.ID) {
			continue
		}
		if saved += s.tally[i+1] - s.tally[i]; saved >= need {
			return max(it.Before, 1)
		}
	}
	return max(last, 1)
}

// gainOf returns about what an archive of span saves, without making it: only the Ref
// in its note is another one.
func (s Scene) gainOf(span Span) int {
	gain := s.sizeOf(span) - s.Measure(s.noteFor(span, llm.RefOf(nil)))
	for _, n := range s.summaries(span) {
		gain -= s.Measure(n)
	}
	return gain
}
