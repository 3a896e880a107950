package edit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/ground"
)

// An excerpt is what can be shown of an output whose beginning alone says little: both of
// its ends and, between them, the lines that say what went wrong. Data are shown by what
// they are: JSON by its shape, a table by its header and its first rows, what is no text
// by its type and size.
type excerpt struct {
	json    string // all of the output, if it is JSON
	opaque  string // says what the output is, if it is no text
	caption string // says what the lines are, where that is not plain; with its newline
	lines   []numbered
	marks   []int // of lines, those that say what went wrong, the worst kinds first
	longest int   // most bytes of a line; 0: as there is room
	last    int   // the number of the output's last line
}

// A numbered is a line and its number in the output, from 1; 0: it is not known.
type numbered struct {
	n    int
	text string
	// Of a line of which the host read the ends: how long the first of them is, and how
	// many bytes are missing behind it.
	head, missing int
}

// size returns how many bytes the line has.
func (l numbered) size() int { return len(l.text) + l.missing }

// cost returns the most bytes that it takes, with its newline, if it is no longer than most.
func (l numbered) cost(most int) int {
	n := l.size()
	if l.missing > 0 {
		n += len(fmt.Sprintf(middle, n))
	}
	return min(n, most) + 1
}

// middle says how much of a line is left out.
const middle = " […%d bytes…] "

// excerptOf returns the excerpt of an output: of all of it, or of the ends that the host
// read.
func (s Scene) excerptOf(o output, longest int) excerpt {
	x := excerpt{longest: longest}
	size, head, tail := len(o.text), o.text, ""
	if o.isStored() {
		size, head, tail = o.stored.Size, s.Ends.Head, s.Ends.Tail
	}
	if again := len(head) + len(tail) - size; again >= 0 { // together they are all of it
		head, tail = head+tail[min(again, len(tail)):], ""
	}
	if isBinary(head) {
		x.opaque = fmt.Sprintf("[%s, %s: no text]", typeOf(head), sizeName(size))
		return x
	}
	switch {
	case len(head) < size:
		x.partial(head, tail, size, o.stored.Lines)
	case isJSON(head):
		x.json = head
		fallthrough // where no shape has room
	default:
		x.add(head, 1)
	}
	if above, columns := tableOf(x.lines); columns > 0 {
		x.caption = fmt.Sprintf("[a table of %d columns and, below its header, %d rows]\n", columns, x.last-above)
	}
	x.marks = marksOf(x.lines)
	return x
}

// add appends whole lines, of which the first has number n.
func (x *excerpt) add(text string, n int) {
	text = strings.TrimSuffix(text, "\n")
	x.lines = slices.Grow(x.lines, strings.Count(text, "\n")+2) // and one that both ends cut
	for line := range strings.SplitSeq(text, "\n") {
		x.lines = append(x.lines, numbered{n: n, text: unencoded(line)})
		x.last = max(x.last, n)
		if n > 0 {
			n++
		}
	}
}

// partial takes in the ends of an output of so many bytes and lines; 0 lines: the host
// does not know.
func (x *excerpt) partial(head, tail string, size, lines int) {
	broken := size - len(head) - len(tail)
	begin := head[strings.LastIndexByte(head, '\n')+1:]
	if head = head[:len(head)-len(begin)]; head != "" {
		x.add(head, 1)
	}
	end, tail, found := strings.Cut(tail, "\n")
	first := 0
	if lines > 0 {
		first = lines - CountLines(tail) + 1
	}
	if first == x.last+2 { // what both ends cut is one line
		begin, end = wholeRunes(begin), startOfRune(end)
		x.lines = append(x.lines, numbered{n: x.last + 1, text: begin + end, head: len(begin), missing: broken})
	}
	if found && tail != "" {
		x.add(tail, first)
	}
	x.last = max(x.last, lines)
}

// within returns as much of x as fits into so many bytes, in whole lines, with what says
// how many are left out and which; "" if nothing does.
func (x excerpt) within(room int) string {
	if x.opaque != "" {
		return wholeOrNothing(x.opaque, room)
	}
	if x.json != "" {
		if shape, ok := shapeOf(x.json, room); ok {
			return shape
		}
	}
	p := x.pick(room - len(x.caption))
	if p == nil {
		return ""
	}
	if with := x.indexed(room, p); with != "" {
		return with
	}
	return wholeOrNothing(x.caption+p.text(), room)
}

// An index of the names in what is left out takes the place of a tenth of what is shown: what
// an agent can name it can search for.
const (
	indexShare = 10
	leastIndex = 80 // bytes
	mostName   = 80 // bytes
	indexHead  = "[names in what is left out: "
	indexTail  = "]"
)

// indexed returns an excerpt with such an index; "" if p shows all of it or the index has no
// room.
func (x excerpt) indexed(room int, p *picking) string {
	index := room / indexShare
	if index < leastIndex || !slices.Contains(p.kept, false) {
		return ""
	}
	p = x.pick(room - len(x.caption) - index)
	if p == nil {
		return ""
	}
	names := p.hidden(index - len("\n"+indexHead+indexTail))
	if names == "" {
		return ""
	}
	return wholeOrNothing(x.caption+p.text()+"\n"+indexHead+names+indexTail, room)
}

