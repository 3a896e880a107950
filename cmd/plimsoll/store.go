package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"charm.land/lipgloss/v2"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// storeFlags are the flags of all commands of plimsoll store.
type storeFlags struct {
	db      string
	json    bool
	changes bool   // the command changes the store; else one that can only be read will do
	command string // its name, for errors
	args    []string
}

func newStore(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the file in which sessions are kept",
		Long: `A store is a file with sessions: what was said, what Plimsoll took out of the view,
and why. Its commands can run while other programs use the file.`,
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newStoreSessions(s), newStoreShow(s), newStoreResume(s), newStoreFork(s), newStoreRewind(s), newStoreExport(s), newStoreGet(s), newStoreGrep(s), newStoreSearch(s), newStoreStats(s), newStoreVerify(s), newStoreRemove(s), newStoreGC(s))
	return cmd
}

// storeCommand makes one of the commands that only read: run gets the open store. Without a
// usage for it there is no flag --json.
func storeCommand(cmd *cobra.Command, jsonUsage string, run func(context.Context, *sqlite.Store, storeFlags) error) *cobra.Command {
	return storeCommandWith(cmd, storeFlags{}, jsonUsage, run)
}

func storeCommandWith(cmd *cobra.Command, f storeFlags, jsonUsage string, run func(context.Context, *sqlite.Store, storeFlags) error) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = noArguments
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.command, f.args = commandName(cmd), args
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
		return withStore(ctx, f.command, f, run)
	}
	cmd.Flags().StringVar(&f.db, "db", "", "`file` of the store; default plimsoll/plimsoll.db in the user's data folder")
	if jsonUsage != "" {
		cmd.Flags().BoolVar(&f.json, "json", false, jsonUsage)
	}
	return cmd
}

// withStore opens the store that the flags name, which must be there, and closes it.
func withStore(ctx context.Context, command string, f storeFlags, run func(context.Context, *sqlite.Store, storeFlags) error) error {
	path := f.db
	if path == "" {
		var err error
		if path, err = defaultStore(); err != nil {
			return usage(fmt.Errorf("%s: %w", command, err), "name a file with --db")
		}
	}
	writable := isWritable(path)
	if f.changes && !writable {
		return fail(fmt.Errorf("%s: %s can only be read", command, path), "this command changes the file: use a copy of it in a folder of your own, with its -wal if there is one")
	}
	readOnly := !writable
	st, err := sqlite.Open(ctx, path, sqlite.Options{Existing: true, ReadOnly: readOnly})
	if err != nil {
		return storeError(ctx, command, hintReadOnly(command, err, path))
	}
	err = run(ctx, st, f)
	if closed := st.Close(); err == nil {
		err = closed
	}
	return storeError(ctx, command, err)
}

// isWritable reports whether a file may be written to. Of what is no file it says so too,
// without opening it: a pipe would wait, and whoever opens the store has an error for it.
func isWritable(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return true
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS)
	}
	_ = f.Close() // nothing was written
	return true
}

// hintReadOnly says what to do about a store that cannot be opened because its file can
// only be read, or because SQLite can make no files beside it.
func hintReadOnly(command string, err error, path string) error {
	info, missing := os.Stat(path)
	_, newer := errors.AsType[*sqlite.VersionError](err)
	if missing != nil || !info.Mode().IsRegular() || newer || errors.Is(err, sqlite.ErrNotStore) || isWritable(path) && makesFiles(filepath.Dir(path)) {
		return err
	}
	return fail(fmt.Errorf("%s: %w", command, err), "the file or its folder can only be read: copy the file, and its -wal if there is one, to a folder of your own and name the copy with --db")
}

