package budget

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// Components are the tokens of a prompt by what they are for (R002-1).
type Components struct {
	System  int // system prompt without the following
	Skills  int
	Tools   int // tool definitions
	Summary int
	History int // messages and tool results
	Notes   int
}

// Conversation returns summary, history and notes (R002-1).
func (c Components) Conversation() int { return c.Summary + c.History + c.Notes }

// Used returns everything (R002-2).
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

// ComponentsOf returns what is booked in l, media included.
func ComponentsOf(l *token.Ledger) Components {
	return Components{
		System:  l.Sum(token.System).All(),
		Skills:  l.Sum(token.Skills).All(),
		Tools:   l.Sum(token.Tools).All(),
		Summary: l.Sum(token.Summary).All(),
		History: l.Sum(token.History).All(),
		Notes:   l.Sum(token.Notes).All(),
	}
}

// Measure counts a whole request by c (R002-3). Text in a section of kind
// skills is not counted again under system. It costs the length of the request;
// an engine keeps a token.Ledger instead.
func Measure(c token.Counter, r llm.Request) Components {
	var l token.Ledger
	for _, s := range r.Sections {
		l.Append(token.ComponentOfSection(s), token.SizeOfSection(c, s))
	}
	if len(r.Tools) > 0 {
		l.Append(token.Tools, token.SizeOfTools(c, r.Tools))
	}
	for _, m := range r.Messages {
		l.Append(token.ComponentOf(m), token.SizeOf(c, m))
	}
	return ComponentsOf(&l)
}

// A Budget compares components with what is left for them (R002-1, R002-2).
type Budget struct {
	Total           int // tokens of prompt and output together
	MaxOutputTokens int // reserved for the reply
	Components
}

// EffectiveWindow returns the total less the output, at least 0.
func (b Budget) EffectiveWindow() int { return max(0, b.Total-b.MaxOutputTokens) }

// UsedTokens returns the sum of all components.
func (b Budget) UsedTokens() int { return b.Used() }

// Remaining returns the effective window less what is used; negative where too
// much is.
func (b Budget) Remaining() int { return b.EffectiveWindow() - b.UsedTokens() }

// UsedPermille returns the used share of the effective window, rounded down:
// 1,000 times the document's fraction. It is 1,000 where the window is 0.
func (b Budget) UsedPermille() int {
	window := b.EffectiveWindow()
	if window == 0 {
		return 1000
	}
	return ratio(b.UsedTokens(), window)
}

// The shares of the effective window above which the layered document acts, in
// permille (R002-9, R002-23).
const (
	CompactAt = 950
	BlockAt   = 980
	NoteAt    = 800
)

// Over reports whether more than a share of the effective window is used. The
// comparison is strict, with the threshold rounded down (R002-3).
func (b Budget) Over(permille int) bool {
	return Threshold{Base: b.EffectiveWindow(), Permille: permille}.Reached(b.UsedTokens())
}

// ShouldCompact reports whether more than 95 % is used (R002-9).
func (b Budget) ShouldCompact() bool { return b.Over(CompactAt) }

// IsBlocked reports whether more than 98 % is used, so that the prompt must
// shrink before a Human message is taken (R002-10).
func (b Budget) IsBlocked() bool { return b.Over(BlockAt) }

// Exceeds reports whether more than everything is used (R002-10).
func (b Budget) Exceeds() bool { return b.UsedTokens() > b.EffectiveWindow() }

// A Threshold is a share of a base, clamped.
type Threshold struct {
	Base      int
	Permille  int
	Min, Max  int  // bounds in tokens; 0: none
	Inclusive bool // reached at the threshold itself (R001-14), else only above it (R000-4)
}

// At returns the threshold in tokens, rounded down. With a quarter of the
// window, at least 20,000 and at most 60,000, it is the budget of R001-2.
func (t Threshold) At() int {
	at := Share(t.Base, t.Permille)
	if t.Max > 0 {
		at = min(at, t.Max)
	}
	if t.Min > 0 {
		at = max(at, t.Min)
	}
	return at
}

// Reached reports whether used is at or above the threshold, as it says.
func (t Threshold) Reached(used int) bool {
	if t.Inclusive {
		return used >= t.At()
	}
	return used > t.At()
}

// ratio returns part * 1000 / whole, rounded down, for a whole above 0.
func ratio(part, whole int) int { return part/whole*1000 + part%whole*1000/whole }
