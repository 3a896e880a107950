package meter

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A front is what stands before all messages: sections and tools, by component.
type front struct {
	tokens [token.NumComponents]int
	bytes  [token.NumComponents]int
	hidden int // tokens of sections of which only the size is known
}

// front measures sections and tools.
func (s *scale) front(sections []llm.Section, tools []llm.Tool) front {
	var f front
	add := func(c token.Component, size token.Size) {
		f.tokens[c] += size.Tokens
		f.bytes[c] += size.Bytes
	}
	for _, sec := range sections {
		if sec.Tokens > 0 && sec.Text == "" {
			f.hidden += sec.Tokens
			continue
		}
		add(token.ComponentOfSection(sec), token.SizeOfSection(s.counter, sec))
	}
	if len(tools) > 0 {
		add(token.Tools, token.SizeOfTools(s.counter, tools))
	}
	return f
}

// size returns what is measured of f.
func (f front) size() token.Size {
	var size token.Size
	for c := range f.tokens {
		size.Tokens += f.tokens[c]
		size.Bytes += f.bytes[c]
	}
	return size
}

// of returns what is measured of one component.
func (f front) of(c token.Component) token.Size {
	return token.Size{Tokens: f.tokens[c], Bytes: f.bytes[c]}
}

// less returns what f has that o has in another size. The hidden part goes along, as it
// is a part of the whole.
func (f front) less(o front) token.Size {
	var size token.Size
	if f.tokens == o.tokens && f.hidden == o.hidden {
		return size
	}
	for c, n := range f.tokens {
		if n != o.tokens[c] {
			size.Tokens += n
		}
	}
	size.Known = f.hidden
	return size
}

// list returns f as numbers: the hidden tokens, then those of each component, without
// the zeros at the end.
func (f front) list() []int {
	list := append(make([]int, 0, 1+len(f.tokens)), f.hidden)
	list = append(list, f.tokens[:]...)
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// listed returns the front of a list, but for its bytes.
func listed(list []int) front {
	var f front
	for i, n := range list {
		switch {
		case i == 0:
			f.hidden = n
		case i <= len(f.tokens):
			f.tokens[i-1] = n
		}
	}
	return f
}

// prompt returns the tokens of a prompt of f and of messages by the chat template, sure of which are no
// thinking; false if there is more in it than texts, or they are not counted exactly.
func (f front) prompt(by frame, messages token.Size, sure int, g framing) (tokens int, ok bool) {
	more := messages.Media > 0 || messages.Calls > 0 || messages.Results > 0 || sure < messages.Tokens
	if !by.exact || f.hidden > 0 || f.tokens[token.Tools] > 0 || more {
		return 0, false
	}
	tokens = messages.Tokens + g.tokens + by.opening
	if system := f.size().Tokens; system > 0 {
		tokens += system + by.system
	}
	return tokens, true
}
