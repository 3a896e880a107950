package gemini

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// NewSplice returns a [wire.Splice] at the start of a reply. The signature of a hidden call
// goes with it, also where the API signs the first of several calls alone: who sends the
// conversation back has to put both in their place again.
func (c Codec) NewSplice(hidden func(tool string) bool, streamed bool) wire.Splice {
	cut := new(cutter)
	return splice.New(splice.Dialect{
		Codec: c,
		Rules: &spliceRules{calls: spliceCalls{hidden: hidden}, cut: cut},
		Cut:   cut,
		Join:  joinValue,
		Merge: func(bodies [][]byte) ([]byte, error) { return mergedReply(bodies, hidden) },
	}, hidden, streamed)
}

// spliceRules are how the chunks of a stream are spliced: parts of hidden calls are taken
// out, all chunks have the id of the first one, and the usage in those of later Rounds is
// that of all.
type spliceRules struct {
	calls spliceCalls
	cut   *cutter
	id    []byte // of the first reply, as a literal
	later bool   // this is not the first Round
	begun bool   // the client has got something
	usage []byte // of this Round, as far as it is stated
	past  []byte // of those before
}

// spliceCalls tells hidden calls from the client's.
type spliceCalls struct {
	hidden func(tool string) bool
	open   bool // a hidden call goes on with the next piece
}

// modality is the member that tells the elements of a list of figures apart.
const modality = "modality"

// Payload implements [splice.Rules].
func (r *spliceRules) Payload(_, data []byte) (splice.Piece, error) {
	x := wrapped{reply: data}
	v := raw.Values(data, "candidates", "usageMetadata", "responseId", "promptFeedback", "response")
	if raw.IsObject(v[4]) {
		x = wrapped{data, v[4]}
		v = raw.Values(x.reply, "candidates", "usageMetadata", "responseId", "promptFeedback")
	}
	if r.id == nil {
		r.id = bytes.Clone(v[2])
	}
	if !bytes.Equal(v[1], r.usage) && !usageOf(v[1]).IsZero() {
		r.usage = append(r.usage[:0], v[1]...)
	}
	candidate, err := onlyCandidate(v[0])
	if err != nil {
		return splice.Piece{}, err
	}
	if candidate == nil {
		if raw.IsString(raw.Value(v[3], "blockReason")) {
			return splice.Piece{Last: true}, nil
		}
		return r.piece(splice.Piece{Data: x.with(r.headed(x.reply))}), nil
	}
	content := raw.Value(candidate, "content")
	shown, out := r.calls.visible(content)
	piece := splice.Piece{Hidden: out > 0, Last: raw.IsString(raw.Value(candidate, "finishReason"))}
	piece.More = out > 0 || says(shown) // older models say STOP in every chunk
	if out > 0 {
		candidate = raw.Set(candidate, "content", shown)
	}
	switch {
	case piece.Last:
		if says(shown) {
			now := new(raw.Object).Raw("content", shown).Raw("index", raw.Value(candidate, "index"))
			reply := raw.Delete(withCandidate(x.reply, now.Bytes()), "usageMetadata")
			piece.Data = x.with(r.headed(reply))
		}
	case out == 0:
		piece.Data = x.with(r.headed(x.reply))
	case says(shown) || saysMore(candidate):
		piece.Data = x.with(r.headed(withCandidate(x.reply, candidate)))
	}
	return r.piece(piece), nil
}

func (r *spliceRules) piece(p splice.Piece) splice.Piece {
	r.begun = r.begun || p.Data != nil
	return p
}

// A wrapped reply stands in an object of its server's.
type wrapped struct{ whole, reply []byte }

// unwrapped returns the reply in a payload.
func unwrapped(data []byte) wrapped {
	if inner := raw.Value(data, "response"); raw.IsObject(inner) {
		return wrapped{data, inner}
	}
	return wrapped{reply: data}
}

// with returns the payload with another reply.
func (w wrapped) with(reply []byte) []byte {
	switch {
	case w.whole == nil:
		return reply
	case &reply[0] == &w.reply[0] && len(reply) == len(w.reply):
		return w.whole
	}
	return raw.Set(w.whole, "response", reply)
}

// onlyCandidate returns the one candidate of a reply, nil if it has none.
func onlyCandidate(list []byte) ([]byte, error) {
	all := splice.Elements(list)
	if len(all) == 0 {
		return nil, nil
	}
	if n, _ := raw.Int(raw.Value(all[0], "index")); len(all) > 1 || n != 0 {
		return nil, fmt.Errorf("gemini: splice: %w", wire.ErrUnspliced)
	}
	return all[0], nil
}

// withCandidate returns a reply, which has one candidate or none, with another one.
func withCandidate(reply, candidate []byte) []byte {
	if len(raw.Elements(raw.Value(reply, "candidates"))) == 0 {
		return raw.Set(reply, "candidates", raw.Array([][]byte{candidate}))
	}
	with, _ := splice.Filter(reply, "candidates", func([]byte) []byte { return candidate })
	return with
}

