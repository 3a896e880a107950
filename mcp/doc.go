// Package mcp offers the tools of package builtin to programs that speak the Model Context
// Protocol: over a pair of pipes, or over HTTP.
//
//	server := mcp.New(mcp.Options{Kit: kit, Source: source, Log: log})
//	err := server.Pipe(ctx, os.Stdin, os.Stdout) // for a client that has started the program
//	err := server.Serve(ctx, listener)           // at /mcp
//
// Nothing but the tools is offered, and none of them changes anything. A server keeps
// nothing about its clients, so that one can go and come, and its requests may be in any
// order.
//
// Over HTTP a client states the token, as "Authorization: Bearer"; without a token a
// server listens to this machine alone. What a page in a browser asks is refused.
package mcp
