package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A page is an answer while it is printed: numbered lines of a content, up to a bound.
type page struct {
	c       Content
	room    int // bytes that are left
	clip    int // characters of a line at most
	most    int // bytes of a line at most
	out     strings.Builder
	clipped bool // a line was
}

// newPage begins an answer of a visit about a content. Some of the bound is kept for what is
// said below the lines.
func (v *visit) newPage(c Content) *page {
	const foot = 400
	l := v.limits
	return &page{c: c, room: l.Answer - foot, clip: l.Line, most: l.Answer / 2}
}

// add prints what has room, or nothing.
func (p *page) add(s string) bool {
	if len(s) > p.room {
		return false
	}
	p.room -= len(s)
	p.out.WriteString(s)
	return true
}

// lines prints the lines from one to before another, and returns the first that it did not
// print, for want of room.
func (p *page) lines(from, to int64) (int64, error) {
	var r *bufio.Reader
	at := int64(-1) // where r is; negative: there is none for this line
	for n := from; n < to; n++ {
		if at < 0 {
			var err error
			if at, err = p.c.Line(n); err != nil {
				return n, err
			}
			r = bufio.NewReaderSize(io.NewSectionReader(p.c, at, p.c.Size()-at), 64<<10)
		}
		text, err := r.ReadSlice('\n')
		size := int64(len(text))
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // no more of it is needed: the index knows where it ends
			if size, err = lineSize(p.c, n, at); err != nil {
				return n, err
			}
			if n+1 < p.c.Lines() {
				size-- // its line break
			}
			at = -1
		case err != nil && !errors.Is(err, io.EOF):
			return n, err
		default:
			at += size
		}
		if !p.add(p.line(n, text, size)) {
			return n, nil
		}
	}
	return to, nil
}

// lineSize returns the bytes of a line that begins at a place, with its line break.
func lineSize(c Content, n, at int64) (int64, error) {
	next, err := c.Line(n + 1)
	return next - at, err
}

// line prints a line, of which the beginning is at hand, and how long it is.
func (p *page) line(n int64, text []byte, size int64) string {
	return p.labelled(fmt.Sprintf("%5d", n+1), text, size)
}

// labelled prints a line behind a label of five characters.
func (p *page) labelled(label string, text []byte, size int64) string {
	rest := size - int64(len(text))
	text = withoutBreak(text)
	cut := firstRunes(text, p.clip)
	cut = cut[:runeBegin(cut, p.most)]
	rest += int64(len(text) - len(cut))
	if rest == 0 {
		return fmt.Sprintf("%s  %s\n", label, shown(cut))
	}
	p.clipped = true
	return fmt.Sprintf("%s  %s…[+%s bytes]\n", label, shown(cut), commas(rest))
}

// end returns what was printed, and below it what is left to say: notes, and how a clipped
// line is read, if there is a tool for that.
func (p *page) end(v *visit, notes ...string) string {
	if name := v.names[policy.ToolOutputCacheLine]; name != "" && p.clipped {
		notes = append(notes, fmt.Sprintf("[A line that ends in …[+N bytes] goes on: %s reads it.]", name))
	}
	text := strings.TrimSuffix(p.out.String(), "\n")
	for _, n := range notes {
		text += "\n" + n
	}
	return text
}
