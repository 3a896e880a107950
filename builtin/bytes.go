package builtin

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// readBytes answers read_result.
func readBytes(ctx context.Context, v *visit) Answer {
	const page = 4096
	ref := v.args.need("ref_id", "ref", "handle")
	offset, limit := v.args.count("offset", 0, 0), v.args.count("limit", 0, page)
	if limit == 0 {
		limit = page
	}
	return v.read(ctx, ref, func(c Content, _ llm.Ref) (string, error) {
		if offset >= c.Size() {
			return past("It has %s bytes", commas(c.Size())), nil
		}
		b, from, err := wholeRunes(c, span{offset, min(limit, int64(v.newPage(c).room))})
		if err != nil {
			return "", err
		}
		text := shown(b)
		if end := from + int64(len(b)); end < c.Size() {
			text += fmt.Sprintf("\n[Bytes %d to %d of %d. Go on with offset=%d.]", from, end, c.Size(), end)
		}
		return text, nil
	})
}

// wholeRunes reads some bytes, from the beginning of the character in which they begin to
// before the one in which they end, but one at least: pages of any length that
// begin where the page before was meant to end, or did, are the content again.
func wholeRunes(c Content, part span) ([]byte, int64, error) {
	lead := min(part.offset, maxRune-1)
	length := min(lead+part.limit+maxRune, c.Size()-(part.offset-lead))
	b := make([]byte, length)
	if err := readFull(c, b, part.offset-lead); err != nil {
		return nil, 0, err
	}
	start := runeBegin(b, int(lead))
	end := runeBegin(b, int(min(lead+part.limit, length)))
	if end <= start {
		_, size := utf8.DecodeRune(b[start:])
		end = start + size
	}
	return b[start:end], part.offset - lead + int64(start), nil
}
