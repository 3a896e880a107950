package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newStoreGet(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "get REF", Short: "Print what is kept under a reference",
		Long: `Print what is kept under a reference, byte for byte. On a terminal, signs that would
change what it shows are escaped.`,
		Example: "  plimsoll store get raaaaaaaaaaaaaaaaaaaaaaaaaa > output.txt",
		Args:    wantArgs(1, 1, "reference"),
	}
	return storeCommand(cmd, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		c, err := openContent(ctx, st, f)
		if err != nil {
			return err
		}
		err = printContent(s.out, io.NewSectionReader(c, 0, c.Size()))
		return errors.Join(err, c.Close())
	})
}

// printContent prints a text as it is, or what a terminal can show of it.
func printContent(w io.Writer, r io.Reader) error {
	if !console.IsTerminal(w) {
		_, err := io.Copy(w, r)
		return err
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	lines.Split(shortLines)
	for lines.Scan() {
		if _, err := fmt.Fprintln(w, console.Safe(lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

// shortLines splits a text into lines, and a line that is too long for that into pieces.
func shortLines(data []byte, end bool) (advance int, token []byte, err error) {
	const most = 1 << 16
	advance, token, err = bufio.ScanLines(data, end)
	if advance == 0 && len(data) >= most {
		return most, data[:most], nil
	}
	return advance, token, err
}

// openContent opens what any session of a store sees under the reference that a command names.
func openContent(ctx context.Context, st *sqlite.Store, f storeFlags) (store.Content, error) {
	ref, err := llm.ParseRef(f.args[0])
	if err != nil {
		return nil, usage(fmt.Errorf("%s: want a reference, such as a conversation names it after ref=, got %q", f.command, f.args[0]), "plimsoll store show SESSION lists those of a session")
	}
	for one, err := range st.Sessions(ctx) {
		if err != nil {
			return nil, err
		}
		c, err := st.Open(ctx, one.Name, ref)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return c, err
		}
	}
	return nil, fail(fmt.Errorf("%s: %s has nothing under %s", f.command, st.Path(), ref), "plimsoll store show SESSION lists the references of a session")
}

func newStoreGrep(s streams) *cobra.Command {
	var args struct {
		Ref     string `json:"ref_id"`
		Pattern string `json:"pattern"`
		Regex   bool   `json:"regex"`
		Before  int    `json:"before"`
		After   int    `json:"after"`
		Most    int    `json:"max_matches"`
	}
	cmd := &cobra.Command{
		Use: "grep REF PATTERN", Short: "Print the lines under a reference that have a text or a pattern",
		Long: `Print the lines under a reference that have a text, or match a pattern: as the tool
` + policy.ToolOutputCacheGrep + ` answers a model.`,
		Example: "  plimsoll store grep raaaaaaaaaaaaaaaaaaaaaaaaaa 'FAIL|panic' --regex --after 3",
		Args:    wantArgs(2, 2, "reference and pattern"),
	}
	cmd = storeCommand(cmd, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		args.Ref, args.Pattern = f.args[0], f.args[1]
		c, err := openContent(ctx, st, f)
		if err != nil {
			return err
		}
		kit, err := builtin.New([]string{policy.ToolOutputCacheGrep})
		if err != nil {
			return err
		}
		text, err := json.Marshal(args)
		if err != nil {
			return err
		}
		a := kit.Call(ctx, opened{c}, nil, llm.ToolCall{Name: policy.ToolOutputCacheGrep, Args: string(text)})
		switch {
		case a.Fault != nil:
			return a.Fault
		case a.IsError:
			return usage(errors.New(f.command+": "+a.Text), "usage: "+cmd.UseLine())
		}
		return printContent(s.out, strings.NewReader(a.Text+"\n"))
	})
	cmd.Flags().BoolVar(&args.Regex, "regex", false, "the pattern is a regular expression (RE2)")
	cmd.Flags().IntVar(&args.Before, "before", 0, "`lines` to print before each match")
	cmd.Flags().IntVar(&args.After, "after", 0, "`lines` to print after each match")
	cmd.Flags().IntVar(&args.Most, "max", 0, "`matches` at most; 50 where it is not stated")
	return cmd
}

// An opened content is all that a tool can read.
type opened struct{ c store.Content }

// Open implements [builtin.Source].
func (o opened) Open(context.Context, llm.Ref) (builtin.Content, error) { return o.c, nil }

// Search implements [builtin.Source].
func (opened) Search(context.Context, string, int) ([]builtin.Hit, error) { return nil, nil }
