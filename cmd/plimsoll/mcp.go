package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/mcp"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

func newMCP(s streams) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give agents the tools that read what was taken out, over MCP",
		Long: `Be an MCP server with the tools by which a model reads what was taken out of its
conversation. A client that has started it is answered on standard input and output;
with --listen clients are answered over HTTP at /mcp.

The tools read what one session sees: the one of --session, else at each call the one
that was last written to. Where several agents work on one store, name it.

--print CLIENT prints what registers the server: ` + strings.Join(registryNames(), ", ") + `.

Over HTTP other machines are let in with a token only, which is taken from the
environment: ` + tokenVariable + `.`,
		Example: `  plimsoll mcp --print claude
  plimsoll mcp --session fix-the-build --print codex
  plimsoll mcp --listen 127.0.0.1:8791`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.print != "" {
				return printRegistry(s.out, f)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			return runMCP(ctx, s, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.db, "db", "", "`file` of the store; default plimsoll/plimsoll.db in the user's data folder")
	fl.StringVar(&f.session, "session", "", "read what this `session` sees; without, the one last written to")
	fl.StringVarP(&f.policy, "policy", "p", "", "preset, or `file` with a policy, whose tools are offered; without, all are")
	fl.StringVar(&f.listen, "listen", "", "`host:port` to answer clients at over HTTP")
	fl.StringVar(&f.print, "print", "", "print what registers the server with this `client`, and end")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("print", cobra.FixedCompletions(registryNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runMCP(ctx context.Context, s streams, f mcpFlags) error {
	kit, err := f.kit()
	if err != nil {
		return err
	}
	token := os.Getenv(tokenVariable)
	if err := f.checkListen(token); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.err, nil))
	return withStore(ctx, "mcp", storeFlags{db: f.db}, func(ctx context.Context, st *sqlite.Store, _ storeFlags) error {
		server := mcp.New(mcp.Options{
			Kit: kit, Source: func(ctx context.Context) (builtin.Source, error) { return f.source(ctx, st) },
			Version: version(), Token: token, Log: log,
		})
		if f.listen == "" {
			return server.Pipe(ctx, s.in, s.out)
		}
		return f.serve(ctx, log, server)
	})
}

// kit returns the tools that are offered.
func (f mcpFlags) kit() (builtin.Kit, error) {
	names := builtin.Names()
	if f.policy != "" {
		p, err := loadPolicy(f.policy)
		if err != nil {
			return builtin.Kit{}, err
		}
		names = slices.DeleteFunc(slices.Clone(p.Tools), func(name string) bool { return !slices.Contains(builtin.Names(), name) }) // there is no session to do more in
	}
	kit, err := builtin.New(names)
	if err == nil && len(kit.Tools()) == 0 {
		err = usage(fmt.Errorf("mcp: policy %s has no tools that read", f.policy), "without --policy all tools are offered")
	}
	return kit, err
}

// source returns what the session sees.
func (f mcpFlags) source(ctx context.Context, st *sqlite.Store) (builtin.Source, error) {
	name := f.session
	if name == "" {
		var err error
		if name, err = st.Latest(ctx); err != nil {
			return nil, err
		}
	}
	if name == "" { // nothing was ever kept
		return plimsoll.Contents(&store.Memory{}, "none"), nil
	}
	return plimsoll.Contents(st, name), nil
}

// serve listens until ctx ends.
func (f mcpFlags) serve(ctx context.Context, log *slog.Logger, server *mcp.Server) error {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fail(fmt.Errorf("mcp: %w", err), "is it running already? --listen HOST:PORT names another address")
	}
	log.Info("listening", "url", "http://"+l.Addr().String()+mcp.Path, "version", version())
	return server.Serve(ctx, l)
}
