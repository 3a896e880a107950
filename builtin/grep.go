package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// maxMatches is how many matches are shown where a call states no number; the source document's.
const maxMatches = 50

// maxContext is how many lines are shown on a side of a match at most, so that they leave room
// for matches.
const maxContext = 100

// grep answers tool_output_cache_grep.
func grep(ctx context.Context, v *visit) Answer {
	ref := v.args.need("ref_id", "ref", "handle")
	pattern, regex := v.args.text("pattern"), v.args.flag("regex")
	if pattern == "" {
		v.args.keep(errors.New("pattern: want a text, got none"))
	}
	g := grepping{
		before: min(v.args.count("before", 0, 0), maxContext), after: min(v.args.count("after", 0, 0), maxContext),
		most: v.args.count("max_matches", 0, maxMatches),
	}
	if g.most == 0 {
		g.most = maxMatches
	}
	m, err := newMatcher(pattern, regex)
	if err != nil {
		v.args.keep(err)
	}
	return v.read(ctx, ref, func(c Content, ref llm.Ref) (string, error) {
		g.page, g.head, g.place = v.newPage(c), "ref:"+string(ref)+"\n", v.placeName()
		s := scanner{c: c, m: m, clip: v.limits.Line, found: g.found}
		err := s.run(ctx)
		return g.text(v, pattern), err
	})
}

// A grepping is a grep while its matches are printed.
type grepping struct {
	page          *page
	head          string // of each block
	place         string // the argument by which a place in a long line is read
	before, after int64  // lines of context
	most          int64  // matches at most
	shown         int64
	more          bool // there are more than are shown
}

// found prints a match as a block.
func (g *grepping) found(m match) (int64, bool, error) {
	if g.shown == g.most {
		g.more = true
		return 0, false, nil
	}
	head := g.head
	if g.shown > 0 {
		head = "\n" + head
	}
	own := &page{c: g.page.c, room: g.page.room - len(head), clip: g.page.clip, most: g.page.most}
	from, whole, err := g.block(own, m)
	if own.out.Len() > 0 && g.page.add(head+own.out.String()) {
		g.page.clipped = g.page.clipped || own.clipped
		g.shown++
	}
	g.more = !whole
	return from, whole, err
}

// block prints the lines of a match and around it, and returns from where on its line has
// not been shown, and whether all of it had room.
func (g *grepping) block(p *page, m match) (from int64, whole bool, err error) {
	first, to := max(0, m.line-g.before), min(m.line+1+g.after, p.c.Lines())
	if !m.long {
		next, err := p.lines(first, to)
		return m.at, next == to, err
	}
	if next, err := p.lines(first, m.line); err != nil || next < m.line {
		return m.at, false, err
	}
	text, from, err := g.window(p, m)
	if err != nil || !p.add(text) {
		return from, false, err
	}
	next, err := p.lines(m.line+1, to)
	return from, next == to, err
}

// window prints the surroundings of a match in a long line, and returns where they end.
func (g *grepping) window(p *page, m match) (text string, end int64, err error) {
	width := p.clip / 2
	lead := width / 4
	from := max(m.start, m.at-int64(lead*maxRune))
	b := make([]byte, min(m.at-from+int64(width*maxRune), p.c.Size()-from))
	if err := readFull(p.c, b, from); err != nil {
		return "", 0, err
	}
	before, behind := lastRunes(b[:m.at-from], lead), b[m.at-from:]
	if i := bytes.IndexByte(behind, '\n'); i >= 0 {
		behind = withoutBreak(behind[:i+1])
	}
	behind = firstRunes(behind, width-lead)
	place := m.chars - int64(utf8.RuneCount(before))
	if g.place == byBytes {
		place = m.at - int64(len(before))
	}
	text = fmt.Sprintf("%5d  [%s=%d] %s%s\n", m.line+1, g.place, place, shown(before), shown(behind))
	return text, m.at + int64(len(behind)), nil
}

// text returns all that was printed.
func (g *grepping) text(v *visit, pattern string) string {
	if g.shown == 0 && !g.more {
		return noMatches + pattern
	}
	if !g.more {
		return g.page.end(v)
	}
	return g.page.end(v) + fmt.Sprintf("\n\n%s: more matches than the %d shown", truncated, g.shown)
}