// makesFiles reports whether files may be made in a folder.
func makesFiles(dir string) bool {
	f, err := os.CreateTemp(dir, ".plimsoll-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// storeError gives an error its exit code and, where something can be done, a hint.
func storeError(ctx context.Context, command string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*codedError](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return &codedError{exitInterrupted, fmt.Errorf("%s: interrupted", command), ""}
	}
	hint := ""
	if _, newer := errors.AsType[*sqlite.VersionError](err); newer {
		hint = "a newer plimsoll has written this file; use that one, or a newer one"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint = "name the file of a store with --db"
	case errors.Is(err, sqlite.ErrNotStore):
		hint = "the file was left as it is; if it was a store, take it from a backup"
	}
	return fail(fmt.Errorf("%s: %w", command, err), hint)
}

// openOwnStore opens the file that a command keeps what it does in, which is made if it is not
// there; without a path the user's own.
func openOwnStore(ctx context.Context, command, path string) (*sqlite.Store, error) {
	if path == "" {
		var err error
		if path, err = defaultStore(); err != nil {
			return nil, usage(fmt.Errorf("%s: %w", command, err), "name a file with --db")
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fail(fmt.Errorf("%s: %w", command, err), "name a file with --db")
		}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, storeError(ctx, command, hintReadOnly(command, err, path))
	}
	return st, nil
}

// defaultStore returns the path of the user's store: below $XDG_DATA_HOME where that is
// set (XDG Base Directory Specification), else where the system keeps such files.
func defaultStore() (string, error) {
	const folder, file = "plimsoll", "plimsoll.db"
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, folder, file), nil
	}
	if runtime.GOOS == "windows" {
		if data := os.Getenv("LocalAppData"); data != "" {
			return filepath.Join(data, folder, file), nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", folder, file), nil
	}
	return filepath.Join(home, ".local", "share", folder, file), nil
}

func newStoreSessions(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the sessions, the oldest first",
		Example: "  plimsoll store sessions",
	}
	return storeCommand(cmd, "print one JSON object a line", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		return listSessions(ctx, s, st, f.json)
	})
}

// storedSession is what plimsoll store sessions --json prints for each.
type storedSession struct {
	Session string `json:"session"`
	Parent  string `json:"parent"` // empty: not forked, or from one that was deleted
	Records int    `json:"records"`
	Blobs   int    `json:"blobs"`
	Bytes   int64  `json:"bytes"`
	Created string `json:"created"` // RFC 3339, UTC
	Updated string `json:"updated"`
}

func listSessions(ctx context.Context, s streams, st *sqlite.Store, asJSON bool) error {
	const layout = "2006-01-02 15:04"
	t := console.Table{Width: console.Width(s.out), Columns: []console.Column{
		{Name: "session", Wrap: true},
		{Name: "forked from", Spare: 1},
		{Name: "records", Right: true},
		{Name: "blobs", Right: true},
		{Name: "bytes", Right: true},
		{Name: "begun (UTC)", Spare: 2},
		{Name: "last written"},
	}}
	for one, err := range st.Sessions(ctx) {
		if err != nil {
			return err
		}
		if asJSON {
			out := storedSession{one.Name, one.Parent, one.Records, one.Blobs, one.Bytes, one.Created.Format("2006-01-02T15:04:05Z"), one.Updated.Format("2006-01-02T15:04:05Z")}
			if err := console.PrintJSON(s.out, out); err != nil {
				return err
			}
			continue
		}
		t.Rows = append(t.Rows, console.Plain(console.Safe(one.Name), console.Safe(console.Shorten(one.Parent, 30)), edit.Thousands(one.Records), edit.Thousands(one.Blobs),
			edit.Thousands(int(one.Bytes)), one.Created.Format(layout), one.Updated.Format(layout)))
	}
	if asJSON {
		return nil
	}
	text := "no sessions\n"
	if len(t.Rows) > 0 {
		text = t.String()
	}
	_, err := lipgloss.Fprint(s.out, text)
	return err
}

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

// newVerifyBar returns a progress bar for a store that takes a while, or nil where
// nobody would see it.
func newVerifyBar(w io.Writer, contents int) *progressbar.ProgressBar {
	const few = 10_000 // are read in a moment
	if contents < few || !console.IsTerminal(w) {
		return nil
	}
	return progressbar.NewOptions(contents,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("verifying"),
		progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
}
