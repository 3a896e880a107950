package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// An Excess is by how much a request is above limits that media count towards. A
// figure that is not positive is no excess.
type Excess struct {
	Bytes  int // of the request, as it is written
	Images int // images and other media

	turn   int  // how many were chosen to be taken out
	spared bool // one of them was let stay after all
}

func (x Excess) none() bool { return x.Bytes <= 0 && x.Images <= 0 }

// TakeMedia plans to show media as one line of text each, until that makes up for x
// or no more can go: first those that the view shows earlier as well, then the
// oldest; where the first of several that are the same has to go, the last of them stays. Where only images are too many, images go before documents and sound.
// Messages at or after Keep, and those that are Pinned, keep theirs.
//
// A tool result is changed as a whole: all its media become lines, its texts stay.
// Media count whatever the dialect that the request goes to does with them: an edit is
// sticky, and the next call may go to one that keeps them. Each line names the Ref of its part: the bytes of an image that stands in a
// message, or the result with all its content. A medium whose bytes are not known
// stays, since it could not be had again.
func (s Scene) TakeMedia(x Excess) Plan {
	all := s.exhibits()
	for _, pass := range []func(exhibit) bool{
		exhibit.repeats,
		func(e exhibit) bool { return x.Bytes > 0 || e.image },
		func(exhibit) bool { return true },
	} {
		for i := range all {
			if x.none() {
				return s.taken(all, x)
			}
			if e := &all[i]; e.turn == 0 && e.id < s.Keep && !s.pinned(e.id) && pass(*e) && s.choose(e, &x) && !e.repeats() {
				s.spare(all[i], all[i+1:], &x)
			}
		}
	}
	return s.taken(all, x)
}

// choose marks e to be taken out, and counts what it frees off x. It does not if that is
// nothing of what x wants.
func (s Scene) choose(e *exhibit, x *Excess) bool {
	freed := s.freed(*e)
	if x.Images <= 0 && freed <= 0 {
		return false
	}
	x.turn++
	e.turn = x.turn
	x.Bytes -= freed
	x.Images -= len(e.media)
	return true
}

// spare lets the last repeat of what is gone stay, if repeats were taken out for its
// sake: it is then where the image is seen.
func (s Scene) spare(gone exhibit, later []exhibit, x *Excess) {
	if len(gone.media) != 1 {
		return
	}
	last := -1
	for i, r := range later {
		if r.turn > 0 && len(r.media) == 1 && r.earlier[0] == gone.id && bytes.Equal(r.media[0].Data, gone.media[0].Data) {
			last = i
		}
	}
	if last < 0 {
		return
	}
	seen := &later[last]
	x.Bytes += s.freed(*seen) // while its line is what it was counted with
	x.Images++
	x.spared = true
	seen.turn, seen.earlier[0] = 0, 0
	for i := range later[:last] {
		if r := &later[i]; len(r.media) == 1 && r.earlier[0] == gone.id && bytes.Equal(r.media[0].Data, gone.media[0].Data) {
			was := s.freed(*r)
			r.earlier[0] = seen.id
			if r.turn > 0 {
				x.Bytes += was - s.freed(*r)
			}
		}
	}
}

// taken plans to take out what was chosen, in the order in which it was, but for what
// has become needless where one was spared. x is what is left of the excess.
func (s Scene) taken(all []exhibit, x Excess) Plan {
	chosen := slices.DeleteFunc(all, func(e exhibit) bool { return e.turn == 0 })
	slices.SortFunc(chosen, func(a, b exhibit) int { return a.turn - b.turn })
	var p Plan
	for _, e := range chosen {
		without := Excess{Bytes: x.Bytes + s.freed(e), Images: x.Images + len(e.media), spared: true}
		if x.spared && without.none() {
			x = without
			continue
		}
		p = p.Join(s.take(e))
	}
	return p
}

// freed returns the bytes that a request has less without e.
func (s Scene) freed(e exhibit) int {
	ref, data := s.bytesOf(e)
	return token.WireBytes(e.shown) - token.WireBytes(e.replacement(ref, len(data)))
}

// sameMedia plans to take out the media of an output that the view shows already.
func (s Scene) sameMedia(sp Spot, a DedupArgs) Plan {
	for _, e := range s.exhibits() {
		if e.id != sp.ID || e.part != sp.Part || !e.repeats() {
			continue
		}
		p := s.take(e)
		p.Edits[0].Kind = KindDedup
		if a.Gain.Enough(p.Edits[0].Before, p.Edits[0].After) {
			return p
		}
	}
	return Plan{}
}

// An exhibit is a part of the view with media that can be taken out.
type exhibit struct {
	id      llm.MessageID
	part    int
	shown   llm.Part
	media   []llm.Media
	earlier []llm.MessageID // for each of media: which message shows it before this part; 0: none
	image   bool            // one of media is an image
	turn    int             // when it was chosen to be taken out, from 1; 0: it was not
}

// repeats reports whether nothing would be lost from sight with e.
func (e exhibit) repeats() bool { return !slices.Contains(e.earlier, 0) }

