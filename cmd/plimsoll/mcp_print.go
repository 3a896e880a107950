package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/mcp"
)

// A registry says how a client is told of a server.
type registry struct {
	name string
	file string // where the text belongs
	// The texts for a server that the client starts, and for one over HTTP.
	// {args} and {url} stand for what they say; {token} for what states a token.
	pipe, http, token string
}

// registries are the clients that are known here. Facts: their documentation.
var registries = []registry{
	{
		"claude", ".mcp.json in the project",
		`{"mcpServers": {"plimsoll": {"command": "plimsoll", "args": [{args}]}}}`,
		`{"mcpServers": {"plimsoll": {"type": "http", "url": {url}{token}}}}`,
		`, "headers": {"Authorization": "Bearer ${` + tokenVariable + `}"}`,
	},
	{
		"codex", "~/.codex/config.toml",
		"[mcp_servers.plimsoll]\ncommand = \"plimsoll\"\nargs = [{args}]",
		"[mcp_servers.plimsoll]\nurl = {url}{token}",
		"\nbearer_token_env_var = \"" + tokenVariable + "\"",
	},
	{
		"gemini", "~/.gemini/settings.json",
		`{"mcpServers": {"plimsoll": {"command": "plimsoll", "args": [{args}]}}}`,
		`{"mcpServers": {"plimsoll": {"httpUrl": {url}{token}}}}`,
		`, "headers": {"Authorization": "Bearer $` + tokenVariable + `"}`,
	},
}

func registryNames() []string {
	names := make([]string, len(registries))
	for i, r := range registries {
		names[i] = r.name
	}
	return names
}

// printRegistry prints what registers the server that the other flags describe.
func printRegistry(w io.Writer, f mcpFlags) error {
	i := slices.IndexFunc(registries, func(r registry) bool { return r.name == f.print })
	if i < 0 {
		hint := "clients: " + strings.Join(registryNames(), ", ")
		if near := policy.Nearest(f.print, registryNames()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return usage(fmt.Errorf("mcp: client %q is not known", f.print), hint)
	}
	text, err := registries[i].text(f)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "# %s:\n%s\n", registries[i].file, text)
	return fail(err, "")
}

func (r registry) text(f mcpFlags) (string, error) {
	if f.listen != "" {
		address, err := proxyURL(f.listen)
		if err != nil {
			return "", usage(fmt.Errorf("mcp: --listen %q, want a host and a port", f.listen), "such as "+mcpListen)
		}
		token := ""
		if os.Getenv(tokenVariable) != "" {
			token = r.token
		}
		return strings.NewReplacer("{url}", inQuotes(address.JoinPath(mcp.Path).String()), "{token}", token).Replace(r.http), nil
	}
	args, err := f.args()
	if err != nil {
		return "", err
	}
	for i, a := range args {
		args[i] = inQuotes(a)
	}
	return strings.ReplaceAll(r.pipe, "{args}", strings.Join(args, ", ")), nil
}

// args returns the command line that serves what the flags describe, from any folder.
func (f mcpFlags) args() ([]string, error) {
	args := []string{"mcp"}
	for _, a := range []struct {
		flag, value string
		file        bool
	}{
		{"--db", f.db, true},
		{"--session", f.session, false},
		{"--policy", f.policy, !slices.Contains(policy.Presets(), f.policy)},
	} {
		if a.value == "" {
			continue
		}
		if a.file {
			var err error
			if a.value, err = filepath.Abs(a.value); err != nil {
				return nil, fail(fmt.Errorf("mcp: %w", err), "")
			}
		}
		args = append(args, a.flag, a.value)
	}
	return args, nil
}

// inQuotes writes a text as JSON and TOML do.
func inQuotes(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""` // cannot be: every text has a form
	}
	return string(b)
}
