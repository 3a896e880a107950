package web

import "slices"

// otherSection is what has no colour of its own in a prompt.
const otherSection = "other"

// sectionClasses are the sections that a chart tells apart, from the bottom up.
var sectionClasses = []string{"goal", "memory", "summary", "earlier", "recent", "messages", otherSection}

// sectionClass returns which of them a section is.
func sectionClass(name string) string {
	if slices.Contains(sectionClasses, name) {
		return name
	}
	return otherSection
}

// section returns the tokens of a class of sections.
func (it LoopIteration) section(class string) (tokens int) {
	for _, s := range it.Sections {
		if sectionClass(s.Name) == class {
			tokens += s.Tokens
		}
	}
	return tokens
}

// A loopChart has a column for each iteration, or for some of them: the tokens of its prompt
// by section, and its score above. It is drawn in the page itself. All places are in pixels.
type loopChart struct {
	Each   int // iterations to a column
	Bars   []bar
	Scores []bar
	Rows   []tick // of tokens
	Ticks  []tick // of iterations
	Keys   []string
}

// A bar is a rectangle.
type bar struct {
	X, Y, Wide, High int
	Class            string
}

// The fields of the chart: the scores above, the tokens below.
const (
	loopLeft, loopRight     = 64, 1064
	scoreTop, scoreBottom   = 8, 68
	tokensTop, tokensBottom = 88, 308
	mostColumns             = 250
)

// Edges returns the fields for the template: left, right, top and bottom of both.
func (loopChart) Edges() [6]int {
	return [6]int{loopLeft, loopRight, scoreTop, scoreBottom, tokensTop, tokensBottom}
}

// charted makes the chart; nil of no iterations. Of several in a column the one with the
// largest prompt is drawn, with the mean of their scores.
func charted(list []LoopIteration) *loopChart {
	if len(list) == 0 {
		return nil
	}
	c := &loopChart{Each: (len(list) + mostColumns - 1) / mostColumns, Keys: sectionClasses}
	columns := slices.Collect(slices.Chunk(list, c.Each))
	most := 1
	for _, it := range list {
		sum := 0
		for _, class := range sectionClasses {
			sum += it.section(class)
		}
		most = max(most, sum)
	}
	step := roundStep(most / 4)
	for at := step; at <= most; at += step {
		c.Rows = append(c.Rows, tick{tokensBottom - (tokensBottom-tokensTop)*at/most, count(at)})
	}
	for i, column := range columns {
		x := loopLeft + (loopRight-loopLeft)*i/len(columns)
		wide := max(1, loopLeft+(loopRight-loopLeft)*(i+1)/len(columns)-x-1)
		if i%((len(columns)+9)/10) == 0 {
			c.Ticks = append(c.Ticks, tick{x + wide/2, count(column[0].Number)})
		}
		c.column(bar{X: x, Wide: wide}, column, most)
	}
	return c
}

// column draws some iterations at a place.
func (c *loopChart) column(at bar, list []LoopIteration, most int) {
	largest, score, class := list[0], 0, "score"
	for _, it := range list {
		score += it.Score
		if it.Prompt > largest.Prompt {
			largest = it
		}
		if it.Interrupted || it.Fault != "" {
			class = "score fault"
		}
	}
	high := max(1, (scoreBottom-scoreTop)*(score/len(list))/1000)
	c.Scores = append(c.Scores, bar{at.X, scoreBottom - high, at.Wide, high, class})
	below := 0
	for _, class := range sectionClasses {
		n := largest.section(class)
		if n == 0 {
			continue
		}
		foot := tokensBottom - (tokensBottom-tokensTop)*below/most
		below += n
		head := tokensBottom - (tokensBottom-tokensTop)*below/most
		if foot > head {
			c.Bars = append(c.Bars, bar{at.X, head, at.Wide, foot - head, class})
		}
	}
}

// roundStep returns the next 1, 2 or 5 times a power of ten.
func roundStep(n int) int {
	for step := 1; ; step *= 10 {
		for _, of := range []int{1, 2, 5} {
			if of*step >= n {
				return of * step
			}
		}
	}
}