// exhibits returns the parts with media that the view shows, oldest first.
func (s Scene) exhibits() []exhibit {
	var out []exhibit
	seen := gallery{}
	for _, it := range s.View.Items {
		if it.IsNote() {
			continue
		}
		for n, p := range it.Message.Parts {
			e := exhibit{id: it.Message.ID, part: n, shown: p, media: mediaOf(p)}
			if len(e.media) == 0 {
				continue
			}
			_, inResult := p.(llm.ToolResult)
			for _, m := range e.media {
				e.earlier = append(e.earlier, seen.find(m, inResult))
				e.image = e.image || m.IsImage()
			}
			for _, m := range e.media {
				seen.hang(m, e.id, inResult)
			}
			if s.keepable(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// mediaOf returns the media in a part.
func mediaOf(p llm.Part) []llm.Media {
	switch p := p.(type) {
	case llm.Media:
		return []llm.Media{p}
	case llm.ToolResult:
		var out []llm.Media
		for _, c := range p.Content {
			if m, ok := c.(llm.Media); ok {
				out = append(out, m)
			}
		}
		return out
	}
	return nil
}

// keepable reports whether what e shows can be stored.
func (s Scene) keepable(e exhibit) bool {
	if r, ok := s.Messages[e.id-1].Parts[e.part].(llm.ToolResult); ok {
		if _, elsewhere := StubOf(r); elsewhere {
			return false
		}
	}
	return !slices.ContainsFunc(e.media, func(m llm.Media) bool { return m.Data == nil })
}

// A gallery holds the media that were seen, by the length of their bytes.
type gallery map[int][]hung

type hung struct {
	data     []byte
	id       llm.MessageID
	inResult bool
}

// find returns the first message that shows the same bytes, 0 if none does. Some wire
// formats carry no media in tool results, so that one there cannot stand for one in a
// message.
func (g gallery) find(m llm.Media, inResult bool) llm.MessageID {
	for _, h := range g[len(m.Data)] {
		if (inResult || !h.inResult) && bytes.Equal(h.data, m.Data) {
			return h.id
		}
	}
	return 0
}

func (g gallery) hang(m llm.Media, id llm.MessageID, inResult bool) {
	if m.Data != nil && g.find(m, inResult) == 0 {
		g[len(m.Data)] = append(g[len(m.Data)], hung{m.Data, id, inResult})
	}
}

// take plans the edit that takes e out.
func (s Scene) take(e exhibit) Plan {
	ref, data := s.bytesOf(e)
	now := e.replacement(ref, len(data))
	why := "the oldest are taken out, to keep bytes and images within their limits"
	if e.repeats() {
		why = fmt.Sprintf("shown in message %d as well", e.earlier[0])
	}
	return Plan{
		Edits: []Edit{{
			Op: Replace, Kind: KindMedia, Span: Span{e.id, e.id + 1}, Part: e.part, Replacement: now,
			Refs: []llm.Ref{ref}, Before: s.Size(e.shown), After: s.Size(now), Low: s.Low, Why: why, Rule: s.Rule,
			Supersedes: s.holding(e.id, e.part),
		}},
		Blobs: []Blob{{ref, data}},
	}
}

// bytesOf returns what is stored of a part with media (law 2).
func (s Scene) bytesOf(e exhibit) (llm.Ref, []byte) {
	original := s.Messages[e.id-1].Parts[e.part]
	data := original.Bytes()
	if r, ok := original.(llm.ToolResult); ok {
		data = Stored(r)
	}
	return llm.RefOf(data), data
}

// replacement returns what stands in the place of e. size is that of what is stored.
func (e exhibit) replacement(ref llm.Ref, size int) llm.Part {
	r, ok := e.shown.(llm.ToolResult)
	if !ok {
		return llm.Stub{Ref: ref, Text: e.line(0, ref), Size: size}
	}
	now := llm.ToolResult{CallID: r.CallID, IsError: r.IsError}
	n := 0
	for _, c := range r.Content {
		if _, ok := c.(llm.Media); ok {
			stub := llm.Stub{Ref: ref, Text: e.line(n, ref), Size: size}
			if len(r.Content) > 1 {
				stub.Text += "\n" // there is more than this line, so that the output can still be reduced; see FormOf
			}
			c = stub
			n++
		}
		now.Content = append(now.Content, c)
	}
	return now
}

// line returns what the model sees in place of the n-th medium of e.
func (e exhibit) line(n int, ref llm.Ref) string {
	m := e.media[n]
	if !e.repeats() {
		return fmt.Sprintf("[%s, %s, stored as %s]", typeName(m), sizeName(max(m.Size, len(m.Data))), ref)
	}
	what := "file"
	if m.IsImage() {
		what = "image"
	}
	return fmt.Sprintf("[the same %s as in message %d, stored as %s]", what, e.earlier[n], ref)
}

// typeName returns the media type of m, or "file" where it is none that can be shown.
func typeName(m llm.Media) string {
	if !isTypeName(m.Type) {
		return "file"
	}
	return strings.TrimSuffix(m.Type, "/*")
}

// isTypeName reports whether a text can be shown as a media type.
func isTypeName(name string) bool {
	const longest = 80 // the longest that is registered has 73 characters
	strange := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/.+-_*", c))
	}
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, strange)
}

// sizeName writes a number of bytes for people, cut off after a tenth.
func sizeName(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%d.%d kB", n/1000, n/100%10)
	}
	return fmt.Sprintf("%d.%d MB", n/1000_000, n/100_000%10)
}
