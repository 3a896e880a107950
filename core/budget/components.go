package budget

import "github.com/plimsoll-dev/plimsoll/core/token"

// Components are the tokens of a prompt by what they are for.
type Components struct {
	System  int // system prompt without the following
	Skills  int
	Tools   int // tool definitions
	Summary int
	History int // messages and tool results
	Notes   int
}

// Conversation returns summary, history and notes.
func (c Components) Conversation() int { return c.Summary + c.History + c.Notes }

// Used returns everything.
func (c Components) Used() int { return c.System + c.Skills + c.Tools + c.Conversation() }

// Of returns one of them.
func (c Components) Of(of token.Component) int {
	switch of {
	case token.System:
		return c.System
	case token.Skills:
		return c.Skills
	case token.Tools:
		return c.Tools
	case token.Summary:
		return c.Summary
	case token.History:
		return c.History
	case token.Notes:
		return c.Notes
	}
	return 0
}

// Largest returns the component with the most tokens, the first of equals.
func (c Components) Largest() token.Component {
	largest := token.System
	for i := range token.NumComponents {
		if of := token.Component(i); c.Of(of) > c.Of(largest) {
			largest = of
		}
	}
	return largest
}

// Scaled returns c with its total changed to total, in proportion; what rounding leaves over goes
// to the largest. Components of nothing stay as they are.
func (c Components) Scaled(total int) Components {
	sum := c.Used()
	if sum <= 0 || total < 0 {
		return c
	}
	of := func(n int) int { return int(int64(n) * int64(total) / int64(sum)) }
	out := Components{
		System: of(c.System), Skills: of(c.Skills), Tools: of(c.Tools), Summary: of(c.Summary), History: of(c.History), Notes: of(c.Notes),
	}
	left := total - out.Used()
	switch c.Largest() {
	case token.Skills:
		out.Skills += left
	case token.Tools:
		out.Tools += left
	case token.Summary:
		out.Summary += left
	case token.History:
		out.History += left
	case token.Notes:
		out.Notes += left
	default:
		out.System += left
	}
	return out
}
