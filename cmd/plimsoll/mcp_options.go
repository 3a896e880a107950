package main

import (
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/proxy"
)

// tokenVariable has the token that clients of plimsoll mcp --listen have to state.
const tokenVariable = "PLIMSOLL_MCP_TOKEN"

// mcpFlags are the flags of plimsoll mcp.
type mcpFlags struct {
	db, session, policy, listen, print string
}

func (f mcpFlags) checkListen(token string) error {
	if f.listen == "" || token != "" {
		return nil
	}
	err := proxy.CheckListen(f.listen, nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, proxy.ErrOpen):
		return usage(fmt.Errorf("mcp: --listen %s can be reached from other machines, and there is no token", f.listen),
			"put one into "+tokenVariable+", or listen at "+mcpListen)
	}
	return usage(fmt.Errorf("mcp: --listen %q, want a host and a port: %w", f.listen, errors.Unwrap(err)), "such as "+mcpListen)
}

// mcpListen is an address for --listen, to name in hints.
const mcpListen = "127.0.0.1:8791"
