package verify

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
)

// A Checker compares the bodies of one session. It remembers what it has read.
// It is not safe for concurrent use.
type Checker struct {
	dialect
	raw, edited track
	seed        maphash.Seed
	read        map[uint64][]*message // every message read so far, by the hash of its bytes
	ids         map[[32]byte]int      // every part read so far
	blobs       map[string]*blob      // what was loaded and matches its Ref
	shown       map[[2]*piece]bool    // results that were expanded
	reach       *reach                // the last one, for the next comparison
	found       map[sourced]bool      // parts that a session file has
}

// NewChecker returns a Checker for bodies of one dialect; see [Dialects].
func NewChecker(dialect string) (*Checker, error) {
	d, err := dialectOf(dialect)
	if err != nil {
		return nil, err
	}
	return &Checker{
		dialect: d, seed: maphash.MakeSeed(),
		read: map[uint64][]*message{}, ids: map[[32]byte]int{}, blobs: map[string]*blob{},
		shown: map[[2]*piece]bool{}, found: map[sourced]bool{},
	}, nil
}

// A message is a Message with what is known of its parts.
type message struct {
	Message
	pieces []*piece
}

// A piece is a part with what is known of it. Pieces of equal bytes that were read
// by one Checker are one.
type piece struct {
	Part
	role string
	id   int      // equal for parts that are the same
	refs []string // see words
	own  []string // see names
}

// A track is the last body of a row of bodies.
type track struct {
	body  []byte
	frame frame
	list  []*message // system prompt, tools, then the messages
	parts int
}

// The places of the system prompt and the tools in a track's list.
const (
	systemAt = iota
	toolsAt
	headLen
)

// next reads body as the next one of t. What it has in common with the last one is
// taken over.
func (c *Checker) next(t *track, body []byte) error {
	same := common(t.body, body)
	if len(t.list) > 0 && same == len(body) && same == len(t.body) {
		return nil
	}
	var old *frame
	if len(t.list) > 0 {
		old = &t.frame
	}
	f, err := c.frame(body, old, same)
	if err != nil {
		return err
	}
	n := track{body: body, frame: f, list: make([]*message, headLen, headLen+len(f.each))}
	n.list[systemAt] = c.message("system", f.system)
	n.list[toolsAt] = c.message("tools", f.tools)
	for i, s := range f.each {
		if i+headLen < len(t.list) && s.end <= same && i < len(t.frame.each) && s == t.frame.each[i] {
			n.list = append(n.list, t.list[i+headLen])
			continue
		}
		n.list = append(n.list, c.message("message", s.of(body)))
	}
	if f.listAt < 0 {
		n.list = append(n.list, c.message("string", f.text))
	}
	for _, m := range n.list {
		n.parts += len(m.pieces)
	}
	*t = n
	return nil
}

// common returns how many bytes a and b have in common at the beginning.
func common(a, b []byte) int {
	const block = 4096
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// message reads one message, or finds the one of the same bytes. It keeps a copy, so
// that it does not hold the body.
func (c *Checker) message(what string, raw []byte) *message {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(what)
	_, _ = h.Write(raw)
	sum := h.Sum64()
	for _, m := range c.read[sum] {
		if bytes.Equal(m.Raw, raw) {
			return m
		}
	}
	raw = bytes.Clone(raw)
	m := &message{}
	switch what {
	case "system":
		m.Message = Message{roleSystem, raw, systemParts(raw)}
	case "tools":
		m.Message = Message{"tools", raw, toolParts(raw)}
	case "string":
		m.Message = stringMessage(raw)
	default:
		m.Message = c.dialect.message(raw)
	}
	for _, p := range m.Parts {
		m.pieces = append(m.pieces, &piece{Part: p, role: m.Role, id: c.identify(m.Role, p)})
	}
	c.read[sum] = append(c.read[sum], m)
	return m
}

// identify returns the number of a part: the same for parts that are the same.
func (c *Checker) identify(role string, p Part) int {
	h := sha256.New()
	h.Write([]byte(role))
	if v := plain(p); v != nil {
		h.Write([]byte{0, 't', 0})
		h.Write(v)
	} else {
		h.Write([]byte{0, 'r', 0})
		h.Write(without(p.Raw, "cache_control"))
	}
	sum := [32]byte(h.Sum(nil))
	id, ok := c.ids[sum]
	if !ok {
		id = len(c.ids)
		c.ids[sum] = id
	}
	return id
}

// plain returns the JSON string of a text that says nothing else, whether it is a
// block or stands for a whole content; nil for any other part.
func plain(p Part) []byte {
	if p.Kind != Text || p.Value == nil {
		return nil
	}
	for _, m := range members(p.Raw) {
		if m.name != "type" && m.name != "text" && m.name != "cache_control" {
			return nil
		}
	}
	return p.Value
}
