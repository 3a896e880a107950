package anthropic

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A payload is one event of a stream as the wire has it: the values of those members
// that are looked at. All are pieces of the payload's text.
type payload struct {
	kind    []byte // the text of type
	index   []byte
	block   []byte
	message []byte
	usage   []byte
	clears  []byte // context_management
	delta   wireDelta
}

// A wireDelta is the delta of a content_block_delta or of a message_delta.
type wireDelta struct {
	whole     []byte
	kind      []byte // the text of type
	text      []byte
	thinking  []byte
	signature []byte
	args      []byte
	citation  []byte
	reason    []byte
}

// readPayload reads data, which is checked.
func readPayload(data []byte) payload {
	var p payload
	c := raw.NewCursor(data)
	c.Object(func(name []byte) {
		switch string(name) {
		case "type":
			p.kind = raw.Name(c.Value())
		case "index":
			p.index = c.Value()
		case "content_block":
			p.block = c.Value()
		case "message":
			p.message = c.Value()
		case "usage":
			p.usage = c.Value()
		case "context_management":
			p.clears = c.Value()
		case "delta":
			p.delta = readDelta(c)
		}
	})
	return p
}

// readDelta reads the delta at c.
func readDelta(c *raw.Cursor) wireDelta {
	var d wireDelta
	start := c.Pos()
	c.Object(func(name []byte) {
		switch string(name) {
		case "type":
			d.kind = raw.Name(c.Value())
		case "text":
			d.text = c.Value()
		case "thinking":
			d.thinking = c.Value()
		case "signature":
			d.signature = c.Value()
		case "partial_json":
			d.args = c.Value()
		case "citation":
			d.citation = c.Value()
		case "stop_reason":
			d.reason = c.Value()
		}
	})
	d.whole = c.Bytes(c.Past(start, nil))
	return d
}

// The spelling of the deltas that nearly all payloads are.
const (
	deltaPrefix = `{"type":"content_block_delta","index":`
	deltaMiddle = `,"delta":`
	textPrefix  = `{"type":"text_delta","text":`
	argsPrefix  = `{"type":"input_json_delta","partial_json":`
	thinkPrefix = `{"type":"thinking_delta","thinking":`
)

// readDeltaPayload reads data if it is a delta in the spelling of the API, in half the
// time of the general way; what is told of it is the same. false if it is not, or not JSON.
func readDeltaPayload(data []byte) (p payload, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(deltaPrefix))
	if !ok {
		return p, false
	}
	n := 0
	for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	p.index = rest[:n]
	if n == 0 || n > 1 && rest[0] == '0' || !bytes.HasPrefix(rest[n:], []byte(deltaMiddle)) {
		return p, false
	}
	rest = rest[n+len(deltaMiddle):]
	p.kind = data[len(`{"type":"`) : len(deltaPrefix)-len(`","index":`)]
	literal, at := p.delta.literalAt(rest)
	if literal == nil || at >= len(rest) || rest[at] != '"' {
		return p, false
	}
	lit := raw.NewCursor(rest[at:]).Value()
	end, ok := closing(rest, at+len(lit))
	if !ok || raw.Check(lit) != nil {
		return p, false
	}
	*literal, p.delta.whole = lit, rest[:end]
	return p, true
}

// literalAt returns the field for the text of the delta that begins b, and where that
// text begins; nil if it is none of the usual ones.
func (d *wireDelta) literalAt(b []byte) (field *[]byte, at int) {
	var prefix string
	switch {
	case bytes.HasPrefix(b, []byte(textPrefix)):
		field, prefix = &d.text, textPrefix
	case bytes.HasPrefix(b, []byte(argsPrefix)):
		field, prefix = &d.args, argsPrefix
	case bytes.HasPrefix(b, []byte(thinkPrefix)):
		field, prefix = &d.thinking, thinkPrefix
	default:
		return nil, 0
	}
	kind := b[len(`{"type":"`):len(prefix)]
	d.kind = kind[:bytes.IndexByte(kind, '"')]
	return field, len(prefix)
}

// closing reports whether b has nothing from at on but two brackets, with white space
// or not (the API pads its payloads), and returns where the first of them ends.
func closing(b []byte, at int) (end int, ok bool) {
	at += raw.Leading(b[at:])
	if at >= len(b) || b[at] != '}' {
		return 0, false
	}
	end = at + 1
	at = end + raw.Leading(b[end:])
	return end, at < len(b) && b[at] == '}' && len(raw.Trim(b[at+1:])) == 0
}
