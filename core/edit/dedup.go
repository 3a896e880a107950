package edit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// DedupArgs say which repetitions are worth a pointer (grounding: runs of at
// least 4 lines and 60 characters, a saving of 150 permille and 60 tokens).
type DedupArgs struct {
	Lines int  // shortest run
	Chars int  // a run must have more characters than this
	Gain  Gain // what the whole output must save
}

// A Gain is what an edit must save to be made. Both hold.
type Gain struct {
	Tokens   int
	Permille int // of what is replaced
}

// Enough reports whether going from before to after is gain enough.
func (g Gain) Enough(before, after int) bool {
	saved := before - after
	return saved > 0 && saved >= g.Tokens && saved*1000 >= g.Permille*before
}

// A Shown is where lines of an output can be seen in full.
type Shown struct {
	ID   llm.MessageID
	Part int
	Line int // of the first line of the window, from 0
}

// Lines remembers which runs of lines the view shows in full, by the hash of
// every window of n lines. It depends on the outputs that are shown alone, not on what was
// shown before. The zero value is not usable; see [NewLines].
type Lines struct {
	n       int
	windows map[uint64]Shown
	texts   map[Shown][]string // lines of an output, under Line 0
	stale   bool               // windows are those of outputs that went, too
}

// NewLines returns an empty index for runs of at least n lines.
func NewLines(n int) *Lines {
	return &Lines{n: max(n, 1), windows: map[uint64]Shown{}, texts: map[Shown][]string{}}
}

// Add remembers an output that is shown in full. The first place of a run is kept.
func (x *Lines) Add(id llm.MessageID, part int, text string) {
	lines := strings.Split(text, "\n")
	if len(lines) < x.n {
		return
	}
	at := Shown{id, part, 0}
	x.texts[at] = lines
	if !x.stale {
		x.index(at, lines)
	}
}

func (x *Lines) index(at Shown, lines []string) {
	for i, h := range x.hashes(lines) {
		if _, ok := x.windows[h]; !ok {
			x.windows[h] = Shown{at.ID, at.Part, i}
		}
	}
}

// Forget drops an output that is no longer shown in full.
func (x *Lines) Forget(id llm.MessageID, part int) {
	at := Shown{id, part, 0}
	if _, ok := x.texts[at]; ok {
		delete(x.texts, at)
		x.stale = true // a later output may show the same runs
	}
}

// refresh makes the windows anew if an output has gone.
func (x *Lines) refresh() {
	if !x.stale {
		return
	}
	clear(x.windows)
	x.stale = false
	order := func(a, b Shown) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Part, b.Part)) }
	for _, at := range slices.SortedFunc(maps.Keys(x.texts), order) {
		x.index(at, x.texts[at])
	}
}

// A run is lines [from,to) of a new output that source shows already.
type run struct {
	from, to int
	source   Shown
}

// Dedup plans to show the lines of sp that x shows elsewhere as pointers. The
// scene's template is one pointer; {lines} is the length of the run, {source}
// the Ref of the output that shows it and {ref} the output's own. An output with media
// that are all shown elsewhere keeps its text, and a line in the place of each.
func (s Scene) Dedup(sp Spot, x *Lines, a DedupArgs) Plan {
	if len(mediaOf(sp.Result)) > 0 {
		return s.sameMedia(sp, a)
	}
	if !onlyText(s.original(sp)) {
		return Plan{}
	}
	text := s.original(sp).Text()
	all := strings.Split(text, "\n")
	runs := x.runs(all, a.Chars)
	if len(runs) == 0 {
		return Plan{}
	}
	own, _, _ := s.stored(sp)
	var b strings.Builder
	var sources []Blob
	next := 0
	for _, r := range runs {
		writeLines(&b, all[next:r.from])
		src, _ := s.Messages[r.source.ID-1].Parts[r.source.Part].(llm.ToolResult)
		data := Stored(src)
		ref := llm.RefOf(data)
		b.WriteString(Fill(s.Template, Values{Lines: r.to - r.from, Source: ref, Ref: own}))
		b.WriteByte('\n')
		if !slices.ContainsFunc(sources, func(b Blob) bool { return b.Ref == ref }) {
			sources = append(sources, Blob{ref, data})
		}
		next = r.to
	}
	writeLines(&b, all[next:])
	p := s.replace(sp, KindDedup, strings.TrimSuffix(b.String(), "\n"), shownEarlier(len(runs)))
	if e := p.Edits[0]; !a.Gain.Enough(e.Before, e.After) {
		return Plan{}
	}
	for _, src := range sources {
		if src.Ref != own {
			p.Edits[0].Refs = append(p.Edits[0].Refs, src.Ref)
			p.Blobs = append(p.Blobs, src)
		}
	}
	return p
}

// runs finds the longest known runs of lines, from the top.
func (x *Lines) runs(lines []string, chars int) []run {
	var out []run
	x.refresh()
	hashes := x.hashes(lines)
	for i := 0; i < len(hashes); {
		at, ok := x.windows[hashes[i]]
		if !ok {
			i++
			continue
		}
		src := x.texts[Shown{at.ID, at.Part, 0}]
		k := 0
		for i+k < len(lines) && at.Line+k < len(src) && lines[i+k] == src[at.Line+k] {
			k++
		}
		if k < x.n || size(lines[i:i+k]) <= chars {
			i++
			continue
		}
		out = append(out, run{i, i + k, at})
		i += k
	}
	return out
}

func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

func writeLines(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
}

// hashes returns the hash of every window of n lines, each line hashed once; a
// match is compared in full.
func (x *Lines) hashes(lines []string) []uint64 {
	if len(lines) < x.n {
		return nil
	}
	each := make([]uint64, len(lines))
	for i, l := range lines {
		each[i] = hashLine(l)
	}
	out := make([]uint64, len(lines)-x.n+1)
	for i := range out {
		for _, h := range each[i : i+x.n] {
			out[i] = (out[i] ^ h) * fnvPrime
			out[i] ^= out[i] >> 32
		}
	}
	return out
}

// The parameters of FNV-1a, 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hashLine is FNV-1a over eight bytes at a time.
func hashLine(l string) uint64 {
	h := uint64(fnvOffset)
	for len(l) >= 8 {
		word := uint64(l[0]) | uint64(l[1])<<8 | uint64(l[2])<<16 | uint64(l[3])<<24 |
			uint64(l[4])<<32 | uint64(l[5])<<40 | uint64(l[6])<<48 | uint64(l[7])<<56
		h = (h ^ word) * fnvPrime
		h ^= h >> 29
		l = l[8:]
	}
	for i := range len(l) {
		h = (h ^ uint64(l[i])) * fnvPrime
	}
	return h
}

// shownEarlier is the reason of a dedup.
func shownEarlier(runs int) string {
	if runs == 1 {
		return "a run of lines is shown earlier"
	}
	return fmt.Sprintf("%d runs of lines are shown earlier", runs)
}
