package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A guide says what a client has to be told so that it asks the proxy.
type guide struct {
	name, about string
	vars        []string // NAME=VALUE; {url} stands for the proxy's address, {host} for its host and port
	file        string   // where text belongs; empty: the client goes by variables alone
	text        string   // lines of that file, or a command
	note        string
}

// guides are the clients that are known here. Facts: their documentation, and requests that
// they made to a server on loopback.
var guides = []guide{
	{name: "aider", vars: []string{"OPENAI_API_BASE={url}/v1", "ANTHROPIC_API_BASE={url}"}},
	{name: "anthropic", about: "programs with Anthropic's SDK", vars: []string{"ANTHROPIC_BASE_URL={url}"}},
	{
		name: "claude", about: "Claude Code", vars: []string{"ANTHROPIC_BASE_URL={url}", "ENABLE_TOOL_SEARCH=true"},
		note: "without ENABLE_TOOL_SEARCH it leaves out its tool search at addresses that are not Anthropic's",
	},
	{
		name: "cline", file: "run this once, with your key and model", text: "cline auth -p openai -k KEY -b {url}/v1 -m MODEL",
	},
	{
		name: "codex", file: "~/.codex/config.toml, the first line above all tables",
		text: `model_provider = "plimsoll"

[model_providers.plimsoll]
name = "plimsoll"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"`,
	},
	{
		name: "continue", file: "~/.continue/config.yaml, in each of models",
		text: "apiBase: {url}/v1",
	},
	{name: "gemini", about: "Gemini CLI, and programs with Google's SDK", vars: []string{"GOOGLE_GEMINI_BASE_URL={url}"}},
	{
		name: "grok", vars: []string{"GROK_BASE_URL={url}/xai/v1"},
		note: "start the proxy with --upstream xai=https://api.x.ai/v1",
	},
	{name: "kilo", file: "~/.config/kilo/opencode.json", text: openCodeText},
	{name: "ollama", about: "programs with Ollama's SDK, and its command line", vars: []string{"OLLAMA_HOST={host}"}},
	{name: "openai", about: "programs with OpenAI's SDK", vars: []string{"OPENAI_BASE_URL={url}/v1"}},
	{name: "opencode", file: "~/.config/opencode/opencode.json", text: openCodeText},
	{
		name: "pi", file: "~/.pi/agent/models.json, with your key and model",
		text: `{"providers": {"plimsoll": {"baseUrl": "{url}", "api": "anthropic-messages", "apiKey": "KEY",
  "models": [{"id": "MODEL", "name": "MODEL", "reasoning": false, "input": ["text"], "contextWindow": 2000000, "maxTokens": 8192,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}`,
		note: "with openai-completions or openai-responses for api the address ends in /v1, with google-generative-ai in /v1beta",
	},
	{name: "qwen", about: "Qwen Code", vars: []string{"OPENAI_BASE_URL={url}/v1"}},
}

const openCodeText = `{"provider": {
  "anthropic": {"options": {"baseURL": "{url}/v1"}},
  "openai": {"options": {"baseURL": "{url}/v1"}},
  "google": {"options": {"baseURL": "{url}/v1beta"}}}}`

// envFlags are the flags of plimsoll env.
type envFlags struct {
	listen, shell string
}

func newEnv(s streams) *cobra.Command {
	var f envFlags
	cmd := &cobra.Command{
		Use:   "env CLIENT",
		Short: "Print what a client has to be told to use the proxy",
		Long: `Print the environment variables, or the lines of its settings, by which a client asks
the proxy instead of its provider. Its own key stays where it is.

Clients:
` + wrapped("  ", guideNames()),
		Example: `  eval "$(plimsoll env claude)"
  plimsoll env gemini --shell fish | source
  plimsoll env codex
  plimsoll env openai --listen https://box.example:8790`,
		ValidArgs: guideNames(),
		Args:      wantArgs(1, 1, "client"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runEnv(s.out, f, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", defaultListen, "`host:port` of the proxy, behind https:// if it speaks TLS")
	fl.StringVar(&f.shell, "shell", "", "`shell` that reads the lines: "+strings.Join(shellNames, ", ")+"; default the one of $SHELL")
	_ = cmd.RegisterFlagCompletionFunc("shell", cobra.FixedCompletions(shellNames, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func guideNames() []string {
	names := make([]string, len(guides))
	for i, g := range guides {
		names[i] = g.name
	}
	return names
}

func runEnv(w io.Writer, f envFlags, name string) error {
	i := slices.IndexFunc(guides, func(g guide) bool { return g.name == name })
	if i < 0 {
		hint := "clients: " + strings.Join(guideNames(), ", ")
		if near := policy.Nearest(name, guideNames()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return usage(fmt.Errorf("env: client %q is not known", name), hint)
	}
	address, err := proxyURL(f.listen)
	if err != nil {
		return err
	}
	if f.shell == "" {
		f.shell = usualShell(runtime.GOOS, os.Getenv("SHELL"))
	}
	text, err := guides[i].lines(address, f.shell)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return fail(err, "")
}

// proxyURL returns the address that clients ask for a proxy that listens somewhere.
func proxyURL(listen string) (*url.URL, error) {
	scheme := "http"
	at, secure := strings.CutPrefix(listen, "https://")
	if secure {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(at, "http://"))
	if err != nil || port == "" {
		return nil, usage(fmt.Errorf("env: --listen %q, want a host and a port", listen), "such as "+defaultListen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // one can listen there, and not ask
		host = "127.0.0.1"
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}, nil
}

var shellNames = []string{"sh", "fish", "powershell", "cmd"}

// usualShell returns the shell of a system whose user's one is at path.
func usualShell(system, path string) string {
	switch {
	case filepath.Base(path) == "fish":
		return "fish"
	case system == "windows" && path == "":
		return "powershell"
	}
	return "sh"
}

// lines returns what g says, for a shell.
func (g guide) lines(address *url.URL, shell string) (string, error) {
	host := address.Host
	if address.Scheme == "https" { // which is not what a bare host and port mean
		host = address.String()
	}
	fill := strings.NewReplacer("{url}", address.String(), "{host}", host).Replace
	var b strings.Builder
	comment := "# "
	if shell == "cmd" {
		comment = "REM "
	}
	if g.note != "" {
		b.WriteString(comment + g.note + "\n")
	}
	for _, v := range g.vars {
		name, value, _ := strings.Cut(fill(v), "=")
		switch shell {
		case "sh":
			fmt.Fprintf(&b, "export %s='%s'\n", name, value)
		case "fish":
			fmt.Fprintf(&b, "set -gx %s '%s'\n", name, value)
		case "powershell":
			fmt.Fprintf(&b, "$env:%s = '%s'\n", name, value)
		case "cmd":
			fmt.Fprintf(&b, "set \"%s=%s\"\n", name, value)
		default:
			return "", usage(errors.New("env: --shell, want one of "+strings.Join(shellNames, ", ")+", got "+fmt.Sprintf("%q", shell)), "")
		}
	}
	if g.file != "" {
		b.WriteString(comment + g.file + ":\n" + fill(g.text) + "\n")
	}
	return b.String(), nil
}

// defaultListen is where the proxy is reached if nothing else is said.
const defaultListen = "127.0.0.1:8790"
