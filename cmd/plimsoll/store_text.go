package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newStoreStats(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "stats", Short: "Show how much a store holds and takes",
		Example: "  plimsoll store stats --db plimsoll.db",
	}
	return storeCommand(cmd, "print one JSON object", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		stats, err := st.Stats(ctx)
		if err != nil {
			return err
		}
		if f.json {
			return console.PrintJSON(s.out, newStored(st.Path(), stats))
		}
		return printStats(s.out, st.Path(), stats)
	})
}

// stored is what plimsoll store stats --json prints.
type stored struct {
	File      string `json:"file"`
	Version   int    `json:"version"` // of the tables
	Sessions  int    `json:"sessions"`
	Forks     int    `json:"forks"` // of the sessions
	Records   int    `json:"records"`
	Blobs     int    `json:"blobs"`
	Snapshots int    `json:"snapshots"`

	RecordBytes   int64 `json:"record_bytes"`   // before compression
	BlobBytes     int64 `json:"blob_bytes"`     // before compression, each content once
	SnapshotBytes int64 `json:"snapshot_bytes"` // before compression
	StoredBytes   int64 `json:"stored_bytes"`   // of all three after it
	FileBytes     int64 `json:"file_bytes"`     // with the log
	FreeBytes     int64 `json:"free_bytes"`     // what gc gives back
}

func newStored(path string, st sqlite.Stats) stored {
	return stored{
		path, st.Version, st.Sessions, st.Forks, st.Records, st.Blobs, st.Snapshots,
		st.RecordBytes, st.BlobBytes, st.SnapshotBytes, st.StoredBytes, st.FileBytes, st.FreeBytes,
	}
}

func printStats(w io.Writer, path string, st sqlite.Stats) error {
	bytes := func(n int64) string { return edit.Thousands(int(n)) + " bytes" }
	saved := ""
	if all := st.Bytes(); all > 0 {
		saved = fmt.Sprintf(", %s of them", percentOf(st.StoredBytes, all))
	}
	_, err := fmt.Fprintf(w, `file       %s, version %d
sessions   %s, %s of them forks
records    %s, %s
blobs      %s, %s
snapshots  %s, %s
stored     %s%s after compression
file size  %s, %s of them free
`,
		console.Safe(path), st.Version,
		edit.Thousands(st.Sessions), edit.Thousands(st.Forks),
		edit.Thousands(st.Records), bytes(st.RecordBytes),
		edit.Thousands(st.Blobs), bytes(st.BlobBytes),
		edit.Thousands(st.Snapshots), bytes(st.SnapshotBytes),
		bytes(st.StoredBytes), saved,
		bytes(st.FileBytes), edit.Thousands(int(st.FreeBytes)))
	return err
}

// percentOf returns a share in whole percent.
func percentOf(part, whole int64) string { return fmt.Sprintf("%d%%", (part*100+whole/2)/whole) }

func newStoreVerify(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Read all of a store and report what is damaged",
		Long: `Read all of a store and report what is damaged: contents that are not what their
reference or checksum says, records that are missing, and what SQLite itself finds.
It changes nothing. The exit code is 1 if anything is found.`,
		Example: "  plimsoll store verify",
	}
	return storeCommand(cmd, "print one JSON object", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		return verifyStore(ctx, s, st, f.json)
	})
}

// verified is what plimsoll store verify --json prints.
type verified struct {
	File     string    `json:"file"`
	Contents int       `json:"contents"` // records, blobs and snapshots that were read
	Problems []problem `json:"problems"`
}

type problem struct {
	Kind    string `json:"kind"`    // file, blob, record, snapshot, session or garbage
	Session string `json:"session"` // empty: of none in particular
	Ref     string `json:"ref"`     // of the blob, if it is about one
	What    string `json:"what"`
}

func verifyStore(ctx context.Context, s streams, st *sqlite.Store, asJSON bool) error {
	// A damaged file may not tell how much is in it; then there is no bar, and Verify says why.
	stats, _ := st.Stats(ctx)
	bar := newVerifyBar(s.err, stats.Records+stats.Blobs+stats.Snapshots)
	out := verified{st.Path(), 0, []problem{}}
	lost := false
	var unprinted error
	err := st.Verify(ctx, func(p sqlite.Problem) {
		lost = lost || p.Kind != sqlite.KindGarbage
		out.Problems = append(out.Problems, problem{p.Kind, p.Session, p.Ref, p.What})
		if asJSON || unprinted != nil {
			return
		}
		if bar != nil {
			_ = bar.Clear()
		}
		_, unprinted = fmt.Fprintln(s.out, console.Safe(p.String()))
	}, func(n int) {
		out.Contents = n
		if bar != nil {
			_ = bar.Set(n) // a bar that cannot be drawn is no reason to stop
		}
	})
	if bar != nil {
		_ = bar.Finish()
	}
	switch {
	case err != nil:
		return err
	case unprinted != nil:
		return unprinted
	case asJSON:
		err = console.PrintJSON(s.out, out)
	case len(out.Problems) == 0:
		_, err = fmt.Fprintf(s.out, "%s: ok: %s read\n", console.Safe(out.File), console.Plural(out.Contents, "content"))
	}
	if err != nil || len(out.Problems) == 0 {
		return err
	}
	hint := "plimsoll store gc removes it; nothing is lost"
	if lost {
		hint = "make a copy of the file and its -wal before anything else is done with it; what is not named above can still be read"
	}
	return fail(errors.New("store verify: found "+console.Plural(len(out.Problems), "problem")), hint)
}
