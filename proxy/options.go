package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/transport"
)

// Options say how a server passes requests on.
type Options struct {
	Gateway *gateway.Gateway // keeps the conversations; required

	// Upstreams are where requests go, beside those that are known here: one of the same
	// name takes its place.
	Upstreams []Upstream
	// Keys say who may use the server; nil: whoever reaches it, which must be on this
	// machine.
	Keys *Keys
	// Env looks up the environment variables that hold the upstreams' keys, which are used
	// where a client has stated a key of this server in place of its own; nil: os.Getenv.
	Env func(string) string
	// Base carries requests to the upstreams; nil: a transport of the server's own.
	Base http.RoundTripper

	PingAfter   time.Duration // silence of a stream after which the client gets a ping; 0: 15 s, negative: never
	MaxInFlight int           // requests at a time; 0: any number
	Grace       time.Duration // for what is in flight when the server ends; 0: 30 s

	// Record is a folder for a file of each exchange with a model, see Recorded; empty: none
	// is written.
	Record string

	// Done is told of each request that asked a model, once it is over: of which provider, and
	// its figures. It may be called by several goroutines at a time; nil: nobody is told.
	Done func(provider string, r gateway.Report)

	Log     *slog.Logger         // a line for each request; nil: none
	Meter   metric.MeterProvider // nil: nothing is measured
	Metrics http.Handler         // answers /metrics; nil: 404
}

// An Upstream is where requests go.
type Upstream struct {
	Provider client.Provider // its Name is the first part of paths that lead there; its credentials are used as Env says
	Base     *url.URL        // what paths stand below
}

// The upstreams that are known here.
var known = []string{anthropicName, openaiName, geminiName, ollamaName}

// Their names, which are those of package client.
const (
	anthropicName = "anthropic"
	openaiName    = "openai"
	geminiName    = "gemini"
	ollamaName    = "ollama"
)

// reserved are the first parts of paths that mean something else.
var reserved = []string{"v1", "v1beta", "v1alpha", "api", "healthz", "readyz", "metrics", "chat", "responses", "messages", "models", "embeddings"}

// upstreamName is what an upstream may be called: it stands in a path.
var upstreamName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// ParseUpstream reads the name and the base URL of an upstream. A name that package client
// knows has the credentials of that provider, another one has none.
func ParseUpstream(name, base string) (Upstream, error) {
	if !upstreamName.MatchString(name) {
		return Upstream{}, fmt.Errorf("proxy: upstream %q, want a name of lower-case letters, digits, dots and dashes", name)
	}
	if slices.Contains(reserved, name) {
		return Upstream{}, fmt.Errorf("proxy: upstream %q, want a name that is not the beginning of a provider's paths", name)
	}
	u, err := client.ParseBase(base)
	if err != nil {
		return Upstream{}, fmt.Errorf("proxy: upstream %s: %w", name, err)
	}
	p, ok := client.Lookup(name)
	if !ok {
		p = client.Provider{Name: name, KeyOptional: true}
	}
	return Upstream{Provider: p, Base: u}, nil
}

// A Server is an http.Handler that passes requests on to upstreams. Make one with [New]. It
// is safe for concurrent use.
type Server struct {
	o         Options
	upstreams map[string]*upstream
	proxy     *httputil.ReverseProxy
	meters    meters
	recorder  *recorder // nil: nothing is recorded
	inFlight  atomic.Int64
	ready     atomic.Bool
}

// An upstream is one of the server's.
type upstream struct {
	name       string
	base       *url.URL
	authorizer *client.Authorizer
}

// New returns a server.
func New(o Options) (*Server, error) {
	if o.Gateway == nil {
		return nil, errors.New("proxy: new: want a gateway, got none")
	}
	if o.MaxInFlight < 0 {
		return nil, fmt.Errorf("proxy: new: requests at a time, want 0 or more, got %d", o.MaxInFlight)
	}
	o.fill()
	s := &Server{o: o, upstreams: map[string]*upstream{}}
	for _, name := range known {
		p, _ := client.Lookup(name)
		up, err := ParseUpstream(name, p.BaseURL)
		if err != nil {
			return nil, err
		}
		s.add(up)
	}
	for _, up := range o.Upstreams {
		s.add(up)
	}
	var err error
	if s.meters, err = newMeters(o.Meter); err != nil {
		return nil, fmt.Errorf("proxy: new: %w", err)
	}
	t := transport.New(o.Gateway)
	t.Base, t.Owner, t.Route, t.Done = o.Base, ownerOf, routeOf, s.done
	if o.Record != "" {
		if err := os.MkdirAll(o.Record, 0o700); err != nil {
			return nil, fmt.Errorf("proxy: new: record: %w", err)
		}
		s.recorder, t.Base = &recorder{dir: o.Record}, recordingBase{o.Base}
	}
	s.proxy = &httputil.ReverseProxy{
		Rewrite: s.rewrite, Transport: t, FlushInterval: -1, ErrorHandler: s.failed, BufferPool: newBuffers(),
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug), // the request's own line says it, too
	}
	s.ready.Store(true)
	return s, nil
}

func (o *Options) fill() {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Base == nil {
		o.Base = newBase()
	}
	if o.PingAfter == 0 {
		o.PingAfter = 15 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func (s *Server) add(u Upstream) {
	s.upstreams[u.Provider.Name] = &upstream{u.Provider.Name, u.Base, client.NewAuthorizer(u.Provider, s.o.Env)}
}

// newBase returns what carries requests where Options name nothing: bodies keep their
// coding, connections are kept, and nothing ends an answer that takes long.
func newBase() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		WriteBufferSize: 64 << 10, ReadBufferSize: 32 << 10,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}, // a connection that died in silence is noticed
	}
}
