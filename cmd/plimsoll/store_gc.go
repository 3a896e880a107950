package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// A collection is what plimsoll store gc is to do.
type collection struct {
	s      streams
	st     *sqlite.Store
	json   bool
	limits sqlite.Limits
	yes    bool // sessions beyond the limits are removed
}

func newStoreGC(s streams) *cobra.Command {
	var age, size string
	c := collection{s: s}
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove what no session sees, and give free space back",
		Long: `Remove what no session sees, and give free space back to the file system. What
belongs to a session is not removed, but for sessions beyond a limit: with
--max-age or --max-bytes it lists the sessions that would go, which have been
unused longest, and how large the file would be about, and does nothing; with
--yes as well it removes them, and goes on until the file is no larger than
--max-bytes. Their references then lead nowhere. Forks of them stay whole. For
a moment the disk needs room for a second copy of the file.`,
		Example: "  plimsoll store gc\n  plimsoll store gc --max-age 90d --max-bytes 2G\n  plimsoll store gc --max-age 90d --yes",
	}
	cmd.Flags().StringVar(&age, "max-age", "", "sessions that were last written to longer ago are beyond the limit: `90d`, 36h")
	cmd.Flags().StringVar(&size, "max-bytes", "", "the file has so many `bytes` at most afterwards: 2000000000, 500M, 2G")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "remove the sessions beyond the limits")
	return storeCommandWith(cmd, storeFlags{changes: true}, "print JSON objects: one a session beyond the limits, one of what was done", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		var err error
		if c.limits.Age, err = parseAge(age); err != nil {
			return usage(fmt.Errorf("%s: limits, want an age such as 90d, got %q", f.command, age), "")
		}
		if c.limits.Bytes, err = parseBytes(size); err != nil {
			return usage(fmt.Errorf("%s: limits, want bytes such as 2000000000, 500M or 2G, got %q", f.command, size), "")
		}
		c.st, c.json = st, f.json
		if c.limits != (sqlite.Limits{}) && !c.yes {
			return c.foretell(ctx)
		}
		return c.collect(ctx)
	})
}

// parseBytes reads a size, which may be in k, M or G, by the thousand; empty: none.
func parseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	times := int64(1)
	if at := strings.IndexByte("kMG", text[len(text)-1]); at >= 0 {
		times, text = []int64{1e3, 1e6, 1e9}[at], text[:len(text)-1]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/times {
		return 0, fmt.Errorf("want a size, got %q", text)
	}
	return n * times, nil
}

// mostDays is the longest age, some 100 years.
const mostDays = 100 * 365

// parseAge reads a duration, which may be in days; empty: none.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	var age time.Duration
	var err error
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		age = time.Duration(min(max(n, 0), mostDays+1)) * 24 * time.Hour // more or less than a duration holds is another one
	} else {
		age, err = time.ParseDuration(text)
	}
	if err == nil && (age <= 0 || age > mostDays*24*time.Hour) {
		err = fmt.Errorf("age, want more than none and at most 100 years, got %s", text)
	}
	return age, err
}

// expired is what plimsoll store gc --json prints for each session beyond the limits.
type expired struct {
	Session string `json:"session"`
	Updated string `json:"updated"`
	Records int    `json:"records"`
	Blobs   int    `json:"blobs"`
	Bytes   int64  `json:"bytes"`
	Removed bool   `json:"removed"`
}

// foretell says which sessions are beyond the limits, and what would be lost with them.
func (c collection) foretell(ctx context.Context) error {
	beyond, err := c.st.Beyond(ctx, c.limits)
	if err != nil {
		return err
	}
	blobs := 0
	for _, one := range beyond.Sessions {
		blobs += one.Blobs
		if err := c.tell(one, false); err != nil {
			return err
		}
	}
	switch {
	case c.json:
	case len(beyond.Sessions) == 0:
		_, err = fmt.Fprintf(c.s.out, "no session of %s is beyond the limits\n", console.Plural(beyond.Of, "session"))
	default:
		_, err = fmt.Fprintf(c.s.out, "%s of %s would go, and the references to %s that they have would lead nowhere; the file would have about %s bytes; --yes removes them\n",
			edit.Thousands(len(beyond.Sessions)), console.Plural(beyond.Of, "session"), console.Plural(blobs, "blob"), edit.Thousands(int(beyond.Bytes)))
	}
	return err
}

