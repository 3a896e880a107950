package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A scale measures messages, each form of one once.
type scale struct {
	counter token.Counter
	cal     *token.Calibration    // nil: the counter's figures stand as they are
	frame   frame                 // what the chat template puts around messages
	outputs bool                  // tool outputs are measured apart too
	plain   []*measure            // messages as they came, by ID; nil: not measured yet
	forms   map[form]*measure     // in other forms, and notes
	below   *scale                // the one that this one is tried out on; nil: none
	known   map[llm.MessageID]int // replies whose size their usage reported
	parts   map[partKey]token.Size
}

// A measure is what a message takes in one form.
type measure struct {
	token.Size
	outputs token.Size // its tool outputs
	sure    int        // tokens that a provider surely counts: of text, not of thinking or media
}

// item measures an item. Where the size of a reply was reported, that stands in place of
// what is measured.
func (s *scale) item(it placed) *measure {
	m := s.raw(it)
	if s.cal == nil || s.frame.exact || it.IsNote() || len(s.known) == 0 {
		return m
	}
	known, ok := s.known[it.Message.ID]
	if !ok {
		return m
	}
	told := *m
	told.Tokens, told.MediaTokens, told.Plain, told.Calls, told.Known = 0, 0, 0, 0, known
	return &told
}

// raw measures an item by the counter.
func (s *scale) raw(it placed) *measure {
	if it.IsNote() || len(it.Edits) > 0 {
		return s.formed(it)
	}
	id := int(it.Message.ID)
	if id >= len(s.plain) {
		s.plain = append(s.plain, make([]*measure, id+1-len(s.plain))...)
	}
	if s.plain[id] == nil {
		s.plain[id] = s.measure(it.Message)
	}
	return s.plain[id]
}

// formed measures an item that edits made or shaped.
func (s *scale) formed(it placed) *measure {
	f := it.form()
	for at := s; at != nil; at = at.below {
		if m, ok := at.forms[f]; ok {
			return m
		}
	}
	m := s.measure(it.Message)
	s.forms[f] = m
	return m
}

func (s *scale) measure(msg llm.Message) *measure {
	m := &measure{Size: token.SizeOf(s.counter, msg)}
	m.sure = m.Tokens
	for _, p := range msg.Parts {
		if _, thinks := p.(llm.Thinking); thinks {
			m.sure -= token.SizeOfPart(s.counter, p).Tokens
		}
	}
	if s.outputs {
		m.outputs = s.outputsOf(msg)
	}
	return m
}

// forget makes s measure everything anew.
func (s *scale) forget() { s.plain, s.forms = nil, map[form]*measure{} }

// all measures a view without its sections.
func (s *scale) all(items []edit.Item) (size token.Size, sure int) {
	for it := range place(items) {
		m := s.item(it)
		size, sure = size.Add(m.Size), sure+m.sure
	}
	return size, sure
}

// outputsOf measures the tool outputs of m.
func (s *scale) outputsOf(m llm.Message) token.Size {
	var size token.Size
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			size = size.Add(s.part(r))
		}
	}
	return size
}

// tokens returns a size in tokens: calibrated where the scale is.
func (s *scale) tokens(size token.Size) int {
	if s.cal == nil {
		return size.All()
	}
	return size.Tokens*s.cal.Ratio()/1000 + size.MediaTokens + size.Known
}

// on returns a scale to try something out on: it knows what s has measured, and keeps to
// itself what it measures in other forms, whose edits may never be. s may not change as
// long.
func (s *scale) on() scale {
	c := *s
	c.forms, c.below = map[form]*measure{}, s
	return c
}

// The rules look at the same output many times: when it arrives, for each form that it
// may be shown in, and again in each batch. A long one is counted once.
const (
	longPart = 256  // bytes of text from which it is cheaper to look a size up than to count
	maxParts = 1024 // sizes that are held; their texts live as long
)

// A partKey names a part by what a counter looks at: an output of one text, or a text.
type partKey struct {
	call   string
	text   string
	output bool
}

// keyOf reports false for parts that are not worth it, or hold more than a text.
func keyOf(p llm.Part) (partKey, bool) {
	switch p := p.(type) {
	case llm.Text:
		return partKey{text: p.Text}, len(p.Text) >= longPart
	case llm.ToolResult:
		if len(p.Content) == 1 {
			if t, ok := p.Content[0].(llm.Text); ok {
				return partKey{p.CallID, t.Text, true}, len(t.Text) >= longPart
			}
		}
	}
	return partKey{}, false
}

// partTokens returns the tokens of a part.
func (s *scale) partTokens(p llm.Part) int {
	if _, long := keyOf(p); !long {
		return s.tokens(token.TokensOfPart(s.counter, p))
	}
	return s.tokens(s.part(p))
}

// part measures a part as far as its tokens go.
func (s *scale) part(p llm.Part) token.Size {
	key, long := keyOf(p)
	if !long {
		return token.SizeOfPart(s.counter, p)
	}
	size, ok := s.parts[key]
	if !ok {
		size = token.SizeOfPart(s.counter, p)
		if s.parts == nil || len(s.parts) == maxParts {
			s.parts = map[partKey]token.Size{}
		}
		s.parts[key] = size
	}
	return size
}
