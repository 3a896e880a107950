package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Options say what a server offers.
type Options struct {
	Kit builtin.Kit
	// Source returns what a call reads from; it is asked for every call. An error of it is told
	// in the log, and without its words to the client.
	Source  func(ctx context.Context) (builtin.Source, error)
	Model   builtin.Model // that tools ask; nil: none is asked
	Version string        // of the program
	Token   string        // that clients over HTTP have to state; empty: none
	Log     *slog.Logger  // is told what goes wrong; nil: nobody is
}

// A Server answers clients. It is safe for concurrent use.
type Server struct {
	o   Options
	mcp *mcp.Server
}

// instructions are for the model, beside the descriptions of the tools.
const instructions = "These tools read what was taken out of this conversation. It is named by ref=, " +
	"with an r and 26 letters or digits, where it stood."

// New returns a server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "plimsoll", Version: cmp.Or(o.Version, "devel")},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // they stay as they are
		},
	)
	inside := false
	for _, t := range o.Kit.Tools() {
		s.mcp.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: json.RawMessage(t.Schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &inside},
		}, s.call)
	}
	return s
}

// call answers a call of a tool.
func (s *Server) call(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a := s.answer(ctx, llm.ToolCall{Name: r.Params.Name, Args: string(r.Params.Arguments)})
	if a.Fault != nil && ctx.Err() == nil {
		s.o.Log.Warn("a tool could not read", "tool", r.Params.Name, "ref", a.Ref, "error", a.Fault)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}, IsError: a.IsError}, nil
}

func (s *Server) answer(ctx context.Context, call llm.ToolCall) builtin.Answer {
	source, err := s.o.Source(ctx)
	if err != nil {
		return builtin.Answer{Text: "The store cannot be read now.", IsError: true, Fault: err}
	}
	return s.o.Kit.Call(ctx, source, s.o.Model, call)
}

// Pipe answers one client, which writes to r and reads from w, until it is gone or ctx ends.
// It closes neither.
func (s *Server) Pipe(ctx context.Context, r io.Reader, w io.Writer) error {
	pipe := &mcp.IOTransport{Reader: io.NopCloser(r), Writer: open{w}}
	if err := s.mcp.Run(ctx, pipe); err != nil && ctx.Err() == nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// An open writer stays open.
type open struct{ io.Writer }

// Close implements [io.Closer].
func (open) Close() error { return nil }
