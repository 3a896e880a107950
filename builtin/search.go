package builtin

import (
	"context"
	"fmt"
	"strings"
)

// maxHits is how many passages a search shows.
const maxHits = 5

// search answers search_context.
func search(ctx context.Context, v *visit) Answer {
	query := v.args.need("query")
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	hits, err := v.source.Search(ctx, query, maxHits)
	if err != nil {
		return failed(ctx, "", err)
	}
	if len(hits) == 0 {
		return said(noMatches + string(firstRunes([]byte(query), v.limits.Line)))
	}
	p := v.newPage(nil)
	for _, h := range hits {
		if !v.hit(p, h) {
			break
		}
	}
	return said(p.end(v))
}

// hit prints a passage as a grep prints a match, so that it can be read on from there. It
// returns false if it had no room.
func (v *visit) hit(p *page, h Hit) bool {
	head := "ref:" + string(h.Ref)
	if v.placeName() == byBytes {
		head += fmt.Sprintf(" offset=%d", h.Offset)
	}
	if p.out.Len() > 0 {
		head = "\n" + head
	}
	if !p.add(head + "\n") {
		return false
	}
	n := h.Line
	for text := range strings.Lines(h.Text) {
		label := fmt.Sprintf("%5d", n+1)
		if h.Said && n > h.Line {
			label = "     " // it stands in the same line
		}
		if !p.add(p.labelled(label, []byte(text), int64(len(text)))) {
			return false
		}
		n++
	}
	return true
}
