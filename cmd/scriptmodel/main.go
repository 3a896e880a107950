// Command scriptmodel serves a scripted model on loopback, for tests and for trying a
// client without a provider. It is no model. Package internal/scriptmodel says how scripts
// are written and what the server does.
//
//	scriptmodel [--addr HOST:PORT] [--script FILE] [--log FILE]
//
// Its first line on standard output is the address that it listens on. It ends on SIGINT
// and SIGTERM, after the answers that are on their way.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// drain is how long the answers that are on their way get at the end.
const drain = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("scriptmodel", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on")
	file := flags.String("script", "", "the script's `file`; without it an agent's run with one command")
	logFile := flags.String("log", "", "the `file` to which each call is appended, one JSON object a line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("scriptmodel: arguments, want flags only, got %s", flags.Arg(0))
	}
	script, err := load(*file)
	if err != nil {
		return err
	}
	var options scriptmodel.Options
	if *logFile != "" {
		log, err := os.OpenFile(*logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("scriptmodel: log: %w", err)
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		options.Observe = observer(log)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return fmt.Errorf("scriptmodel: listen: %w", err)
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(ctx, listener, scriptmodel.New(script, options))
}

func load(file string) (*scriptmodel.Script, error) {
	if file == "" {
		return scriptmodel.Parse(scriptmodel.DefaultText())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("scriptmodel: script: %w", err)
	}
	script, err := scriptmodel.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return script, nil
}

// serve answers on l until ctx ends, then lets running answers end.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("scriptmodel: serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return errors.Join(fmt.Errorf("scriptmodel: end: %w", err), server.Close())
	}
	return nil
}

// A record is one line of the log. Keys are not in it.
type record struct {
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Header  http.Header     `json:"header"`
	Body    json.RawMessage `json:"body,omitempty"`
	Dialect string          `json:"dialect"`
	Prompt  int             `json:"prompt_tokens,omitempty"`
	Line    int             `json:"script_line,omitempty"`
	Status  int             `json:"status"`
	Answer  string          `json:"answer"`
	Error   string          `json:"error,omitempty"`
}

// observer returns what writes calls to w. A call that cannot be written is reported on
// standard error: the server goes on without its log.
func observer(w io.Writer) func(scriptmodel.Call) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return func(c scriptmodel.Call) {
		r := record{
			Method: c.Method, Path: withoutKey(c.Path), Header: c.Header.Clone(), Dialect: string(c.Dialect), Prompt: c.Prompt, Line: c.Line,
			Status: c.Status, Answer: string(c.Answer),
		}
		for _, secret := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie"} {
			r.Header.Del(secret)
		}
		if json.Valid(c.Body) {
			r.Body = c.Body
		}
		if c.Error != nil {
			r.Error = c.Error.Error()
		}
		if err := encoder.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, "scriptmodel: log:", err)
		}
	}
}

// withoutKey returns a path without the key that one dialect allows in it.
func withoutKey(path string) string {
	head, query, ok := strings.Cut(path, "?")
	if !ok {
		return path
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return head
	}
	if values.Del("key"); len(values) == 0 {
		return head
	}
	return head + "?" + values.Encode()
}
