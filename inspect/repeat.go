package inspect

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What counts as repeated: the same as balanced takes out at arrival (DESIGN.md
// section 7).
const (
	leastRun   = 4  // lines
	leastChars = 60 // characters that are not blank, in a run; above
)

// A shown is where lines of an output are.
type shown struct{ output, line int }

// A lineIndex remembers which runs of lines the outputs of one context show.
type lineIndex struct {
	seed    maphash.Seed
	windows map[uint64]shown // first place of every run of leastRun lines
	wholes  map[string]int   // whole outputs of fewer lines
	texts   [][]string       // lines of each output
	places  []place
}

func newLineIndex() *lineIndex {
	return &lineIndex{seed: maphash.MakeSeed(), windows: map[uint64]shown{}, wholes: map[string]int{}}
}

// hashes returns the hash of every window of leastRun lines; a match is compared in
// full.
func (x *lineIndex) hashes(lines []string) []uint64 {
	if len(lines) < leastRun {
		return nil
	}
	each := make([]uint64, len(lines))
	for i, l := range lines {
		each[i] = maphash.String(x.seed, l)
	}
	const prime = 1099511628211 // of FNV-1a, 64 bits
	out := make([]uint64, len(lines)-leastRun+1)
	for i := range out {
		for _, h := range each[i : i+leastRun] {
			out[i] = (out[i] ^ h) * prime
			out[i] ^= out[i] >> 32
		}
	}
	return out
}

// A run is so many lines from a line of an output on that source shows already.
type run struct {
	from, lines int
	source      shown
}

// runs finds what an output repeats, and then remembers the output.
func (x *lineIndex) runs(at place, text string) []run {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	id := len(x.texts)
	x.texts, x.places = append(x.texts, lines), append(x.places, at)
	if len(lines) < leastRun {
		return x.whole(id, text, lines)
	}
	var out []run
	hashes := x.hashes(lines)
	for i := 0; i < len(hashes); {
		src, ok := x.windows[hashes[i]]
		if !ok {
			i++
			continue
		}
		n := x.common(lines[i:], src)
		if n >= leastRun && visible(lines[i:i+n]) > leastChars {
			out = append(out, run{i, n, src})
			i += n
			continue
		}
		i += max(n-leastRun+1, 1) // so that long blank runs are gone through once
	}
	for i, h := range hashes {
		if _, ok := x.windows[h]; !ok {
			x.windows[h] = shown{id, i}
		}
	}
	return out
}

// whole finds an equal output among those of few lines.
func (x *lineIndex) whole(id int, text string, lines []string) []run {
	if visible(lines) <= leastChars {
		return nil
	}
	if earlier, ok := x.wholes[text]; ok {
		return []run{{0, len(lines), shown{earlier, 0}}}
	}
	x.wholes[text] = id
	return nil
}

// common returns how many lines are the same as those from src on.
func (x *lineIndex) common(lines []string, src shown) int {
	n := 0
	for other := x.texts[src.output][src.line:]; n < len(lines) && n < len(other) && lines[n] == other[n]; {
		n++
	}
	return n
}

// visible returns the bytes of lines without the blanks around them.
func visible(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(strings.TrimSpace(l))
	}
	return n
}

// repeats lists what outputs show that an earlier output of the same segment shows.
func (r *reading) repeats() {
	found := map[[2]key]*Repeat{}
	var order []*Repeat
	for _, g := range r.segments {
		carried, x := r.carriages(g), newLineIndex()
		g.eachResult(func(at place, res llm.ToolResult) {
			if !onlyText(res) {
				return
			}
			for _, rep := range g.repeatsOf(at, res, x) {
				src := x.places[rep.source]
				k := [2]key{g.keyOf(at), g.keyOf(src)}
				p, ok := found[k]
				if !ok {
					p = g.repeat(at, res, rep, x)
					p.StepRef = StepRef{g.number, min(carried[at.entry].first+1, len(g.steps))}
					found[k] = p
					order = append(order, p)
				}
				p.add(carried[at.entry], rep.tokens)
			}
		})
	}
	for _, p := range order {
		r.report.Totals.Repeated += p.Tokens
	}
	slices.SortStableFunc(order, func(a, b *Repeat) int {
		return cmp.Or(cmp.Compare(known(b.CostUSD), known(a.CostUSD)), cmp.Compare(b.Carried, a.Carried), cmp.Compare(b.Tokens, a.Tokens))
	})
	for _, p := range order[:min(len(order), r.o.top())] {
		r.report.Repeated = append(r.report.Repeated, *p)
	}
}

// A repetition is all that one output repeats of one earlier one.
type repetition struct {
	source int // output of the index
	first  run
	lines  int
	tokens int
}

// repeatsOf finds what a result repeats, by the outputs that show it.
func (g *segment) repeatsOf(at place, res llm.ToolResult, x *lineIndex) []repetition {
	var out []repetition
	runs := x.runs(at, res.Text())
	lines := x.texts[len(x.texts)-1]
	for _, u := range runs {
		i := slices.IndexFunc(out, func(r repetition) bool { return r.source == u.source.output })
		if i < 0 {
			i = len(out)
			out = append(out, repetition{source: u.source.output, first: u})
		}
		out[i].lines += u.lines
		counted := g.counter.Text(strings.Join(lines[u.from:u.from+u.lines], "\n"))
		size, whole := g.sizes[at.entry][at.part].Total(), g.weights[at.entry][at.part].Total()
		out[i].tokens += portion(size, min(counted, whole), whole)
	}
	return out
}

func (g *segment) repeat(at place, res llm.ToolResult, rep repetition, x *lineIndex) *Repeat {
	src := x.places[rep.source]
	call := g.callOf(src)
	p := &Repeat{
		Output: *g.output(at, res, carriage{}), Lines: rep.lines, From: rep.first.from + 1,
		Whole: rep.lines == len(x.texts[len(x.texts)-1]),
		Earlier: Source{
			Tool: call.Name, Arguments: firstLine(call.Args), Line: g.Entries[src.entry].Line, From: rep.first.source.line + 1,
		},
	}
	p.Tokens = rep.tokens
	return p
}

// onlyText reports whether nothing but text is in a result.
func onlyText(res llm.ToolResult) bool {
	return !slices.ContainsFunc(res.Content, func(p llm.Part) bool {
		_, ok := p.(llm.Text)
		return !ok
	})
}
