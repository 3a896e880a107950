package inspect

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A weight is what one part of a message adds to each content, by the counter of
// its segment.
type weight struct {
	token.Contents
	part int // of the message
}

// A sized counter counts a message of one part, whose size is known.
type sized struct {
	token.Counter
	size token.Size
}

// Size implements token.Sizer.
func (s sized) Size(llm.Message) token.Size { return s.size }

// SizePart implements token.Sizer.
func (s sized) SizePart(llm.Part) token.Size { return s.size }

// SizeSection implements token.Sizer.
func (s sized) SizeSection(sec llm.Section) token.Size { return token.SizeOfSection(s.Counter, sec) }

// weigh divides a message of that size by its parts. What a reply's provider reported beyond its
// visible parts is its thinking, whose text the file may not have.
func weigh(e sessionfile.Entry, size token.Size, counter token.Counter, prior int) []weight {
	if len(e.Message.Parts) == 1 {
		counter = sized{counter, size}
	}
	out := make([]weight, len(e.Message.Parts))
	var thinking []int // indices
	visible := 0
	for i, p := range e.Message.Parts {
		one := e.Message
		one.Parts, one.Envelope = e.Message.Parts[i:i+1], llm.Envelope{}
		out[i] = weight{token.ContentsOf(counter, one, false), i}
		if _, ok := p.(llm.Thinking); ok {
			thinking = append(thinking, i)
		} else {
			visible += out[i].Total()
		}
	}
	if e.Step == nil || !e.Step.OutputReported || len(thinking) == 0 {
		return out
	}
	total := e.Step.Usage.Reasoning
	if total == 0 {
		total = max(e.Step.Usage.Output-visible*prior/1000, 0)
	}
	shares := make([]int, len(thinking))
	for k, i := range thinking {
		shares[k] = out[i].Total()
	}
	for k, tokens := range spread(total, shares) {
		out[thinking[k]].Contents = token.Contents{token.ContentThinking: tokens}
	}
	return out
}

// spread divides total in proportion to shares, evenly if all are 0. The parts add
// up to total. Negative figures count as 0.
func spread(total int, shares []int) []int {
	out := make([]int, len(shares))
	sum := 0
	for _, n := range shares {
		sum += max(n, 0)
	}
	done, seen := 0, 0
	for i, n := range shares {
		upTo := 0
		if sum > 0 {
			seen += max(n, 0)
			upTo = portion(total, seen, sum)
		} else {
			upTo = portion(total, i+1, len(shares))
		}
		out[i] = upTo - done
		done = upTo
	}
	return out
}

// portion returns total·part/whole, rounded down, where part is at most whole.
func portion(total, part, whole int) int {
	if total <= 0 || part <= 0 || part > whole {
		return 0
	}
	high, low := bits.Mul64(uint64(total), uint64(part))
	n, _ := bits.Div64(high, low, uint64(whole)) // high < whole, since part is at most whole
	return int(n)
}

// thinkingOf returns the tokens of thinking in a weighed message.
func thinkingOf(weights []weight) int {
	n := 0
	for _, w := range weights {
		n += w.Contents[token.ContentThinking]
	}
	return n
}

// totalOf adds up weights.
func totalOf(weights []weight) token.Contents {
	var sum token.Contents
	for _, w := range weights {
		sum = sum.Add(w.Contents)
	}
	return sum
}

// named returns contents by their names, without those of which there is nothing.
func named(c token.Contents) map[string]int {
	out := map[string]int{}
	for i, n := range c {
		if n != 0 {
			out[token.Content(i).String()] = n
		}
	}
	return out
}
