package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// anyPort is where the proxy of a loop listens if nothing else is said.
const anyPort = "127.0.0.1:0"

// callsPatience is how long a loop waits at the end of an iteration for what its agent's calls took.
const callsPatience = 2 * time.Second

// A loopProxy stands between the agents of a loop and their models, in this process.
type loopProxy struct {
	url     *url.URL
	fixed   bool // its port was stated, so that files can name it
	conns   *countedListener
	gateway *gateway.Gateway
	models  loopModels
	ended   chan error
	cancel  context.CancelFunc

	mu    sync.Mutex
	spent loop.Spent
}

// loopProxies starts the proxy of a loop, and ends it.
type loopProxies struct {
	config string
	store  store.Store
	models loopModels
	note   func(text string)
	made   *loopProxy
}

// by starts the proxy that settings describe.
func (l *loopProxies) by(s loop.Settings) (loop.Proxy, error) {
	var f proxyFlags
	newProxyWith(streams{}, &f) // its flags have the defaults of plimsoll proxy, whichever there are
	f.listen, f.config, f.upstreams = s.Proxy, l.config, s.Upstreams
	if s.Policy != "" {
		f.policy = s.Policy
	}
	if err := f.checkListen(nil); err != nil {
		return nil, err
	}
	host, err := f.host()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(f.listen)
	p := &loopProxy{fixed: port != "0", models: l.models, ended: make(chan error, 1)}
	log := slog.New(slog.NewTextHandler(noteWriter(l.note), &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
	o := proxy.Options{Log: log, Grace: callsPatience, Done: p.done}
	if o.Upstreams, err = loopUpstreams(f, host.settings); err != nil {
		return nil, err
	}
	if p.gateway, err = host.gateway(l.store, log); err != nil {
		return nil, fail(err, "")
	}
	o.Gateway = p.gateway
	server, err := proxy.New(o)
	if err != nil {
		return nil, fail(err, "")
	}
	ctx, cancel := context.WithCancel(context.Background()) // the agent ends first
	p.cancel = cancel
	var listening net.ListenConfig
	inner, err := listening.Listen(ctx, "tcp", f.listen)
	if err != nil {
		cancel()
		return nil, fail(errors.Join(fmt.Errorf("loop: --proxy: %w", err), p.gateway.Close(ctx)), "--proxy alone takes a port that is free")
	}
	p.conns = &countedListener{Listener: inner, none: make(chan struct{}, 1)}
	if p.url, err = proxyURL(inner.Addr().String()); err != nil {
		cancel()
		return nil, errors.Join(err, inner.Close())
	}
	go func() { p.ended <- server.Serve(ctx, p.conns) }()
	l.made = p
	return p, nil
}

// close ends the proxy, before the store is closed.
func (l *loopProxies) close() error {
	if l.made == nil {
		return nil
	}
	l.made.cancel()
	return fail(errors.Join(<-l.made.ended, l.made.gateway.Close(context.Background())), "")
}

// loopUpstreams returns the providers that the flags and the settings name; of those that are
// known, where the agents would ask them without a proxy.
func loopUpstreams(f proxyFlags, s config.Settings) ([]proxy.Upstream, error) {
	stated, err := f.allUpstreams(s)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"anthropic", "openai", "gemini"} {
		p, _ := client.Lookup(name)
		if slices.ContainsFunc(stated, func(up proxy.Upstream) bool { return up.Provider.Name == name }) {
			continue
		}
		for _, variable := range p.BaseEnv {
			base := os.Getenv(variable)
			if base == "" {
				continue
			}
			up, err := proxy.ParseUpstream(name, base)
			if err != nil {
				return nil, usage(fmt.Errorf("loop: $%s: %w", variable, err), "")
			}
			stated = append(stated, up)
		}
	}
	return stated, nil
}

// done takes in what a call of a model took.
func (p *loopProxy) done(provider string, r gateway.Report) {
	if r.Refused != "" || r.Class != wire.Unclassified {
		return // it cost nothing
	}
	s := loop.Spent{Calls: 1, Input: r.Usage.Prompt(), CacheRead: r.Usage.CacheRead, Output: r.Usage.Output}
	if !r.Usage.IsZero() {
		s.Cost = p.models.price(provider+"/"+r.Model, r.Usage)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent = p.spent.Add(s)
}

// Spent implements loop.Proxy.
func (p *loopProxy) Spent() loop.Spent {
	p.conns.wait(callsPatience)
	return p.SpentSoFar()
}

// SpentSoFar implements loop.Proxy.
func (p *loopProxy) SpentSoFar() loop.Spent {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.spent
	p.spent = loop.Spent{}
	return s
}

// Reach implements loop.Proxy: by the variables that plimsoll env prints for the agent, or by
// arguments where it goes by a file. Another command gets the variables of all SDKs, and has
// {proxy} in its arguments replaced by the address.
func (p *loopProxy) Reach(a loop.Agent) (loop.Agent, error) {
	fill := strings.NewReplacer("{url}", p.url.String(), "{host}", p.url.Host, "{proxy}", p.url.String()).Replace
	a.Command, a.Env = slices.Clone(a.Command), slices.Clone(a.Env)
	vars := func(names ...string) {
		for _, g := range guides {
			if slices.Contains(names, g.name) {
				for _, v := range g.vars {
					a.Env = append(a.Env, fill(v))
				}
			}
		}
	}
	switch a.Name {
	case "claude", "gemini":
		vars(a.Name)
	case "codex":
		provider := fill(`{name="plimsoll",base_url="{url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`)
		a.Command = append(a.Command, "-c", `model_provider="plimsoll"`, "-c", "model_providers.plimsoll="+provider)
	case "opencode":
		a.Env = append(a.Env, "OPENCODE_CONFIG_CONTENT="+fill(openCodeText))
	case "pi":
		if !p.fixed {
			return a, usage(errors.New("loop: --proxy: pi reads the address of a proxy from a file"), "give it one that stays: --proxy=127.0.0.1:8791, and plimsoll env pi --listen 127.0.0.1:8791 says what belongs into the file")
		}
	default:
		for i, arg := range a.Command[1:] {
			a.Command[i+1] = strings.ReplaceAll(arg, "{proxy}", p.url.String())
		}
		vars("anthropic", "openai", "aider", "gemini", "ollama")
	}
	return a, nil
}

// A countedListener knows how many of its connections are open.
type countedListener struct {
	net.Listener
	mu   sync.Mutex
	open int
	none chan struct{} // that there is none any more
}

// Accept implements net.Listener.
func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.open++
	l.mu.Unlock()
	return &countedConn{Conn: c, closed: sync.OnceFunc(l.closed)}, nil
}

func (l *countedListener) closed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == 0 {
		select {
		case l.none <- struct{}{}:
		default:
		}
	}
}

// wait waits until no connection is open: those of an agent that has ended are closed once
// what it asked for is done. One that something else holds open is waited for no longer than
// patience.
func (l *countedListener) wait(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		l.mu.Lock()
		open := l.open
		l.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-l.none:
		case <-timer.C:
			return
		}
	}
}

// A countedConn is one of them.
type countedConn struct {
	net.Conn
	closed func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// A noteWriter is told each line of a log.
type noteWriter func(text string)

// Write implements io.Writer.
func (n noteWriter) Write(b []byte) (int, error) {
	n("proxy: " + strings.TrimSpace(string(b)))
	return len(b), nil
}

// withoutTime leaves out of a log line when it was written: it is shown at once.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
