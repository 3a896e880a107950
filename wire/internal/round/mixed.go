package round

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A Seam takes a person's words that a client put into a result out of it, and puts them
// in again. It is of a dialect whose results have images of their own.
type Seam interface {
	// Open returns a result without such words, and the words; ok is false if it has none.
	Open(r llm.ToolResult) (rest llm.ToolResult, words llm.Text, ok bool)
	// Close returns the result that was opened: as it came if rest and words are what Open
	// returned, else with what they are now.
	Close(of, rest llm.ToolResult, words llm.Text) llm.ToolResult
	// Bare returns a block without what says nothing to the model, and may have been put on
	// it here: a cache mark.
	Bare(block []byte) []byte
}

// Append adds one more wire message to a request: itself, but for one in which text stands
// beside results, or where seam, which may be nil, knows of it within them. That is cut
// wherever the author changes, so that what a person says there is a person's, and what a
// client adds is a client's; then it joins those that are mixed as it came. What is neither
// result nor text belongs to what stands before it: beside results an image is mostly a
// tool's. But where results have their own images (seam), those right before a person's words
// are that person's. The pieces have no envelope, for they did not come as objects; [Whole]
// puts them together again.
func Append(r *llm.Request, m llm.Message, seam Seam) {
	pieces := apart(m, seam)
	if len(pieces) == 0 {
		r.Messages = append(r.Messages, m)
		return
	}
	r.Messages = append(r.Messages, pieces...)
	r.Frame.Mixed, r.Frame.Pieces = append(r.Frame.Mixed, m), append(r.Frame.Pieces, len(pieces))
}

// opened returns the parts of m with the words in its results behind them, and the part of
// m that each comes from; no places if there are no such words.
func opened(m llm.Message, seam Seam) (parts []llm.Part, place []int) {
	if seam == nil {
		return m.Parts, nil
	}
	for i, p := range m.Parts {
		r, _ := p.(llm.ToolResult)
		rest, words, ok := seam.Open(r)
		switch {
		case ok && place == nil: // the first one
			parts = slices.Clone(m.Parts[:i])
			for k := range i {
				place = append(place, k)
			}
			fallthrough
		case ok:
			parts, place = append(parts, rest, words), append(place, i, i)
		case place != nil:
			parts, place = append(parts, p), append(place, i)
		}
	}
	if place == nil {
		return m.Parts, nil
	}
	return parts, place
}

// closed returns parts, which were opened, as parts of m.
func closed(parts []llm.Part, place []int, m llm.Message, seam Seam) (out []llm.Part) {
	if place == nil {
		return parts
	}
	for i := 0; i < len(parts); i++ {
		if i+1 == len(parts) || place[i+1] != place[i] {
			out = append(out, parts[i])
			continue
		}
		of, _ := m.Parts[place[i]].(llm.ToolResult)
		rest, _ := parts[i].(llm.ToolResult)
		words, _ := parts[i+1].(llm.Text)
		out = append(out, seam.Close(of, rest, words))
		i++
	}
	return out
}

// apart returns the pieces of m; none if it is not cut.
func apart(m llm.Message, seam Seam) (out []llm.Message) {
	if m.Origin != llm.ToolRun {
		return nil
	}
	m.Parts, _ = opened(m, seam)
	start, origin := 0, llm.Origin(0)
	for i, p := range m.Parts {
		of := authorOf(p)
		if of == 0 || of == origin {
			continue
		}
		if origin != 0 {
			if seam != nil && of == llm.Human {
				i = shown(m.Parts, i)
			}
			out = append(out, piece(m, start, i, origin))
			start = i
		}
		origin = of
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, piece(m, start, len(m.Parts), origin))
}

// shown returns where the images and documents begin that stand right before a place.
func shown(parts []llm.Part, at int) int {
	for at > 0 {
		if _, ok := parts[at-1].(llm.Media); !ok {
			break
		}
		at--
	}
	return at
}

// authorOf returns whose a part beside results is; 0 for nobody's in particular.
func authorOf(p llm.Part) llm.Origin {
	switch p := p.(type) {
	case llm.ToolResult:
		return llm.ToolRun
	case llm.Text:
		if strings.TrimSpace(p.Text) != "" {
			return wire.OriginOf([]llm.Part{p})
		}
	}
	return 0
}

// piece returns the parts [from, to) of m as a message.
func piece(m llm.Message, from, to int, origin llm.Origin) llm.Message {
	out := llm.Message{Role: llm.RoleUser, Origin: origin, Parts: m.Parts[from:to:to], Dialect: m.Dialect}
	switch origin {
	case llm.ToolRun:
		out.Role = llm.RoleTool
	case llm.Note:
		out.Flags = wire.RulesIn(out.Parts)
	}
	return out
}

// Whole returns msgs with the pieces of each message of mixed, in order, as that message
// again. Pieces of which one has gone, or between which something stands now, stay apart. left
// are the marks of messages that are none of these pieces.
func Whole(msgs []llm.Message, marks llm.Marks, mixed []llm.Message, seam Seam) (out []llm.Message, left llm.Marks) {
	if len(mixed) == 0 {
		return msgs, marks
	}
	cut, places := slices.Clone(mixed), make([][]int, len(mixed))
	for k := range cut {
		cut[k].Parts, places[k] = opened(mixed[k], seam)
	}
	out = make([]llm.Message, 0, len(msgs))
	for at := 0; at < len(msgs); {
		m, n := msgs[at], 0
		for k, of := range cut {
			if parts, pieces := gathered(msgs[at:], of, seam); pieces > 0 {
				m, n = mixed[k].WithParts(closed(parts, places[k], mixed[k], seam)), pieces
				mixed, cut, places = mixed[k+1:], cut[k+1:], places[k+1:]
				break
			}
		}
		if n == 0 {
			n, left = 1, left.With(llm.Place{On: llm.OnMessage, At: len(out), Mark: marks.On(llm.OnMessage, at)})
		}
		out, at = append(out, m), at+n
	}
	return out, left
}

// gathered returns the parts of the messages at the start of msgs that were pieces of one
// message, and how many messages that are; none if they were not.
func gathered(msgs []llm.Message, of llm.Message, seam Seam) (parts []llm.Part, pieces int) {
	for _, m := range msgs {
		if m.Dialect != of.Dialect || m.Role == llm.RoleAssistant || len(m.Envelope.Raw) > 0 || len(parts)+len(m.Parts) > len(of.Parts) {
			return nil, 0
		}
		for _, p := range m.Parts {
			if !from(p, of.Parts[len(parts)], seam) {
				return nil, 0
			}
			parts = append(parts, p)
		}
		if pieces++; len(parts) == len(of.Parts) {
			return parts, pieces
		}
	}
	return nil, 0
}

// from reports whether p is old or what an edit made of it, also with another cache mark.
func from(p, old llm.Part, seam Seam) bool {
	switch old := old.(type) {
	case llm.ToolResult:
		now, ok := p.(llm.ToolResult)
		return ok && now.CallID == old.CallID
	case llm.Text:
		if now, ok := p.(llm.Text); ok && now.Text == old.Text {
			return true
		}
	}
	b := p.Bytes()
	if b == nil {
		b = raw.Base(p)
	}
	return bytes.Equal(b, old.Bytes()) || seam != nil && bytes.Equal(seam.Bare(b), seam.Bare(old.Bytes()))
}