// visible returns a content without the parts of hidden calls, and how many there were. The
// pieces of a call that comes in several have no name but in the first.
func (c *spliceCalls) visible(content []byte) (with []byte, out int) {
	parts := raw.Value(content, "parts")
	if raw.IsObject(parts) { // as some servers send one
		content = raw.Set(content, "parts", raw.Array([][]byte{parts}))
	} else if !c.mayCall(parts) {
		return content, 0
	}
	return splice.Filter(content, "parts", func(part []byte) []byte {
		call := nameCall.value(part)
		if !raw.IsObject(call) {
			return part
		}
		v := raw.Values(call, "name", "willContinue")
		hides := c.open
		if raw.IsString(v[0]) {
			hides = c.hidden(raw.Unquote(v[0]))
		}
		c.open = hides && string(v[1]) == "true"
		if hides {
			return nil
		}
		return part
	})
}

// mayCall reports whether one of parts may be a call.
func (c *spliceCalls) mayCall(parts []byte) bool {
	for _, at := range raw.Elements(parts) {
		if nameCall.value(raw.Slice(parts, at)) != nil {
			return true
		}
	}
	return false
}

// says reports whether a content has more than empty text.
func says(content []byte) bool {
	for _, part := range splice.Elements(raw.Value(content, "parts")) {
		for k, v := range raw.Members(part) {
			if !raw.Named(raw.Slice(part, k), "text") || v.Len() > len(`""`) {
				return true
			}
		}
	}
	return false
}

// saysMore reports whether a candidate has more than its content.
func saysMore(candidate []byte) bool {
	for k := range raw.Members(candidate) {
		if name := raw.Slice(candidate, k); !raw.Named(name, "content") && !raw.Named(name, "index") {
			return true
		}
	}
	return false
}

// headed returns a reply of a later Round as one of the first.
func (r *spliceRules) headed(reply []byte) []byte {
	if !r.later {
		return reply
	}
	if id := raw.Value(reply, "responseId"); r.id != nil && id != nil && !bytes.Equal(id, r.id) {
		reply = raw.Set(reply, "responseId", r.id)
	}
	if usage := raw.Value(reply, "usageMetadata"); raw.IsObject(usage) {
		reply = raw.Set(reply, "usageMetadata", splice.Sum(r.past, usage, modality))
	}
	return reply
}

// Next implements [splice.Rules].
func (r *spliceRules) Next() {
	r.past = splice.Sum(r.past, r.usage, modality)
	r.later, r.usage, r.calls.open = true, nil, false
}

// End implements [splice.Rules].
func (r *spliceRules) End(_, data []byte) []byte {
	x := unwrapped(data)
	reply := x.reply
	if candidate, _ := onlyCandidate(raw.Value(reply, "candidates")); candidate != nil {
		content := raw.Value(candidate, "content")
		if raw.IsObject(content) && says(content) { // the client has it, or it is hidden
			content = raw.Set(content, "parts", raw.Array([][]byte{textPart("")}))
			reply = withCandidate(reply, raw.Set(candidate, "content", content))
		}
	}
	return x.with(r.headed(reply))
}

// Fail implements [splice.Rules].
func (r *spliceRules) Fail(dst []byte, e *wire.Error) []byte {
	payload := raw.OneLine(errorPayload(e))
	switch {
	case !r.cut.isArray():
		return event(dst, payload)
	case r.begun:
		dst = append(dst, ',')
	default:
		dst = append(dst, '[')
	}
	return append(append(dst, payload...), ']')
}

// mergedReply returns one body of those of several Rounds: the last one with the id and the
// parts of all.
func mergedReply(bodies [][]byte, hidden func(tool string) bool) ([]byte, error) {
	var parts, usage, candidate []byte
	for _, b := range bodies {
		reply := unwrapped(raw.Trim(b)).reply
		var err error
		if candidate, err = onlyCandidate(raw.Value(reply, "candidates")); err != nil {
			return nil, err
		}
		calls := spliceCalls{hidden: hidden}
		shown, _ := calls.visible(raw.Value(candidate, "content"))
		parts = splice.Joined(parts, raw.Value(shown, "parts"))
		usage = splice.Sum(usage, raw.Value(reply, "usageMetadata"), modality)
	}
	x := unwrapped(raw.Trim(bodies[len(bodies)-1]))
	reply := x.reply
	if candidate != nil || len(raw.Elements(parts)) > 0 {
		content := raw.Value(candidate, "content")
		if !raw.IsObject(content) {
			content = []byte(`{"role":"model"}`)
		}
		if candidate == nil {
			candidate = []byte(`{"index":0}`)
		}
		reply = withCandidate(reply, raw.Set(candidate, "content", raw.Set(content, "parts", parts)))
	}
	reply = raw.Set(reply, "responseId", raw.Value(unwrapped(raw.Trim(bodies[0])).reply, "responseId"))
	return x.with(raw.Set(reply, "usageMetadata", usage)), nil
}
