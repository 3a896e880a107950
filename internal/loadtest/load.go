package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A load is requests to one address over connections that stay open.
type load struct {
	address string // host:port
	header  string // lines of every request, each with its end
	talks   []*talk
	stream  bool
	rate    float64       // requests a second over all connections; 0: each sends as soon as it has its answer
	lasts   time.Duration // 0: one request on each connection
}

// A result is what came of a load. Times are from the first byte written.
type result struct {
	first, end []time.Duration // to the first byte of the answer's body, to its last
	opening    []time.Duration // to the end, of requests that begin a conversation; they are in none of the others
	requests   int             // that were answered rightly, all of them
	errors     int
	wrong      error // the first of the errors; nil: there was none
	took       time.Duration
}

// perSecond is how many requests were answered in a second.
func (r result) perSecond() float64 { return float64(r.requests) / r.took.Seconds() }

// run sends the load. Connections are made before its time begins.
func (l load) run(ctx context.Context) (result, error) {
	lines := make([]*line, len(l.talks))
	for i, t := range l.talks {
		lines[i] = &line{load: &l, talk: t}
		if err := lines[i].dial(ctx); err != nil {
			return result{}, err
		}
		defer lines[i].conn.Close() //nolint:errcheck // nothing is written any more
	}
	var all sync.WaitGroup
	start := time.Now()
	for i, c := range lines {
		all.Go(func() { c.send(ctx, start, i) })
	}
	all.Wait()
	sum := result{took: time.Since(start)}
	for _, c := range lines {
		sum.add(c.result)
	}
	return sum, ctx.Err()
}

func (r *result) add(o result) {
	r.first, r.end, r.opening = append(r.first, o.first...), append(r.end, o.end...), append(r.opening, o.opening...)
	r.requests, r.errors = r.requests+o.requests, r.errors+o.errors
	if r.wrong == nil {
		r.wrong = o.wrong
	}
}

// A line is one connection and what goes over it.
type line struct {
	load   *load
	talk   *talk
	conn   net.Conn
	reader *bufio.Reader
	head   []byte
	buffer [32 << 10]byte
	result result
}

func (c *line) dial(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", c.load.address)
	if err != nil {
		return err
	}
	c.conn, c.reader = conn, bufio.NewReaderSize(conn, 16<<10)
	return nil
}

// send sends until the load's time is over. Connection number i of n is due at the i-th of
// n parts of the time between two requests of one connection.
func (c *line) send(ctx context.Context, start time.Time, i int) {
	l := c.load
	due, every := start, time.Duration(0)
	if l.rate > 0 {
		every = time.Duration(float64(len(l.talks)) / l.rate * float64(time.Second))
		due = due.Add(every * time.Duration(i) / time.Duration(len(l.talks)))
	}
	for ctx.Err() == nil {
		if l.lasts > 0 && due.Sub(start) >= l.lasts {
			return
		}
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return
		}
		if err := c.ask(); err != nil {
			c.result.errors++
			if c.result.wrong == nil {
				c.result.wrong = err
			}
			_ = c.conn.Close() // whatever else comes on it belongs to nothing
			if c.dial(ctx) != nil {
				return
			}
		}
		if l.lasts == 0 {
			return
		}
		due = due.Add(every)
		if now := time.Now(); due.Before(now) { // what was not sent in time is not made up for
			due = now
		}
	}
}

// ask sends one request and reads its answer.
func (c *line) ask() error {
	pieces, opening := c.talk.ask(c.load.stream)
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	c.head = append(c.head[:0], "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer "+key+"\r\nX-Session-Id: "...)
	c.head = append(append(c.head, c.talk.id...), "\r\nContent-Length: "...)
	c.head = append(strconv.AppendInt(c.head, int64(size), 10), "\r\n"...)
	c.head = append(append(c.head, c.load.header...), "\r\n"...)
	buffers := net.Buffers(append([][]byte{c.head}, pieces...))
	start := time.Now()
	_ = c.conn.SetDeadline(start.Add(2 * time.Minute))
	if _, err := buffers.WriteTo(c.conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.reader, nil) //nolint:bodyclose // it is read to its end, and the connection is closed with the load
	if err != nil {
		return err
	}
	first, last, err := c.read(resp.Body)
	if err != nil {
		return err
	}
	ended := time.Now()
	if err := c.judge(resp, last); err != nil {
		return err
	}
	c.result.requests++
	if opening {
		c.result.opening = append(c.result.opening, ended.Sub(start))
		return nil
	}
	c.result.first, c.result.end = append(c.result.first, first.Sub(start)), append(c.result.end, ended.Sub(start))
	return nil
}

// read reads an answer. It returns when its first byte came, and its last bytes.
func (c *line) read(body io.Reader) (first time.Time, last []byte, err error) {
	for {
		n, err := body.Read(c.buffer[:])
		if n > 0 && first.IsZero() {
			first = time.Now()
		}
		last = append(last, c.buffer[:n]...)
		last = last[max(0, len(last)-300):]
		switch {
		case err == io.EOF:
			return first, last, nil
		case err != nil:
			return first, last, err
		}
	}
}

// judge returns an error if an answer is not the upstream's.
func (c *line) judge(resp *http.Response, last []byte) error {
	want := "}"
	if c.load.stream {
		want = "[DONE]"
	}
	if resp.StatusCode != http.StatusOK || !bytes.HasSuffix(bytes.TrimSpace(last), []byte(want)) {
		return fmt.Errorf("answer, want 200 and %s at its end, got %s with %q", want, resp.Status, last)
	}
	return nil
}

// quantile returns the value that the part p of all are not above, 0 of none. It sorts them.
func quantile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	rank := int(p*float64(len(all))+0.999999) - 1
	return all[min(max(rank, 0), len(all)-1)]
}

// median returns the middle one of several figures; of an even number the lower of two.
func median[T int | float64 | time.Duration](all []T) T {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}
