package console

import (
	"strconv"
	"testing"
)

// A long chart has a line for each stretch, with its largest bar in it.
func TestChartOfManyBars(t *testing.T) {
	const bars = 1_000
	c := Chart{What: "step", Marks: []Mark{{Name: "outputs", Letter: "o"}}, Width: 80}
	for i := range bars {
		n := i % 100 * 10
		c.Bars = append(c.Bars, Bar{Name: strconv.Itoa(i), Total: n, Parts: []int{n}})
	}
	rows := c.largest()
	if len(rows) != mostRows {
		t.Fatalf("want %d lines, got %d", mostRows, len(rows))
	}
	for i, r := range rows {
		from, to := i*bars/mostRows, (i+1)*bars/mostRows
		at, _ := strconv.Atoi(r.Name)
		for _, b := range c.Bars[from:to] {
			if at < from || at >= to || b.Total > r.Total {
				t.Errorf("line %d, of bars %d to %d: want the largest, got bar %d of %d tokens", i, from, to-1, at, r.Total)
			}
		}
	}
}
