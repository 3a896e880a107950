package builtin

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// An automaton says which lines a pattern may match, one step for each byte, through a table
// that is made while it is used: package regexp, which says where, is some thirty times slower
// unless the pattern begins with a text. A word boundary counts as there, so that a line
// without a match may be named, but never is one with a match left out.
type automaton struct {
	prog  *syntax.Prog
	sets  []instructions  // of each state
	known map[string]step // the states, by their sets
	table []step          // where each byte leads from each state
	wide  map[wide]step   // where characters of several bytes lead

	start, middle step // where a line begins; behind its beginning
	work          int  // instructions that may still be looked at; below 0 it has given up

	set   instructions // that is being made
	seen  []bool       // of instructions, while a set is made
	stack instructions
}

type instructions = []uint32

// A step leads to a state.
type step = uint16

// A wide is a character that is read in a state.
type wide struct {
	from step
	char rune
}

const (
	unmade step = iota
	found       // a match, as far as that is known
	firstState

	bytesAll  = 256
	mostState = 1000    // a table of 500 kB
	mostWork  = 4 << 20 // some 50 ms, at the end of which the pattern is taken for one of too many states
)

const (
	beginning = syntax.EmptyBeginLine | syntax.EmptyBeginText
	ending    = syntax.EmptyEndLine | syntax.EmptyEndText
	boundary  = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
)

func newAutomaton(prog *syntax.Prog) *automaton {
	a := &automaton{
		prog: prog, known: map[string]step{}, wide: map[wide]step{}, seen: make([]bool, len(prog.Inst)),
		sets: make([]instructions, firstState), table: make([]step, int(firstState)*bytesAll), work: mostWork,
	}
	a.start = a.made(a.follow(a.begin(), uint32(prog.Start), beginning), true) //nolint:gosec // programs are short
	a.middle = a.made(a.follow(a.begin(), uint32(prog.Start), 0), false)       //nolint:gosec // programs are short
	return a
}

// next returns where the first line of some begins that may have a match. The first of them
// may begin before b, the last one end behind it.
func (a *automaton) next(b []byte, first, last bool) (line int, ok bool) {
	at := a.start
	if !first {
		at = a.middle
	}
	i := 0
	for at != found && a.work >= 0 {
		for i < len(b) {
			to := a.table[int(at)*bytesAll+int(b[i])]
			if to <= found {
				break
			}
			at, i = to, i+1
		}
		if i == len(b) {
			if !last || !a.ends(at) {
				return 0, false
			}
			break
		}
		to, size := a.read(at, b[i:])
		if at = to; at != found {
			i += size
		}
	}
	return bytes.LastIndexByte(b[:i], '\n') + 1, true
}

// read returns where a character leads, and its bytes.
func (a *automaton) read(from step, b []byte) (to step, size int) {
	switch c := b[0]; {
	case c == '\n':
		to = a.start
		if a.ends(from) {
			to = found
		}
		a.table[int(from)*bytesAll+int(c)] = to
		return to, 1
	case c == '\r' && len(b) > 1 && b[1] == '\n': // it belongs to the line break
		return from, 1
	case c == '\r':
		return a.wideStep(from, rune(c)), 1
	case c < utf8.RuneSelf:
		to = a.step(from, rune(c))
		a.table[int(from)*bytesAll+int(c)] = to
		return to, 1
	}
	r, size := utf8.DecodeRune(b)
	return a.wideStep(from, r), size
}

// wideStep is step for what is no column of the table.
func (a *automaton) wideStep(from step, r rune) step {
	const most = 1 << 14
	to, ok := a.wide[wide{from, r}]
	if !ok {
		to = a.step(from, r)
		if len(a.wide) < most {
			a.wide[wide{from, r}] = to
		}
	}
	return to
}

// step makes the state in which a character leads.
func (a *automaton) step(from step, r rune) step {
	a.begin()
	matched := false
	for _, pc := range a.sets[from] {
		if in := &a.prog.Inst[pc]; reads(in, r) {
			matched = a.follow(matched, in.Out, 0)
		}
	}
	a.work -= len(a.sets[from])
	return a.made(a.follow(matched, uint32(a.prog.Start), 0), false) //nolint:gosec // programs are short
}

// reads reports whether an instruction takes a character.
func reads(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRune:
		return in.MatchRune(r)
	case syntax.InstRune1:
		return r == in.Rune[0]
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}

// ends reports whether there is a match if the line ends in a state.
func (a *automaton) ends(at step) bool {
	flags := ending
	if at == a.start {
		flags |= beginning
	}
	a.begin()
	matched := false
	for _, pc := range a.sets[at] {
		if in := &a.prog.Inst[pc]; in.Op == syntax.InstEmptyWidth {
			matched = a.follow(matched, pc, flags)
		}
	}
	return matched
}

// begin begins a set; it has no match yet.
func (a *automaton) begin() (matched bool) {
	a.set = a.set[:0]
	clear(a.seen)
	return false
}

// follow adds to the set what can be reached from an instruction without a character, where
// flags hold: instructions that take one, and those that wait for the end of the line. It
// returns whether there is a match, or was one before.
func (a *automaton) follow(matched bool, pc uint32, flags syntax.EmptyOp) bool {
	a.stack = append(a.stack[:0], pc)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.seen[pc] {
			continue
		}
		a.seen[pc] = true
		a.work--
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			switch missing := syntax.EmptyOp(in.Arg) &^ boundary &^ flags; { //nolint:gosec // a set of flags
			case missing == 0:
				a.stack = append(a.stack, in.Out)
			case missing&^ending == 0:
				a.set = append(a.set, pc)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			a.set = append(a.set, pc)
		}
	}
	return matched
}

// made returns the state of the set. The first one is where lines begin, and of no other line.
func (a *automaton) made(matched, first bool) step {
	if matched {
		return found
	}
	slices.Sort(a.set)
	key := make([]byte, 0, 4*len(a.set))
	for _, pc := range a.set {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if at, ok := a.known[string(key)]; ok {
		return at
	}
	if len(a.sets) == mostState {
		a.work = -1
		return found
	}
	at := step(len(a.sets)) //nolint:gosec // at most mostState
	a.sets = append(a.sets, slices.Clone(a.set))
	a.table = append(a.table, make([]step, bytesAll)...)
	if !first {
		a.known[string(key)] = at
	}
	return at
}
