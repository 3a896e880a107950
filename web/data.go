package web

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// data is what the script draws. Series are packed, and texts that return are in one
// list, so that a session of thousands of Steps stays a small file.
type data struct {
	Kind     string      `json:"kind"`
	Contents []string    `json:"contents"`
	Texts    []string    `json:"texts"`
	Groups   []dataGroup `json:"groups"`

	index map[string]int // of Texts
}

// A dataGroup is a group's charts.
type dataGroup struct {
	Name string    `json:"name"`
	Raw  series    `json:"raw"` // tokens of each Step as the client sent it; empty if the runs have nothing else
	Runs []dataRun `json:"runs"`
}

// A dataRun is one chart.
type dataRun struct {
	Policy    int      `json:"p"` // index of the radio button
	Window    int      `json:"w"`
	Limit     int      `json:"limit"` // 0: nobody knows
	Steps     series   `json:"x"`     // numbers of the Steps; empty: 1, 2, 3, …
	Length    int      `json:"n"`     // how many Steps
	By        []part   `json:"by"`
	Read      series   `json:"read"`
	Cost      series   `json:"cost"` // up to each Step, in microdollars
	Paid      int      `json:"paid"` // how many Steps Cost is of: those before the first whose cost is not known
	CostText  string   `json:"usd"`
	Sent      int      `json:"sent"`
	SentRaw   int      `json:"rawsent"` // what the client sent for the same Steps; 0: there is nothing to compare
	StepsOver int      `json:"over"`
	Lost      [][2]int `json:"lost"` // Step, tokens that were no longer in the cache
	Marks     []mark   `json:"marks"`
	Bad       [][2]int `json:"bad"` // Step, index of a text: irreducible, refused
}

// A part is one content's tokens, Step by Step.
type part struct {
	Content int    `json:"c"`
	Tokens  series `json:"t"`
}

// A mark is something that was done at a Step: its number, the indexes of the texts
// rule, kind and why, the count, and the tokens before and after.
type mark [7]int

func newData(kind string) data {
	d := data{Kind: kind, Texts: []string{}, Groups: []dataGroup{}, index: map[string]int{}}
	for c := range token.NumContents {
		d.Contents = append(d.Contents, token.Content(c).String())
	}
	return d
}

// text returns the index of a foreign text.
func (d *data) text(s string) int {
	s = clean(s)
	i, ok := d.index[s]
	if !ok {
		i = len(d.Texts)
		d.index[s] = i
		d.Texts = append(d.Texts, s)
	}
	return i
}

// parts packs the tokens of n Steps by content; by returns those of Step i. What has no
// name here is taken into the first content, so that the sum is kept.
func (d *data) parts(n int, by func(i int) map[string]int) []part {
	tokens := make([][]int, len(d.Contents))
	for c := range tokens {
		tokens[c] = make([]int, n)
	}
	for i := range n {
		rest := total(by(i))
		for c, name := range d.Contents {
			tokens[c][i] = by(i)[name]
			rest -= tokens[c][i]
		}
		tokens[0][i] += rest
	}
	parts := []part{}
	for c, column := range tokens {
		if packed := pack(column); packed != "" {
			parts = append(parts, part{Content: c, Tokens: packed})
		}
	}
	return parts
}

// costs packs amounts of money in microdollars, as sums up to each Step. They end where an
// amount is not known, since a sum with it is not known either: n is how many they are.
func costs(amounts []catalog.Money) (sums series, n int) {
	micro := make([]int, 0, len(amounts))
	sum := catalog.Dollars(0)
	for _, m := range amounts {
		if sum = sum.Add(m); !sum.Known {
			break
		}
		micro = append(micro, int(sum.Pico/1_000_000))
	}
	return pack(micro), len(micro)
}

// A series is a list of integers as text: the difference of each to the one before,
// as a variable-length quantity of base64 digits, the sign in the lowest bit (the
// encoding of source maps, ECMA-426). Where trailing zeros, that is repeated values,
// end the list, they are left out: the reader knows the length.
type series string

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// pack writes a list; one of zeros alone is empty.
func pack(list []int) series {
	var out []byte
	before, end := 0, 0
	for _, n := range list {
		out = appendVLQ(out, n-before)
		if n != before {
			end = len(out)
		}
		before = n
	}
	return series(out[:end])
}

func appendVLQ(out []byte, n int) []byte {
	u := uint64(n) << 1
	if n < 0 {
		u = uint64(-n)<<1 | 1
	}
	for {
		digit := u & 31
		if u >>= 5; u > 0 {
			digit |= 32
		}
		out = append(out, base64Digits[digit])
		if u == 0 {
			return out
		}
	}
}
