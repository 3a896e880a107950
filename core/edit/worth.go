package edit

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What a part is worth is how likely a later call refers to it: its kind's weight over the
// Steps since a call last referred to it, plus 3, to the power of 0.7, over its size to the
// power of 0.1. The hazard of reuse in recorded sessions falls about like that, and arguments
// are referred to ten times as often for their size as what a search prints.
const (
	worthAge      = 3
	worthAgeTenth = 7 // tenths of the power of the age
)

// Weights in tenths.
const (
	weightHuman    = 30
	weightSummary  = 30
	weightRead     = 30
	weightEdited   = 15 // of what was read of a file before it was edited: some of it is no longer true
	weightInjected = 20
	weightArgument = 10
	weightOwnText  = 6
)

// worth returns the logarithm of what a part is worth, to base 2 in 1,024ths: fixed-point, so
// that any machine orders alike. size is in tokens.
func worth(weight, age, size int) int {
	return log2(weight) - worthAgeTenth*log2(age+worthAge)/10 - log2(size)/10
}

// log2 returns the logarithm of n, at least that of 1, to base 2 in 1,024ths, rounded down.
func log2(n int) int {
	n = max(n, 1)
	whole := bits.Len(uint(n)) - 1
	m := uint64(n) << 31 >> whole // from 1 to below 2, with 31 places
	out := whole
	for range 10 {
		m = m * m >> 31
		out <<= 1
		if m >= 1<<32 {
			m >>= 1
			out |= 1
		}
	}
	return out
}

// weightOf returns the weight of a part of message m that is no output.
func weightOf(m llm.Message, p llm.Part) int {
	switch {
	case m.Flags.Has(llm.FlagSummary):
		return weightSummary
	case m.Origin == llm.Human:
		return weightHuman
	case m.Role != llm.RoleAssistant:
		return weightInjected
	}
	switch p.(type) {
	case llm.ToolCall:
		return weightArgument
	case llm.Text:
		return weightOwnText
	}
	return 1
}

// LastUse returns the newest Step that had to do with an output. A file that was read is touched
// by each call that names it. The scene needs its Ground.
func (s Scene) LastUse(sp Spot) int {
	_, step := s.outputWorth(sp)
	return step
}

// outputWorth returns the weight of an output and the newest Step that had to do with it.
func (s Scene) outputWorth(sp Spot) (tenths, step int) {
	step = s.Ground.Used(ground.Place{Message: sp.ID, Part: sp.Part})
	kind := kindOf(sp.Tool)
	if !kind.reads {
		return kind.tenths, step
	}
	came := s.Ground.StepOf(sp.ID)
	tenths = weightRead
	if c, ok := s.Turns.CallFor(int(sp.ID)-1, sp.Part); ok {
		call, _ := s.Messages[c.Position].Parts[c.Part].(llm.ToolCall)
		for _, span := range ground.Spans(call) {
			if span.Kind == ground.Path {
				step = max(step, s.Ground.Named(span.Text))
				if s.Ground.Edited(span.Text) >= came {
					tenths = weightEdited
				}
			}
		}
	}
	return tenths, step
}