// hidden joins as many names as so many bytes have room for that lines left out have and no
// line that is shown has, in their order.
func (p *picking) hidden(room int) string {
	told := map[string]bool{}
	for i, l := range p.x.lines {
		if p.kept[i] {
			for _, s := range ground.Names(l.text) {
				told[s.Text] = true
			}
		}
	}
	var b strings.Builder
	for i, l := range p.x.lines {
		if p.kept[i] {
			continue
		}
		for _, s := range ground.Names(l.text) {
			if s.Kind == ground.Number || told[s.Text] || len(s.Text) > mostName || b.Len()+len(s.Text)+1 > room {
				continue
			}
			told[s.Text] = true
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func wholeOrNothing(s string, room int) string {
	if len(s) > room {
		return ""
	}
	return s
}

// A picking is which lines of an excerpt are shown.
type picking struct {
	x    excerpt
	kept []bool
	most int // bytes of a line
	gap  int // most bytes of what stands for lines that are left out
	used int // bytes, as if each group of lines stood alone
}

// Lines that go with one that says what went wrong.
const linesBefore, linesAfter = 1, 4

// pick chooses lines for so many bytes: a third for the beginning, a third for the end,
// the rest for what went wrong with what stands around it, and what is left of that for
// the beginning again. It returns nil if no line has room.
func (x excerpt) pick(room int) *picking {
	p := &picking{x: x, kept: make([]bool, len(x.lines)), gap: len(gapOf(x.last, 1, x.last)) + 1}
	whole := len(x.lines) == x.last // what the host did not read leaves a gap
	if p.most = x.widest(room); whole && p.most > 0 && x.size(p.most) <= room {
		p.take(0, len(x.lines), room)
		return p
	}
	const gaps = 3 // behind the beginning, where the host did not read, before the end
	p.used = gaps * p.gap
	if p.most = x.widest(room - p.used); p.most <= 0 {
		return nil
	}
	p.take(0, len(x.lines), p.used+(room-p.used)/3)
	p.takeBack(p.used + (room-p.used)/2)
	p.takeMarks(room)
	p.take(0, len(x.lines), room)
	if p.used == gaps*p.gap {
		return nil
	}
	return p
}

// widest returns how many bytes of a line are shown where there are so many for all: an
// eighth, so that one line does not take the place of all others, and more where the
// others do not need it, or where that is less than a line of text has.
func (x excerpt) widest(room int) int {
	if x.longest > 0 {
		return min(x.longest, room-1)
	}
	const usual = 120
	low, high := max(room/8, min(room/2, usual)), room-1
	if low <= 0 || x.size(low) > room {
		return low
	}
	for low < high {
		if middle := (low + high + 1) / 2; x.size(middle) <= room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// size returns what all lines take if none is longer than that.
func (x excerpt) size(most int) int {
	n := 0
	for _, l := range x.lines {
		n += l.cost(most)
	}
	return n
}

// add keeps line i if the bytes then used are not more than limit.
func (p *picking) add(i, limit int) bool {
	if p.kept[i] {
		return true
	}
	n := p.x.lines[i].cost(p.most)
	if p.used+n > limit {
		return false
	}
	p.kept[i], p.used = true, p.used+n
	return true
}

// take keeps lines [from, to) in their order, until one has no room.
func (p *picking) take(from, to, limit int) {
	for i := max(from, 0); i < min(to, len(p.kept)) && p.add(i, limit); i++ {
	}
}

// takeBack keeps the last lines.
func (p *picking) takeBack(limit int) {
	for i := len(p.kept) - 1; i >= 0 && p.add(i, limit); i-- {
	}
}

// takeMarks keeps the lines that say what went wrong, with those around them.
func (p *picking) takeMarks(limit int) {
	for _, i := range p.x.marks {
		if p.kept[i] {
			continue
		}
		p.used += 2 * p.gap // what the host did not read may lie within
		if !p.add(i, limit) {
			p.used -= 2 * p.gap
			return
		}
		for at := i - 1; at >= max(i-linesBefore, 0) && p.add(at, limit); at-- {
		}
		p.take(i+1, i+1+linesAfter, limit)
	}
}

// text writes what was picked.
func (p *picking) text() string {
	var out []string
	next := 1 // the number of the line that comes next; 0: it is not known
	skipped := false
	for i, l := range p.x.lines {
		if !p.kept[i] {
			skipped = true
			continue
		}
		switch {
		case l.n == 0 && (skipped || next > 0):
			out = append(out, gap)
		case l.n > next && l.n > 0:
			out = append(out, gapOf(l.n-next, next, l.n-1))
		}
		out, skipped = append(out, l.shortened(p.most)), false
		if next = l.n; l.n > 0 {
			next++
		}
	}
	switch {
	case next > 0 && next <= p.x.last:
		out = append(out, gapOf(p.x.last-next+1, next, p.x.last))
	case next == 0 && skipped:
		out = append(out, gap)
	}
	return strings.Join(out, "\n")
}

// gapOf says which lines are left out.
func gapOf(n, from, to int) string {
	if n == 1 {
		return fmt.Sprintf("[… line %d …]", from)
	}
	return fmt.Sprintf("[… %d lines, %d to %d …]", n, from, to)
}

// shortened returns the line without its middle, where it is longer than most bytes.
func (l numbered) shortened(most int) string {
	if l.missing == 0 && len(l.text) <= most {
		return l.text
	}
	begin, end := l.text, l.text
	if l.missing > 0 {
		begin, end = l.text[:l.head], l.text[l.head:]
	}
	room := most - len(fmt.Sprintf(middle, l.size()))
	if room <= 0 {
		return cutBytes(begin, most)
	}
	begin, end = cutBytes(begin, room-room/3), startOfRune(end[max(len(end)-room/3, 0):])
	return begin + fmt.Sprintf(middle, l.size()-len(begin)-len(end)) + end
}
