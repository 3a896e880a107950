package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	var age string
	c := collection{s: s}
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove what no session sees, and give free space back",
		Long: `Remove what no session sees, and give free space back to the file system. What
belongs to a session is not removed, but for sessions beyond a limit: with
--max-age or --max-bytes it lists the sessions that would go, which have been
unused longest, and does nothing; with --yes as well it removes them. Their
references then lead nowhere. Forks of them stay whole. For a moment the disk
needs room for a second copy of the file.`,
		Example: "  plimsoll store gc\n  plimsoll store gc --max-age 90d --max-bytes 2000000000\n  plimsoll store gc --max-age 90d --yes",
	}
	cmd.Flags().StringVar(&age, "max-age", "", "sessions that were last written to longer ago are beyond the limit: `90d`, 36h")
	cmd.Flags().Int64Var(&c.limits.Bytes, "max-bytes", 0, "all sessions have so many `bytes` at most, before compression")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "remove the sessions beyond the limits")
	return storeCommandWith(cmd, storeFlags{changes: true}, "print JSON objects: one a session beyond the limits, one of what was done", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		var err error
		if c.limits.Age, err = parseAge(age); err != nil || c.limits.Bytes < 0 {
			return usage(fmt.Errorf("%s: limits, want an age such as 90d and bytes above 0, got %q and %d", f.command, age, c.limits.Bytes), "")
		}
		c.st, c.json = st, f.json
		if c.limits != (sqlite.Limits{}) {
			if err := c.expire(ctx); err != nil || !c.yes {
				return err
			}
		}
		return c.collect(ctx)
	})
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

// expire tells of the sessions beyond the limits, and removes them if it may.
func (c collection) expire(ctx context.Context) error {
	var all []sqlite.Session
	for one, err := range c.st.Sessions(ctx) {
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	beyond := c.limits.Beyond(all, time.Now())
	for _, one := range beyond {
		gone := false
		if c.yes {
			var err error
			if gone, err = c.st.Expire(ctx, one); err != nil {
				return err
			}
		}
		if err := c.tell(one, gone); err != nil {
			return err
		}
	}
	var err error
	switch {
	case c.json:
	case len(beyond) == 0:
		_, err = fmt.Fprintf(c.s.out, "no session of %s is beyond the limits\n", plural(len(all), "session"))
	case !c.yes:
		_, err = fmt.Fprintf(c.s.out, "%s of %s would go, and every reference into what was taken out of them; --yes removes them\n",
			edit.Thousands(len(beyond)), plural(len(all), "session"))
	}
	return err
}

// tell tells of a session beyond the limits.
func (c collection) tell(one sqlite.Session, gone bool) error {
	if c.json {
		return printJSON(c.s.out, expired{one.Name, one.Updated.Format(time.RFC3339), one.Records, one.Blobs, one.Bytes, gone})
	}
	did := "would go"
	switch {
	case gone:
		did = "removed"
	case c.yes:
		did = "stays: it has been written to meanwhile"
	}
	_, err := fmt.Fprintf(c.s.out, "%s, last written to %s UTC, %s, %s, %s bytes: %s\n", safe(one.Name), one.Updated.Format("2006-01-02 15:04"),
		plural(one.Records, "record"), plural(one.Blobs, "blob"), edit.Thousands(int(one.Bytes)), did)
	return err
}

// collect removes what no session sees.
func (c collection) collect(ctx context.Context) error {
	freed, err := c.st.GC(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return printJSON(c.s.out, collected{c.st.Path(), freed.Records, freed.Blobs, freed.Bytes, freed.FileBytes})
	}
	_, err = fmt.Fprintf(c.s.out, "%s: removed %s and %s, %s bytes; the file is %s bytes smaller\n", safe(c.st.Path()),
		plural(freed.Blobs, "blob"), plural(freed.Records, "record"), edit.Thousands(int(freed.Bytes)), edit.Thousands(int(freed.FileBytes)))
	return err
}

// collected is what plimsoll store gc --json prints.
type collected struct {
	File      string `json:"file"`
	Records   int    `json:"records"`    // that were removed
	Blobs     int    `json:"blobs"`      // that were removed
	Bytes     int64  `json:"bytes"`      // of the blobs, before compression
	FileBytes int64  `json:"file_bytes"` // by which the file has become smaller
}
