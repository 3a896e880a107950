package edit

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// shortened is what a pinned text is cut to: its beginning and its end, between them how much
// is missing and where it is.
const shortened = "%s\n[… %s of %s bytes are not shown; whole: ref=%s …]\n%s"

// Shorten plans to show the beginning and the end of the texts in pinned messages before Keep
// that take more than most tokens.
func (s Scene) Shorten(most int) Plan {
	s = s.placed()
	var p Plan
	for i := range s.View.Items {
		it := &s.View.Items[i]
		if it.IsNote() || it.Message.ID >= s.Keep || !s.pinned(it.Message.ID) {
			continue
		}
		for n, part := range it.Message.Parts {
			if t, ok := part.(llm.Text); ok && s.Size(t) > most {
				p = p.Join(s.shorten(it.Message.ID, n, t, most))
			}
		}
	}
	return p
}

func (s Scene) shorten(id llm.MessageID, part int, t llm.Text, most int) Plan {
	data := []byte(t.Text)
	ref := llm.RefOf(data)
	room := len(t.Text) * most / max(s.Size(t), 1)
	var now llm.Stub
	for range 24 {
		head := cutBytes(t.Text, room*2/3)
		tail := strings.ToValidUTF8(t.Text[len(t.Text)-min(room/3, len(t.Text)-len(head)):], "")
		missing := len(t.Text) - len(head) - len(tail)
		now = llm.Stub{Ref: ref, Size: len(data), Text: fmt.Sprintf(shortened, head, Thousands(missing), Thousands(len(data)), ref, tail)}
		if s.Size(now) <= most {
			break
		}
		room = room * 7 / 8
	}
	e := Edit{
		Op: Replace, Kind: KindCap, Span: Span{id, id + 1}, Part: part, Replacement: now,
		Refs: []llm.Ref{ref}, Before: s.Size(t), After: s.Size(now), Low: s.Low, Why: "a long message that is pinned: both ends stay", Rule: s.Rule,
		Supersedes: s.holding(id, part),
	}
	if e.After >= e.Before {
		return Plan{}
	}
	return Plan{Edits: []Edit{e}, Blobs: []Blob{{ref, data}}}
}
