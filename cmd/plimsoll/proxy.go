package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/proxy"
)

func newProxy(s streams) *cobra.Command { return newProxyWith(s, new(proxyFlags)) }

// newProxyWith returns the command with its flags in f, which has their defaults from then on.
func newProxyWith(s streams, f *proxyFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Keep agents that run within their models' windows",
		Long: `Stand between agents and model providers, and keep each conversation within its
model's window. Requests pass as they are until something has to be taken out; then a
shorter one is sent, in the same way from there on.

plimsoll env CLIENT prints what an agent has to be told. Requests find their provider by
path and headers: the APIs of Anthropic, OpenAI and Gemini, and an Ollama server on this
machine. --upstream NAME=URL names another address of one of them, or a provider that is
then reached under /NAME/.

Other machines are let in with keys only: plimsoll proxy key NAME makes one. With
--tls-cert and --tls-key it speaks TLS. SIGHUP has it read these files again.

It ends at Ctrl-C or SIGTERM, once what is in flight is finished; at the second one at
once.`,
		Example: `  plimsoll proxy
  plimsoll proxy --upstream openrouter=https://openrouter.ai/api/v1
  plimsoll proxy --window qwen3=32k --upstream vllm=http://127.0.0.1:8000/v1
  plimsoll proxy --listen 0.0.0.0:8790 --keys keys.txt --tls-cert cert.pem --tls-key key.pem`,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			return runProxy(ctx, s, *f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", defaultListen, "`host:port` to be reached at")
	fl.StringVar(&f.db, "db", "", "`file` that the conversations are kept in; default plimsoll/plimsoll.db in the user's data folder")
	fl.StringVarP(&f.policy, "policy", "p", policy.DefaultPreset, "preset, or `file` with a policy")
	fl.StringVar(&f.config, "config", "", "`file` of settings to read, in place of those in the folders")
	fl.StringArrayVar(&f.upstreams, "upstream", nil, "`NAME=URL` of a provider; may be given several times")
	fl.StringArrayVar(&f.windows, "window", nil, "`MODEL=TOKENS` of a model's window, such as qwen3=32k or openai/gpt-5=100k; may be given several times")
	fl.StringVar(&f.usage, "usage", usageActual, "`what` clients are told that a prompt had: actual, or client-view, which adds what was taken out")
	fl.StringVar(&f.summaries, "summaries", summariesCode, "`who` writes summaries where the settings name no model for it: code, or client, which asks the conversation's model with the client's key, in the background")
	fl.StringVar(&f.compactions, "client-compaction", compactionsPass, "`what` becomes of a client's own compaction: pass it on as it came, or answer it with a summary by code")
	fl.BoolVar(&f.offerTools, "offer-tools", false, "offer the policy's own tools to the model, which reads with them what left its window, unseen by the client")
	fl.StringArrayVar(&f.deferTools, "defer-tools", nil, "`NAME` of a client's tool, or the beginning of names with a * behind it, such as 'mcp__*', that is left out where such tools are many, for the model to find; wants --offer-tools; may be given several times")
	fl.StringVar(&f.keys, "keys", "", "`file` with the keys that are let in")
	fl.StringVar(&f.tlsCert, "tls-cert", "", "PEM `file` with the certificate for TLS, its chain behind it; wants --tls-key, too")
	fl.StringVar(&f.tlsKey, "tls-key", "", "PEM `file` with the key of --tls-cert")
	fl.StringVar(&f.record, "record", "", "`folder` for a file of each exchange with a model, without keys")
	fl.IntVar(&f.maxInFlight, "max-inflight", 0, "`requests` at a time above which more are refused; 0 refuses none")
	fl.DurationVar(&f.pingAfter, "ping-after", 15*time.Second, "`time` of silence in a stream after which the client gets a ping, where its dialect has one; 0 sends none")
	fl.DurationVar(&f.grace, "grace", 30*time.Second, "`time` that requests in flight have to finish at the end")
	fl.StringVar(&f.logFormat, "log-format", "text", "`form` of the lines on standard error: text or json")
	_ = cmd.RegisterFlagCompletionFunc("policy", completePolicies)
	_ = cmd.RegisterFlagCompletionFunc("usage", cobra.FixedCompletions([]string{usageActual, usageClientView}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("summaries", cobra.FixedCompletions([]string{summariesCode, summariesClient}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("client-compaction", cobra.FixedCompletions([]string{compactionsPass, compactionsAnswer}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newProxyKey(s))
	return cmd
}

func newProxyKey(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "key NAME", Short: "Make a key for the proxy",
		Long: `Make a key for the proxy, print it, and the line for the file of --keys that lets it
in. The line has only a hash of the key; the key is shown this once.

Clients state it in the header X-Plimsoll-Key beside their key for the provider, or in
its place: then the proxy takes the provider's key from its own environment.

The line may end with limits: rpm=N requests a minute, inflight=N requests at a time.`,
		Example: `  plimsoll proxy key ann
  plimsoll proxy key ann 2>> keys.txt`,
		Args: wantArgs(1, 1, "name"),
		RunE: func(_ *cobra.Command, args []string) error {
			secret, line, err := proxy.NewKey(args[0])
			if err != nil {
				return usage(fmt.Errorf("proxy key: %s", strings.TrimPrefix(err.Error(), "proxy: ")), "")
			}
			// The key goes where results go, the line where it can be told apart from it.
			_, err = fmt.Fprintln(s.out, secret)
			_, err2 := fmt.Fprintln(s.err, line)
			return fail(errors.Join(err, err2), "")
		},
	}
}

func runProxy(ctx context.Context, s streams, f proxyFlags) (err error) {
	log, err := f.logger(s.err)
	if err != nil {
		return err
	}
	o := proxy.Options{Log: log, MaxInFlight: f.maxInFlight, PingAfter: f.pingAfter, Grace: f.grace, Record: f.record}
	if f.pingAfter == 0 {
		o.PingAfter = -1
	}
	files, err := f.openFiles()
	if err != nil {
		return err
	}
	o.Keys = files.keys
	if err := f.checkListen(o.Keys); err != nil {
		return err
	}
	host, err := f.host()
	if err != nil {
		return err
	}
	if o.Upstreams, err = f.allUpstreams(host.settings); err != nil {
		return err
	}
	st, err := openOwnStore(ctx, "proxy", f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fail(st.Close(), "")) }()
	if o.Gateway, err = host.gateway(st, log); err != nil {
		return fail(err, "")
	}
	defer func() { err = errors.Join(err, fail(o.Gateway.Close(context.WithoutCancel(ctx)), "")) }() // before the store
	go o.Gateway.Warm(ctx, warmModels...)
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return fail(err, "")
	}
	o.Meter, o.Metrics = metric.NewMeterProvider(metric.WithReader(reader)), promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	server, err := proxy.New(o)
	if err != nil {
		return fail(err, "")
	}
	files.follow(ctx, log)
	return f.serve(ctx, log, server, files)
}

// warmModels stand for the vocabularies that are asked for most.
var warmModels = []budget.Target{
	{Provider: "anthropic", Model: "claude-opus-5-5"}, {Provider: "openai", Model: "gpt-5"}, {Provider: "gemini", Model: "gemini-2.5-pro"},
}

// serve listens until ctx ends.
func (f proxyFlags) serve(ctx context.Context, log *slog.Logger, server *proxy.Server, files *proxyFiles) error {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fail(fmt.Errorf("proxy: %w", err), "is it running already? --listen HOST:PORT names another address")
	}
	l, scheme := files.listener(l)
	log.Info("listening", "url", scheme+"://"+l.Addr().String(), "version", version(), "hint", "plimsoll env CLIENT says what a client has to be told")
	if err := server.Serve(ctx, l); err != nil {
		return fail(err, "--grace gives them more time")
	}
	log.Info("ended")
	return nil
}

func (f proxyFlags) logger(w io.Writer) (*slog.Logger, error) {
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	}
	return nil, usage(fmt.Errorf("proxy: --log-format, want text or json, got %q", f.logFormat), "")
}