// expire removes the sessions that are beyond the limits, and returns what was let go of and how
// many have gone.
func (c collection) expire(ctx context.Context) (all sqlite.Freed, gone int, err error) {
	if c.limits == (sqlite.Limits{}) {
		return all, 0, nil
	}
	beyond, err := c.st.Beyond(ctx, c.limits)
	if err != nil {
		return all, 0, err
	}
	for _, one := range beyond.Sessions {
		freed, removed, err := c.st.Expire(ctx, one)
		if err != nil {
			return all, gone, err
		}
		all.Add(freed)
		if removed {
			gone++
		}
		if err := c.tell(one, removed); err != nil {
			return all, gone, err
		}
	}
	return all, gone, nil
}

// tell tells of a session beyond the limits.
func (c collection) tell(one sqlite.Session, gone bool) error {
	if c.json {
		return console.PrintJSON(c.s.out, expired{one.Name, one.Updated.Format(time.RFC3339), one.Records, one.Blobs, one.Bytes, gone})
	}
	did := "would go"
	switch {
	case gone:
		did = "removed"
	case c.yes:
		did = "stays: it has been written to meanwhile"
	}
	_, err := fmt.Fprintf(c.s.out, "%s, last written to %s UTC, %s, %s, %s bytes: %s\n", console.Safe(one.Name), one.Updated.Format("2006-01-02 15:04"),
		console.Plural(one.Records, "record"), console.Plural(one.Blobs, "blob"), edit.Thousands(int(one.Bytes)), did)
	return err
}

// collect removes what no session sees, and before it the sessions beyond the limits. How large a
// file is without them is known only then: more may have to go.
func (c collection) collect(ctx context.Context) error {
	before, err := c.st.Stats(ctx)
	if err != nil {
		return err
	}
	var all sqlite.Freed
	for again := false; ; again = true {
		freed, gone, err := c.expire(ctx)
		if err != nil {
			return err
		}
		if all.Add(freed); again && gone == 0 {
			break
		}
		if freed, err = c.st.GC(ctx); err != nil {
			return err
		}
		if all.Add(freed); c.limits.Bytes == 0 {
			break
		}
	}
	after, err := c.st.Stats(ctx)
	if err != nil {
		return err
	}
	all.FileBytes = max(before.FileBytes-after.FileBytes, 0)
	if err := c.sum(all, after.FileBytes); err != nil {
		return err
	}
	if most := c.limits.Bytes; most > 0 && after.FileBytes > most {
		return fmt.Errorf("store gc: the file, want at most %d bytes, got %d, and there is nothing more that may be removed", most, after.FileBytes)
	}
	return nil
}

// sum says what was done.
func (c collection) sum(all sqlite.Freed, size int64) error {
	if c.json {
		return console.PrintJSON(c.s.out, collected{c.st.Path(), all.Records, all.Blobs, all.Bytes, all.FileBytes, size})
	}
	_, err := fmt.Fprintf(c.s.out, "%s: removed %s and %s, %s bytes; the file is %s bytes smaller, and has %s\n", console.Safe(c.st.Path()),
		console.Plural(all.Blobs, "blob"), console.Plural(all.Records, "record"), edit.Thousands(int(all.Bytes)), edit.Thousands(int(all.FileBytes)), edit.Thousands(int(size)))
	return err
}

// collected is what plimsoll store gc --json prints.
type collected struct {
	File      string `json:"file"`
	Records   int    `json:"records"`    // that were removed
	Blobs     int    `json:"blobs"`      // that were removed
	Bytes     int64  `json:"bytes"`      // of the blobs, before compression
	FileBytes int64  `json:"file_bytes"` // by which the file has become smaller
	Size      int64  `json:"size"`       // that it has now, in bytes
}
