package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// byHand is the source of a fact that a person has written.
const byHand = "you"

// memoryFlags are the flags of plimsoll loop memory.
type memoryFlags struct {
	workspace, db string
	json          bool
}

func newLoopMemory(s streams) *cobra.Command {
	var f memoryFlags
	cmd := &cobra.Command{
		Use: "memory", Short: "List and change what loops know of a workspace",
		Long: `List and change what loops with --memory know of a workspace: what their agents wanted
to be known, what loops that achieved their goal had decided and found not to work, and
what you add. Each fact has its source, and one that you edit is yours.`,
		Example: `  plimsoll loop memory list
  plimsoll loop memory add "The integration tests need a database on port 5433."
  plimsoll loop memory edit 3 "The linter takes four minutes."
  plimsoll loop memory rm 3`,
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.PersistentFlags().StringVar(&f.workspace, "workspace", ".", "`folder` that it is known of")
	cmd.PersistentFlags().StringVar(&f.db, "db", "", "`file` that loops are kept in; default plimsoll/plimsoll.db in the user's data folder")
	list := memoryCommand(&cobra.Command{Use: "list", Short: "List what is known", Args: noArguments}, &f, func(ctx context.Context, m *loop.Memory, _ []string) error {
		return listMemory(s, f, m)
	})
	list.Flags().BoolVar(&f.json, "json", false, "print one JSON object for each fact")
	cmd.AddCommand(list,
		memoryCommand(&cobra.Command{Use: "add TEXT", Short: "Add a fact", Args: wantArgs(1, 1, "TEXT")}, &f, func(ctx context.Context, m *loop.Memory, args []string) error {
			fact, err := m.Add(ctx, loop.Fact{Text: args[0], Source: byHand, At: time.Now().UnixMilli()})
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%d\n", fact.ID)
			}
			return memoryError(err)
		}),
		memoryCommand(&cobra.Command{Use: "edit ID TEXT", Short: "Give a fact another text", Args: wantArgs(2, 2, "ID and TEXT")}, &f, func(ctx context.Context, m *loop.Memory, args []string) error {
			id, err := factID(args[0])
			if err != nil {
				return err
			}
			return memoryError(m.Edit(ctx, loop.Fact{ID: id, Text: args[1], Source: byHand, At: time.Now().UnixMilli()}))
		}),
		memoryCommand(&cobra.Command{Use: "rm ID...", Short: "Forget facts", Args: wantArgs(1, 0, "ID")}, &f, func(ctx context.Context, m *loop.Memory, args []string) error {
			for _, arg := range args {
				id, err := factID(arg)
				if err == nil {
					err = memoryError(m.Remove(ctx, id))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	return cmd
}

// memoryCommand makes one of the commands: run gets the memory of the workspace.
func memoryCommand(cmd *cobra.Command, f *memoryFlags, run func(context.Context, *loop.Memory, []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx := cmd.Context()
		workspace, err := loop.Workspace(f.workspace)
		if err != nil {
			return fail(err, "")
		}
		var st *sqlite.Store
		if st, err = openOwnStore(ctx, "loop", f.db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, fail(st.Close(), "")) }()
		m, err := loop.OpenMemory(ctx, st, workspace)
		if err != nil {
			return storeError(ctx, "loop memory", err)
		}
		return run(ctx, m, args)
	}
	return cmd
}

// listMemory prints what is known, a line each.
func listMemory(s streams, f memoryFlags, m *loop.Memory) error {
	for _, fact := range m.Facts() {
		if f.json {
			if err := console.PrintJSON(s.out, fact); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(s.out, "%3d  %s  (%s, %s)\n", fact.ID, console.Safe(fact.Text), console.Safe(fact.Source), time.UnixMilli(fact.At).Format(time.DateOnly)); err != nil {
			return err
		}
	}
	return nil
}

func factID(text string) (int, error) {
	id, err := strconv.Atoi(text)
	if err != nil {
		return 0, usage(fmt.Errorf("loop memory: want the number of a fact, got %q", text), "plimsoll loop memory list has them")
	}
	return id, nil
}

// memoryError gives an error its exit code and hint.
func memoryError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, loop.ErrNoFact):
		return fail(err, "plimsoll loop memory list has those that there are")
	case strings.Contains(err.Error(), "characters"):
		return usage(err, "")
	}
	return fail(err, "")
}
