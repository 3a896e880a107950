package loop

import (
	"slices"
	"strings"
)

// A piece is some lines of an output that belong together: a paragraph with its heading, an
// item of a list with what is indented below it, a fenced block, a run of log lines.
type piece struct {
	lines  []string
	weight int // how much it is missed; the more the better
}

// Weights of pieces. Of the same weight the last ones are kept: an agent comes to its
// conclusions at the end.
const (
	weightNoise  = iota // logs, traces, tables
	weightCode          // a fenced block
	weightPlain         // prose that tells no kind
	weightFirst         // what the output begins with
	weightDone          // what works, the state
	weightNeeded        // what was decided, failed or is to be done; marks of progress
)

// piecesOf takes a text apart. Put together again, its pieces are the text.
func piecesOf(text string) []piece {
	var list []piece
	var open []string // lines of the piece that is being read
	fence, noise := "", false
	flush := func() {
		if len(open) > 0 {
			list = append(list, piece{lines: open, weight: weigh(open, noise)})
		}
		open, noise = nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		mark := fenceOf(bare)
		switch {
		case fence != "":
			open = append(open, line)
			if strings.HasPrefix(mark, fence) && strings.Trim(bare, mark[:1]) == "" {
				fence = ""
				flush()
			}
			continue
		case mark != "":
			if !isHeading(open) {
				flush()
			}
			open, fence = append(open, line), mark
			continue
		case bare == "":
			open = append(open, line)
			if !isHeading(open) {
				flush()
			}
			continue
		case isNoise(bare):
			if !noise {
				flush()
			}
			open, noise = append(open, line), true
			continue
		case noise || isItem(bare) && !strings.HasPrefix(line, " ") && !isHeading(open):
			flush()
		}
		open = append(open, line)
	}
	flush()
	if len(list) > 0 {
		list[0].weight = max(list[0].weight, weightFirst)
	}
	return list
}

// isHeading says whether lines are a heading and nothing else, which belongs to what follows.
func isHeading(lines []string) bool {
	said := 0
	for _, l := range lines {
		if bare := strings.TrimSpace(l); bare != "" {
			if said++; said > 1 || !strings.HasPrefix(bare, "#") && !strings.HasSuffix(bare, ":") {
				return false
			}
		}
	}
	return said == 1
}

// weigh returns how much a piece is missed.
func weigh(lines []string, noise bool) int {
	text := strings.Join(lines, "\n")
	switch {
	case noise || blank(text):
		return weightNoise
	case len(tagsIn(text, progressTag))+len(tagsIn(text, promiseTag)) > 0:
		return weightNeeded
	case slices.ContainsFunc(lines, func(l string) bool { return fenceOf(strings.TrimSpace(l)) != "" }):
		return weightCode
	}
	weight := weightPlain
	for _, u := range unitsIn(text) {
		switch k, _ := cueAt(u); k {
		case failed, decision, next:
			return weightNeeded
		case works, current:
			weight = weightDone
		}
	}
	return weight
}

// gap stands for pieces that were left out.
const gap = "[" + ellipsis + "]"

// edge is how many lines are left at each end of a long piece that has no room as a whole.
const edge = 3

// bySense returns the pieces of a text that are missed most, as many as fit, in their order,
// with a mark for what is between them. Of one that does not fit as a whole its ends are
// taken. Where not even one fits, the text is returned as it is.
func bySense(text string, fits func(string) bool) string {
	if fits(text) {
		return text
	}
	list := piecesOf(text)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := list[b].weight - list[a].weight; d != 0 {
			return d
		}
		return b - a
	})
	kept := make([][]string, len(list))
	// Most pieces come in one stride; what is left is tried one by one, so that a short piece
	// behind a long one has its place.
	n := largest(len(order), func(n int) bool {
		some := make([][]string, len(list))
		for _, i := range order[:n] {
			some[i] = list[i].lines
		}
		return fits(joined(some))
	})
	for _, i := range order[:n] {
		kept[i] = list[i].lines
	}
	for _, i := range order[n:min(len(order), n+mostTries)] {
		for _, lines := range [][]string{list[i].lines, ends(list[i].lines)} {
			kept[i] = lines
			if fits(joined(kept)) {
				break
			}
			kept[i] = nil
		}
	}
	if cut := joined(kept); cut != "" {
		return cut
	}
	return text
}

// mostTries is how many pieces are tried one by one.
const mostTries = 10

// widest is how many characters of a line are left where a piece has no room as a whole.
const widest = 300

// ends returns the first and the last lines of a piece, and of long lines the beginning.
func ends(lines []string) []string {
	if len(lines) > 2*edge {
		lines = slices.Concat(lines[:edge], []string{gap}, lines[len(lines)-edge:])
	}
	short := slices.Clone(lines)
	for i, l := range short {
		if c := clip(l, widest); c != l {
			short[i] = c + ellipsis
		}
	}
	return short
}

// joined puts pieces together; one of no lines was left out.
func joined(list [][]string) string {
	var lines []string
	left := false
	for _, p := range list {
		if len(p) == 0 {
			left = true
			continue
		}
		if left && (len(lines) == 0 || lines[len(lines)-1] != gap) {
			lines = append(lines, gap)
		}
		lines, left = append(lines, p...), false
	}
	if len(lines) == 0 {
		return ""
	}
	if left {
		lines = append(lines, gap)
	}
	return strings.Join(lines, "\n")
}
