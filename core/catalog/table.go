package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// A row is one line of a table. The first fault is kept, so that a line can be
// read field by field without a check after each.
type row struct {
	table  string
	line   int // counted from 1
	fields []string
	err    error
}

// rows returns the lines of a table that carry data: comma-separated fields
// around which blanks do not count. Lines that begin with # say where the data
// come from.
func rows(table, text string) []*row {
	var out []*row
	line := 0
	for l := range strings.Lines(text) {
		line++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		fields := strings.Split(l, ",")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		out = append(out, &row{table: table, line: line, fields: fields})
	}
	return out
}

// text returns field i. A field of "-" is empty.
func (r *row) text(i int) string {
	if i >= len(r.fields) {
		r.fail("fields", strconv.Itoa(i+1)+" or more", strconv.Itoa(len(r.fields)))
		return ""
	}
	if r.fields[i] == "-" {
		return ""
	}
	return r.fields[i]
}

// number returns field i as a number that is not negative.
func (r *row) number(i int) int {
	return r.integer(i, r.text(i))
}

// list returns the words of field i.
func (r *row) list(i int) []string { return strings.Fields(r.text(i)) }

// price returns field i in dollars for a million tokens; ? is unknown.
func (r *row) price(i int) Price {
	s := r.text(i)
	p, ok := ParsePrice(s)
	if !ok && s != "?" {
		r.fail("field "+strconv.Itoa(i+1), "dollars for a million tokens, or ?", strconv.Quote(s))
	}
	return p
}

// integer reads s, which stands in field i, as a number that is not negative.
func (r *row) integer(i int, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		r.fail("field "+strconv.Itoa(i+1), "a number from 0", strconv.Quote(s))
		return 0
	}
	return n
}

func (r *row) fail(what, want, got string) {
	if r.err == nil {
		r.err = fmt.Errorf("catalog: load: %s line %d: %s, want %s, got %s", r.table, r.line, what, want, got)
	}
}

// done returns the first fault of the line, which must have n fields.
func (r *row) done(n int) error {
	if len(r.fields) != n {
		r.fail("fields", strconv.Itoa(n), strconv.Itoa(len(r.fields)))
	}
	return r.err
}
