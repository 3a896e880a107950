package builtin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// readLines answers tool_output_cache.
func readLines(ctx context.Context, v *visit) Answer {
	ref := v.args.need("ref_id", "ref", "handle")
	offset, limit := v.args.count("offset", 0, 0), v.args.count("limit", 0, 0)
	return v.read(ctx, ref, func(c Content, _ llm.Ref) (string, error) {
		lines := c.Lines()
		if offset >= lines {
			return past("It has %s lines", commas(lines)), nil
		}
		to := lines
		if limit > 0 {
			to = min(saturated(offset, limit), lines)
		}
		p := v.newPage(c)
		next, err := p.lines(offset, to)
		if next < lines {
			return p.end(v, fmt.Sprintf("[Lines %d to %d of %d. Go on with offset=%d.]", offset+1, next, lines, next)), err
		}
		return p.end(v), err
	})
}

// How much of a line is given, in characters.
const (
	lineChars    = 10_000
	maxLineChars = 100_000
)

// readLine answers tool_output_cache_line.
func readLine(ctx context.Context, v *visit) Answer {
	ref := v.args.need("ref_id", "ref", "handle")
	if _, ok := v.args.field("line_number"); !ok {
		v.args.keep(errors.New("line_number: want a whole number of 1 or more, got none"))
	}
	n := v.args.count("line_number", 1, 1) - 1
	offset, limit := v.args.count("char_offset", 0, 0), v.args.count("char_limit", 0, lineChars)
	if limit == 0 {
		limit = lineChars
	}
	return v.read(ctx, ref, func(c Content, _ llm.Ref) (string, error) {
		if n >= c.Lines() {
			return past("It has %s lines", commas(c.Lines())), nil
		}
		return v.partOfLine(ctx, c, n, span{offset, min(limit, maxLineChars)})
	})
}

// partOfLine prints some characters of a line.
func (v *visit) partOfLine(ctx context.Context, c Content, n int64, part span) (string, error) {
	at, err := c.Line(n)
	if err != nil {
		return "", err
	}
	size, err := lineSize(c, n, at)
	if err != nil {
		return "", err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(c, at, size), 64<<10)
	skipped, err := skipRunes(ctx, r, part.offset)
	if err != nil {
		return "", err
	}
	if skipped < part.offset {
		return past("Line %d has %s characters", n+1, commas(skipped)), nil
	}
	p := v.newPage(c)
	text, taken, more, err := takeRunes(r, int(part.limit), p.room)
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf("%5d  %s", n+1, text)
	if part.offset == 0 && !more {
		return head, nil
	}
	foot := fmt.Sprintf("\n[Characters %d to %d of line %d, which has %s bytes.", part.offset+1, part.offset+taken, n+1, commas(size))
	if more {
		foot += fmt.Sprintf(" Go on with char_offset=%d.", part.offset+taken)
	}
	return head + foot + "]", nil
}

// skipRunes passes over n characters, as far as there are: a line break is none.
func skipRunes(ctx context.Context, r *bufio.Reader, n int64) (int64, error) {
	for done := int64(0); ; {
		if n == done {
			return done, nil
		}
		if err := ctx.Err(); err != nil {
			return done, err
		}
		b, err := r.Peek(r.Size())
		if len(b) == 0 {
			return done, ended(err)
		}
		if err != nil {
			b = withoutBreak(b)
		} else {
			b = b[:len(b)-2] // a line break may be cut, too
			b = b[:len(b)-tornTail(b)]
		}
		if len(b) == 0 {
			return done, nil
		}
		if want := n - done; want < int64(len(b)) {
			b = firstRunes(b, int(want))
		}
		done += int64(utf8.RuneCount(b))
		if _, err := r.Discard(len(b)); err != nil {
			return done, err
		}
	}
}

// takeRunes takes up to n characters in up to so many bytes, and says how many they are and
// whether there are more.
func takeRunes(r *bufio.Reader, n, room int) (text string, taken int64, more bool, err error) {
	var out strings.Builder
	for {
		b, err := r.Peek(2 * maxRune)
		if b = withoutBreak(b); len(b) == 0 {
			return out.String(), taken, false, ended(err)
		}
		_, size := utf8.DecodeRune(b)
		char := shown(b[:size])
		if taken == int64(n) || out.Len()+len(char) > room {
			return out.String(), taken, true, nil
		}
		out.WriteString(char)
		taken++
		if _, err := r.Discard(size); err != nil {
			return "", 0, false, err
		}
	}
}

// ended takes the end for no error.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
