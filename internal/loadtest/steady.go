package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// steady sends at one rate for long, and prints what the target has in memory every half
// minute. Conversations are short, so that there are many of them.
func (o options) steady(ctx context.Context, t *target, h history, connections int, out io.Writer) error {
	const every = 30 * time.Second
	h.life = o.life
	var b strings.Builder
	b.WriteString("| after | requests | conversations | errors | end p50 | p99 | opening p50 | resident | at most |\n|---|---|---|---|---|---|---|---|---|\n")
	var sum result
	for passed := time.Duration(0); passed < o.flat; {
		lasts := min(every, o.flat-passed)
		r, err := load{address: t.address, header: t.header, talks: t.talksOf(h, connections), rate: o.rate, lasts: lasts}.run(ctx)
		if err != nil {
			return err
		}
		m, _, err := t.usage()
		if err != nil {
			return err
		}
		passed += lasts
		sum.requests, sum.errors = sum.requests+r.requests, sum.errors+r.errors
		fmt.Fprintf(&b, "| %v | %d | %d | %d | %s | %s | %s | %d MB | %d MB |\n",
			passed, sum.requests, t.names, sum.errors, ms(quantile(r.end, 0.5)), ms(quantile(r.end, 0.99)), ms(quantile(r.opening, 0.5)), m.resident>>20, m.most>>20)
		if r.wrong != nil {
			fmt.Fprintf(&b, "\n%v\n\n", r.wrong)
		}
		if _, err := io.WriteString(out, b.String()); err != nil {
			return err
		}
		b.Reset()
	}
	return nil
}
