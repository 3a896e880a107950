package anthropic

import (
	"bytes"
	"slices"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// NewSplice returns a [wire.Splice] at the start of a reply.
func (c Codec) NewSplice(hidden func(tool string) bool, streamed bool) wire.Splice {
	return splice.New(splice.Dialect{
		Codec: c,
		Rules: &spliceRules{hidden: hidden, open: map[int]placed{}},
		Cut:   new(splice.Events),
		Merge: func(bodies [][]byte) ([]byte, error) { return mergedReply(bodies, hidden), nil },
	}, hidden, streamed)
}

// spliceRules are how the payloads of a stream are spliced: blocks of hidden calls are
// taken out and the others numbered through, the start of later Rounds is left out, and
// the last message_delta states what all Rounds used.
type spliceRules struct {
	hidden func(tool string) bool
	later  bool           // this is not the first Round
	open   map[int]placed // blocks, by their index
	base   int            // index of the first block of this Round, for the client
	next   int            // index of the next one
	taken  int            // blocks of this Round that are hidden
	calls  int            // calls of this Round that the client gets
	usage  []byte         // of this Round, as far as it is stated
	past   []byte         // of those before
}

// A placed block has another index, or none.
type placed struct {
	index  int
	hidden bool
}

// Payload implements [splice.Rules].
func (r *spliceRules) Payload(name, data []byte) (splice.Piece, error) {
	p, ok := readDeltaPayload(data)
	if !ok {
		if p = readPayload(data); p.kind == nil {
			p.kind = name
		}
	}
	switch string(p.kind) {
	case "message_start":
		r.usage = newerUsage(r.usage, raw.Value(p.message, "usage"))
		if r.later {
			return splice.Piece{}, nil
		}
	case "content_block_start":
		return r.begin(&p, data), nil
	case "content_block_delta":
		return r.block(&p, data), nil
	case "content_block_stop":
		piece := r.block(&p, data)
		if index, ok := raw.Int(p.index); ok {
			delete(r.open, index)
		}
		return piece, nil
	case "message_delta":
		r.usage = newerUsage(r.usage, p.usage)
		return splice.Piece{Last: true}, nil
	case "message_stop":
		return splice.Piece{Last: true}, nil
	}
	return splice.Piece{Data: data}, nil
}

// begin places a block.
func (r *spliceRules) begin(p *payload, data []byte) splice.Piece {
	index, ok := raw.Int(p.index)
	if !ok {
		return splice.Piece{Data: data}
	}
	call, hidden := isHidden(p.block, r.hidden)
	if hidden {
		r.taken++
		r.open[index] = placed{hidden: true}
		return splice.Piece{Hidden: true}
	}
	if call {
		r.calls++
	}
	at := max(r.base+index-r.taken, 0)
	r.next = max(r.next, at+1)
	r.open[index] = placed{index: at}
	return r.block(p, data)
}

// block returns what the client gets of an event of a block.
func (r *spliceRules) block(p *payload, data []byte) splice.Piece {
	index, ok := raw.Int(p.index)
	at, known := r.open[index]
	switch {
	case !ok || !known || !at.hidden && at.index == index:
		return splice.Piece{Data: data}
	case at.hidden:
		return splice.Piece{Hidden: true}
	}
	return splice.Piece{Data: raw.Set(data, "index", raw.Digits(at.index))}
}

// isHidden reports whether a block is a call that the client answers, or one of a hidden tool.
func isHidden(block []byte, hidden func(tool string) bool) (call, hides bool) {
	v := raw.Values(block, "type", "name")
	call = raw.Named(v[0], "tool_use")
	return call, call && hidden(raw.Unquote(v[1]))
}

// Next implements [splice.Rules].
func (r *spliceRules) Next() {
	r.past = splice.Sum(r.past, r.usage, "")
	r.later, r.base, r.taken, r.calls, r.usage = true, r.next, 0, 0, nil
	clear(r.open)
}

// End implements [splice.Rules].
func (r *spliceRules) End(name, data []byte) []byte {
	p := readPayload(data)
	if p.kind == nil {
		p.kind = name
	}
	if string(p.kind) != "message_delta" {
		return data
	}
	if r.taken > 0 && r.calls == 0 && raw.Named(p.delta.reason, "tool_use") {
		data = raw.Set(data, "delta", raw.Set(p.delta.whole, "stop_reason", raw.Quote("end_turn")))
	}
	if r.past == nil {
		return data
	}
	return raw.Set(data, "usage", statedUsage(p.usage, splice.Sum(r.past, r.usage, "")))
}

// Fail implements [splice.Rules].
func (r *spliceRules) Fail(dst []byte, e *wire.Error) []byte { return new(encoder).AppendError(dst, e) }

// newerUsage returns what a Round used by what was stated so far and by usage, which is
// stated now, as [tally.add] takes it.
func newerUsage(so, usage []byte) []byte {
	if !raw.IsObject(usage) {
		return so
	}
	if so == nil {
		return bytes.Clone(usage)
	}
	prompt := []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"}
	var t tally
	t.add(usage)
	silent := t.input+t.read+t.write == 0
	for k, v := range raw.Members(usage) {
		name, value := string(raw.Name(raw.Slice(usage, k))), raw.Slice(usage, v)
		if raw.IsNone(value) || silent && slices.Contains(prompt, name) {
			continue
		}
		so = raw.Set(so, name, value)
	}
	return so
}

// statedUsage returns the usage of a message_delta with the sums of all figures, also of
// those that only message_start states otherwise: what it stated is less.
func statedUsage(usage, sum []byte) []byte {
	if !raw.IsObject(usage) {
		usage = []byte("{}")
	}
	for k, v := range raw.Members(sum) {
		value := raw.Slice(sum, v)
		if raw.IsNone(value) || raw.IsString(value) {
			continue
		}
		usage = raw.Set(usage, string(raw.Name(raw.Slice(sum, k))), value)
	}
	return usage
}

// mergedReply returns one body of those of several Rounds: the last one with the id and the
// blocks of all.
func mergedReply(bodies [][]byte, hidden func(tool string) bool) []byte {
	body := raw.Trim(bodies[len(bodies)-1])
	var content, usage []byte
	hides, calls := false, false // of the last Round
	for _, b := range bodies {
		b = raw.Trim(b)
		v := raw.Values(b, "content", "usage")
		usage = splice.Sum(usage, v[1], "")
		hides, calls = false, false
		shown, _ := splice.Filter(b, "content", func(block []byte) []byte {
			call, hide := isHidden(block, hidden)
			hides, calls = hides || hide, calls || call && !hide
			if hide {
				return nil
			}
			return block
		})
		blocks := raw.Value(shown, "content")
		if raw.IsString(blocks) { // as some gateways send it
			blocks = raw.Array([][]byte{new(raw.Object).Text("type", "text").Raw("text", blocks).Bytes()})
		}
		content = splice.Joined(content, blocks)
	}
	body = raw.Set(body, "id", raw.Value(raw.Trim(bodies[0]), "id"))
	body = raw.Set(body, "content", content)
	body = raw.Set(body, "usage", usage)
	if hides && !calls && raw.Named(raw.Value(body, "stop_reason"), "tool_use") {
		body = raw.Set(body, "stop_reason", raw.Quote("end_turn"))
	}
	return body
}
