package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

// A cell is one combination that is measured.
type cell struct {
	size, connections int
	stream            bool
	rate              float64 // 0: as fast as it goes
}

// cells returns those of a size, in the order in which they are measured: those that keep
// their conversations first.
func (o options) cells(size int, connections []int) (all []cell) {
	for _, stream := range []bool{false, true} {
		for _, n := range connections {
			if n > 1 {
				all = append(all, cell{size, n, stream, o.rate})
			}
		}
	}
	for _, n := range connections {
		all = append(all, cell{size, n, false, 0})
		if n == 1 {
			all = append(all, cell{size, n, true, 0})
		}
	}
	return all
}

// A figure is what was measured of one target in one cell, a value for each round.
type figure struct {
	first50, first99, end50, end99, opening []time.Duration
	perSecond                               []float64
	cpu                                     []time.Duration // of the target's processes, for one request
	resident                                int             // after the last round
	errors                                  int
}

// A series is everything that is measured.
type series struct {
	options options
	targets []*target
	log     *log.Logger
	order   []cell
	figures map[cell][]figure // for each target
	load    string            // of the machine, before
}

// measure measures all cells of all targets, in turn.
func (s *series) measure(ctx context.Context, sizes, connections []int) error {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	s.load, s.figures = strings.Join(strings.Fields(string(load))[:3], " "), map[cell][]figure{}
	most := 0
	for _, n := range connections {
		most = max(most, n)
	}
	for _, t := range s.targets {
		if t.idle, _, err = t.usage(); err != nil {
			return err
		}
	}
	for round := range s.options.rounds {
		for _, size := range sizes {
			h := newHistory(size)
			for _, t := range s.targets {
				if err := warm(ctx, t, h, most); err != nil {
					return err
				}
			}
			for _, c := range s.options.cells(size, connections) {
				if round == 0 {
					s.order = append(s.order, c)
					s.figures[c] = make([]figure, len(s.targets))
				}
				for i, t := range s.targets {
					if err := s.one(ctx, c, h, t, &s.figures[c][i]); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// warm begins the conversations of a target, a few at a time.
func warm(ctx context.Context, t *target, h history, n int) error {
	const atOnce = 4
	for all := t.talksOf(h, n); len(all) > 0; {
		some := all[:min(atOnce, len(all))]
		all = all[len(some):]
		r, err := load{address: t.address, header: t.header, talks: some}.run(ctx)
		if err == nil {
			err = r.wrong
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// one measures one cell of one target, once.
func (s *series) one(ctx context.Context, c cell, h history, t *target, f *figure) error {
	_, before, err := t.usage()
	if err != nil {
		return err
	}
	l := load{address: t.address, header: t.header, talks: t.talksOf(h, c.connections), stream: c.stream, rate: c.rate, lasts: s.options.lasts}
	r, err := l.run(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	m, after, err := t.usage()
	if err != nil {
		return err
	}
	f.first50, f.first99 = append(f.first50, quantile(r.first, 0.5)), append(f.first99, quantile(r.first, 0.99))
	f.end50, f.end99 = append(f.end50, quantile(r.end, 0.5)), append(f.end99, quantile(r.end, 0.99))
	if len(r.opening) > 0 {
		f.opening = append(f.opening, quantile(r.opening, 0.5))
	}
	f.perSecond = append(f.perSecond, r.perSecond())
	f.cpu = append(f.cpu, (after-before)/time.Duration(max(1, r.requests)))
	f.resident, f.errors = m.resident, f.errors+r.errors
	s.log.Printf("%s, %d, %s, %s: p50 %s, %.0f/s, %d errors", bytesOf(c.size), c.connections, c.how(), t.name, ms(quantile(r.end, 0.5)), r.perSecond(), r.errors)
	if r.wrong != nil {
		s.log.Print(r.wrong)
	}
	return nil
}

// print writes the tables.
func (s *series) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Load of the machine before: %s. Milliseconds; medians of %d rounds. What gateways add to a direct connection: p50 / p99.\n", s.load, s.options.rounds)
	added := func(title string, p50, p99 func(figure) []time.Duration, want func(cell) bool) {
		s.table(&b, title, want, func(f []figure, i int) string {
			low, high := median(p50(f[i])), median(p99(f[i]))
			if i > 0 {
				low, high = low-median(p50(f[0])), high-median(p99(f[0]))
			}
			return ms(low) + " / " + ms(high) + wrong(f[i])
		})
	}
	all := func(cell) bool { return true }
	added("to the last byte", func(f figure) []time.Duration { return f.end50 }, func(f figure) []time.Duration { return f.end99 }, all)
	added("to the first byte of a stream", func(f figure) []time.Duration { return f.first50 }, func(f figure) []time.Duration { return f.first99 }, func(c cell) bool { return c.stream })
	s.table(&b, "requests a second", func(c cell) bool { return c.rate == 0 }, func(f []figure, i int) string { return fmt.Sprintf("%.0f", median(f[i].perSecond)) })
	s.table(&b, "processor time of a request", all, func(f []figure, i int) string { return ms(median(f[i].cpu)) })
	s.table(&b, "a request that begins a conversation, where there were any", func(c cell) bool { return c.rate == 0 }, func(f []figure, i int) string {
		if len(f[i].opening) == 0 {
			return "–"
		}
		return ms(median(f[i].opening))
	})
	s.table(&b, "resident memory after it, MB", all, func(f []figure, i int) string { return strconv.Itoa(f[i].resident >> 20) })
	b.WriteString("\n| resident memory, MB | idle | at the end | at most |\n|---|---|---|---|\n")
	for _, t := range s.targets[1:] {
		m, _, err := t.usage()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", t.name, t.idle.resident>>20, m.resident>>20, m.most>>20)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// table writes one value of each cell that is wanted, for each target.
func (s *series) table(b *strings.Builder, title string, want func(cell) bool, value func(of []figure, target int) string) {
	fmt.Fprintf(b, "\n| %s |", title)
	for _, t := range s.targets {
		fmt.Fprintf(b, " %s |", t.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(s.targets)) + "\n")
	for _, c := range s.order {
		if !want(c) {
			continue
		}
		fmt.Fprintf(b, "| %s, %d, %s |", bytesOf(c.size), c.connections, c.how())
		for i := range s.targets {
			fmt.Fprintf(b, " %s |", value(s.figures[c], i))
		}
		b.WriteString("\n")
	}
}

// wrong says how many answers of a cell were wrong.
func wrong(f figure) string {
	if f.errors == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d errors)", f.errors)
}

// how says how a cell's requests are sent.
func (c cell) how() string {
	how := "plain"
	if c.stream {
		how = "stream"
	}
	if c.rate > 0 {
		return fmt.Sprintf("%s, %g/s", how, c.rate)
	}
	return how + ", at once"
}

func bytesOf(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d kB", n/1000)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000) }
