package inspect

import (
	"cmp"
	"sort"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// The kinds of a Place.
const (
	ExactPlace     = "exact"     // the first byte in which the two requests differ
	EstimatedPlace = "estimated" // by the tokens up to it
)

// An encoder writes requests of one segment in the session's dialect.
type encoder struct {
	codec wire.Codec
	g     *segment
	model string
}

func (r *reading) encoder(s sent) (encoder, bool) {
	codec, ok := codecs.For(cmp.Or(r.s.Dialect, openai.DialectChat))
	return encoder{codec, s.g, r.o.modelOf(s.info.Model, s.g.model)}, ok
}

// encode writes the request that ends before entry n. It is nil where the dialect has
// no form for it.
func (e encoder) encode(n int) []byte {
	req := llm.Request{Model: e.model, Tools: e.g.Tools, Messages: make([]llm.Message, n)}
	for _, s := range e.g.Sections {
		if s.Text != "" || len(s.Data) > 0 {
			req.Sections = append(req.Sections, s)
		}
	}
	for i, entry := range e.g.Entries[:n] {
		req.Messages[i] = entry.Message
	}
	body, err := e.codec.EncodeRequest(req)
	if err != nil {
		return nil // such a place has no byte, and says so
	}
	return body
}

// placeOf finds where the first token lies that a Step did not read.
func (r *reading) placeOf(f found) Place {
	e, ok := r.encoder(f.cur)
	var body []byte
	if ok {
		body = e.encode(f.cur.entry)
	}
	// at returns the byte at which a message begins, counted from 0: up to there the
	// request is the same as one that ends before it.
	at := func(n int) int {
		if body == nil || n >= f.cur.entry {
			return len(body)
		}
		return common(e.encode(n), body)
	}
	if before, ok := r.encoder(f.prev); ok && body != nil && f.prev.g != f.cur.g && before.model == e.model {
		old := before.encode(f.prev.entry)
		p := f.cur.differs(common(old, body), at)
		if old != nil && p.Message <= f.prev.entry { // else what changed is not in the file
			return p
		}
	}
	p := f.cur.estimated(f.Read, at)
	if body == nil {
		p.Byte = -1
	}
	return p
}

// differs is the place of a byte of the request.
func (s sent) differs(octet int, at func(int) int) Place {
	p := Place{What: ItemSection, Byte: octet, Kind: ExactPlace}
	if octet < at(0) {
		return p
	}
	n := sort.Search(s.entry, func(i int) bool { return at(i+1) > octet })
	p.What, p.Message = ItemMessage, min(n+1, s.entry)
	if n < len(s.g.Entries) {
		p.Line = s.g.Entries[n].Line
	}
	return p
}

// estimated is the place behind so many tokens of the request.
func (s sent) estimated(tokens int, at func(int) int) Place {
	hidden, front, messages := s.g.shares(s.step)
	p := Place{What: ItemHidden, Kind: EstimatedPlace}
	if tokens < hidden {
		return p
	}
	tokens -= hidden
	if tokens < front {
		p.What, p.Byte = ItemSection, portion(at(0), tokens, front)
		return p
	}
	tokens -= front
	p.What = ItemMessage
	for i, n := range messages {
		p.Message, p.Line = i+1, s.g.Entries[i].Line
		if tokens < n {
			start := at(i)
			p.Byte = start + portion(max(at(i+1)-start, 0), tokens, n)
			return p
		}
		tokens -= n
	}
	p.Byte = at(len(messages))
	return p
}

// shares divides a Step's tokens among what is hidden, what stands before the
// messages, and each message.
func (g *segment) shares(st step) (hidden, front int, messages []int) {
	raw := make([]token.Contents, 2, 2+st.entry)
	raw[0], raw[1] = token.Contents{token.ContentHidden: g.hidden.all()}, g.frontSize
	for _, w := range g.sizes[:st.entry] {
		raw = append(raw, totalOf(w))
	}
	scaled := scale(raw, st.contents)
	messages = make([]int, st.entry)
	for i := range messages {
		messages[i] = scaled[2+i].Total()
	}
	return scaled[0].Total(), scaled[1].Total(), messages
}

// common returns how many bytes two texts begin with alike.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// A sent is a Step with its segment.
type sent struct {
	g *segment
	step
	i    int // of the Step in its segment
	rule catalog.CacheRule
	long int // tokens at the beginning that are kept with the long lifetime
}

// kept returns how much of a prompt the provider has kept, by what was reported.
func (s sent) kept() int {
	u := s.info.Usage
	if s.rule.Marked {
		return u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
	}
	return u.Prompt()
}

// A found is a break before its place was looked for.
type found struct {
	Break
	prev, cur sent
}
