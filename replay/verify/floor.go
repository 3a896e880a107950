package verify

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// FloorOptions say how a floor is computed.
type FloorOptions struct {
	Counter *Counter
	// Pins are the messages that the policy never removes. Which messages a person
	// typed and which carry rules cannot be told from a body.
	Pins []Pin
	// Stub is the one line that is shown for an output; {ref}, {tool}, {bytes} and
	// {lines} are filled in. An output that is smaller stays.
	Stub string
}

// A Pin names a pinned message by a prefix of one of its texts or, if that is empty,
// by its index in the body's list.
type Pin struct {
	Message int
	Prefix  string
}

// A Floor is what no edit can take out of a raw View (DESIGN.md section 2), in tokens
// of text by the counter. Nothing is counted twice: what is pinned and in the newest
// Round is booked under the newest Round. Media, what a provider adds for a message
// and signatures are not counted as tokens; the numbers below are for the caller to
// price them.
type Floor struct {
	System, Tools, Pins, OpenCalls, NewestRound int

	Messages int // that something is left of, without the system prompt
	Calls    int
	Results  int
	Media    int // also those inside texts that stay
	Bytes    int // of the parts that stay, as they would be written
}

// Total returns the tokens of the floor.
func (f Floor) Total() int { return f.System + f.Tools + f.Pins + f.OpenCalls + f.NewestRound }

// FloorOf computes the irreducible floor of one raw body; see [Checker.Floor].
func FloorOf(dialect string, raw []byte, o FloorOptions) (Floor, error) {
	c, err := NewChecker(dialect)
	if err != nil {
		return Floor{}, err
	}
	return c.Floor(raw, o)
}

// Floor recomputes the irreducible floor of a raw body: the system prompt and tools,
// the pinned messages, the messages with calls that have no result, and the newest
// Round with its arguments whole and each output reduced to a line. System messages
// at the front of the list are system prompt.
func (c *Checker) Floor(raw []byte, o FloorOptions) (Floor, error) {
	if o.Counter == nil {
		return Floor{}, errors.New("verify: floor: want a counter, got none")
	}
	if err := c.next(&c.raw, raw); err != nil {
		return Floor{}, err
	}
	s := &survey{FloorOptions: o, list: c.raw.list, items: c.dialect.list == "input", taken: map[Place]bool{}}
	s.message(&s.f.System, systemAt)
	s.message(&s.f.Tools, toolsAt)
	for i := headLen; i < len(s.list) && isSystem(s.list[i].Role); i++ {
		s.message(&s.f.System, i)
	}
	calls, open := pairs(s.list)
	s.round(calls)
	for i := range s.list {
		if open[i] {
			s.message(&s.f.OpenCalls, i)
		}
	}
	for i := range s.list {
		s.pins(i)
	}
	s.f.Messages = s.messages()
	return s.f, s.err
}

// A survey is a floor under way.
type survey struct {
	FloorOptions
	list  []*message
	items bool           // a reply is a row of items, not one message
	taken map[Place]bool // what was booked; places count from the head of list
	f     Floor
	err   error
}

// messages counts the messages that something is left of.
func (s *survey) messages() int {
	n := 0
	for i, m := range s.list[headLen:] {
		if isSystem(m.Role) {
			continue
		}
		for k := range m.pieces {
			if s.taken[Place{i + headLen, k}] {
				n++
				break
			}
		}
	}
	return n
}

// pins books what is pinned of a message: the texts that begin like a pin or, by its
// index, everything but its results.
func (s *survey) pins(i int) {
	for n, p := range s.list[i].pieces {
		pinned := slices.ContainsFunc(s.Pins, func(pin Pin) bool {
			if pin.Prefix == "" {
				return pin.Message == i-headLen && p.Kind != Result
			}
			return p.Kind == Text && strings.HasPrefix(p.Text, pin.Prefix)
		})
		if pinned {
			s.book(&s.f.Pins, i, n)
		}
	}
}

// message books a message.
func (s *survey) message(in *int, i int) {
	for n := range s.list[i].pieces {
		s.book(in, i, n)
	}
}

// book adds a part, unless it was added before.
func (s *survey) book(in *int, i, n int) {
	if s.taken[Place{i, n}] {
		return
	}
	s.taken[Place{i, n}] = true
	p := s.list[i].pieces[n]
	s.f.Bytes += len(p.Raw)
	switch {
	case p.Kind == Media:
		s.f.Media++
	case p.Kind == Result && !p.Hosted:
		s.f.Results++
		*in += s.output(p)
	case p.Kind == Call:
		s.f.Calls++
		*in += s.count(p.Name) + s.count(p.Text)
	case p.Kind == Text || p.Kind == Thinking:
		*in += s.count(p.Text)
	default:
		*in += s.count(string(p.Raw))
	}
}

// output returns the tokens of an output at the floor.
func (s *survey) output(p *piece) int {
	stub := strings.NewReplacer(
		"{ref}", p.names()[0], "{tool}", s.toolOf(p.CallID),
		"{bytes}", strconv.Itoa(len(p.Text)), "{lines}", strconv.Itoa(strings.Count(p.Text, "\n")+1),
	).Replace(s.Stub)
	whole, line := s.count(p.Text), s.count(stub)
	_, isText := oneText(p.Value)
	if isText && whole <= line {
		return whole
	}
	s.f.Bytes += len(stub) - len(p.Value)
	return line
}

// toolOf returns the name of the tool of the latest call of this id.
func (s *survey) toolOf(id string) string {
	for _, m := range slices.Backward(s.list) {
		for _, p := range m.pieces {
			if p.Kind == Call && p.CallID == id {
				return p.Name
			}
		}
	}
	return ""
}

func (s *survey) count(t string) int {
	n, err := s.Counter.Text(t)
	if s.err == nil {
		s.err = err
	}
	return n
}

// round books the newest Round: the newest message of the assistant with calls, and
// their results.
func (s *survey) round(calls map[int][]Place) {
	for i := len(s.list) - 1; i >= headLen; i-- {
		results, ok := calls[i]
		if !ok {
			continue
		}
		s.message(&s.f.NewestRound, i)
		for k := i - 1; s.items && k >= headLen && s.list[k].Role == roleAssistant; k-- {
			s.message(&s.f.NewestRound, k)
			results = append(results, calls[k]...)
		}
		for _, r := range results {
			s.book(&s.f.NewestRound, r.Message, r.Part)
		}
		return
	}
}

// pairs returns, for every message with calls, the places of their results, and
// which messages have calls without one.
func pairs(list []*message) (calls map[int][]Place, open map[int]bool) {
	calls, open = map[int][]Place{}, map[int]bool{}
	waiting := map[string][]int{}
	for i, m := range list {
		for n, p := range m.pieces {
			switch {
			case p.Hosted:
			case p.Kind == Call:
				if _, ok := calls[i]; !ok {
					calls[i] = nil // no result so far
				}
				waiting[p.CallID] = append(waiting[p.CallID], i)
			case p.Kind == Result:
				if at := waiting[p.CallID]; len(at) > 0 {
					from := at[len(at)-1]
					waiting[p.CallID] = at[:len(at)-1]
					calls[from] = append(calls[from], Place{i, n})
				}
			}
		}
	}
	for _, at := range waiting {
		for _, i := range at {
			open[i] = true
		}
	}
	return calls, open
}
