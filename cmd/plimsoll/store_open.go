package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

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
