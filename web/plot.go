package web

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/replay"
)

// A plot sets what runs cost against what they keep. It is drawn in the page itself: it
// needs no script. All places are in pixels.
type plot struct {
	Dots    []dot
	Rows    []tick // of what is visible
	Columns []tick // of the cost
}

// A dot is one run.
type dot struct {
	X, Y  int
	Label int  // where its name stands, so that names do not cover each other
	End   bool // the name ends at the dot
	Name  string
}

// A tick is a line with its figure.
type tick struct {
	At   int
	Text string
}

// The field of a plot, and the height of a name.
const (
	plotLeft, plotRight = 56, 700
	plotTop, plotBottom = 16, 236
	plotName            = 14
)

// Edges returns the field for the template: left, top, right, bottom.
func (plot) Edges() [4]int { return [4]int{plotLeft, plotTop, plotRight, plotBottom} }

// plotted makes the plot of a result; nil if it would have less than two dots.
func plotted(res replay.Result) *plot {
	runs := slices.DeleteFunc(slices.Clone(res.Runs), func(r replay.Run) bool { return r.Grounding == nil || r.Grounding.Spans == 0 })
	if len(runs) < 2 {
		return nil
	}
	least, most := million, million
	for _, r := range runs {
		least, most = min(least, visiblePPM(r)), max(most, r.Grounding.Cost.SharePPM)
	}
	least = min(least/100_000, 9) * 100_000 // a tenth is shown at least
	x := func(ppm int) int { return plotLeft + (plotRight-plotLeft)*ppm/most }
	y := func(ppm int) int { return plotBottom - (plotBottom-plotTop)*(ppm-least)/(million-least) }
	p := &plot{}
	for at, step := least, max((million-least)/5, 20_000); at <= million; at += step {
		p.Rows = append(p.Rows, tick{y(at), share(at, million)})
	}
	for at, step := 0, max(most/500_000, 1)*100_000; at <= most; at += step {
		p.Columns = append(p.Columns, tick{x(at), fmt.Sprintf("%d.%d", at/million, at%million/100_000)})
	}
	for _, r := range runs {
		d := dot{X: x(r.Grounding.Cost.SharePPM), Y: y(visiblePPM(r)), Name: clean(r.Policy) + ", " + windowName(r.Window)}
		d.Label, d.End = d.Y, d.X > (plotLeft+2*plotRight)/3
		p.Dots = append(p.Dots, d)
	}
	slices.SortStableFunc(p.Dots, func(a, b dot) int { return a.Y - b.Y })
	for i := 1; i < len(p.Dots); i++ {
		p.Dots[i].Label = max(p.Dots[i].Label, p.Dots[i-1].Label+plotName)
	}
	return p
}

// million is all, in parts per million.
const million = 1_000_000

func visiblePPM(r replay.Run) int {
	return int(int64(r.Grounding.Visible) * million / int64(r.Grounding.Spans))
}
