package scriptmodel

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// Options are what a server needs beside its script. The zero Options are good.
type Options struct {
	// Encodings loads the vocabulary that the script counts with; nil: bpe.Load.
	Encodings token.Encodings
	// Scale counts in place of the script's estimator; nil: the estimator does.
	Scale Scale
	// Think says what the model does with a request that no reply of the script is left for,
	// from what stands in it. The server asks it for one request at a time. nil: such a request
	// is answered with a 500.
	Think func(llm.Request) Reply
	// Observe is told of every call once its answer is decided, one at a time.
	Observe func(Call)
}

// A Server is a scripted model behind the addresses of all dialects. It is an
// [http.Handler], safe for concurrent use: requests are answered one after the other in the
// order in which they come, and sent side by side.
type Server struct {
	script  *Script
	sealer  prefix.Sealer
	count   token.Counter
	broken  error // why there is no counter
	scale   Scale // nil: count counts
	think   func(llm.Request) Reply
	observe func(Call)

	mu    sync.Mutex
	state state
}

// state is what a server remembers.
type state struct {
	used   []int // how often each block has answered
	clock  time.Duration
	cache  prefix.Cache
	ids    map[string]int
	stored map[string]stored   // responses by id
	kept   map[string]kept     // beginnings of prompts by name; nil: none was ever kept
	turns  map[string][]string // by the id of a call: the seals of the thinking of its message
	log    []Call

	summaries map[string]bool // compactions that were returned, by account and content
}

// A Call is one request and what it was answered with. Nobody may write to it.
type Call struct {
	Method  string
	Path    string // with the query
	Header  http.Header
	Body    []byte
	Dialect llm.Dialect
	Request llm.Request // zero if it could not be read, or is of another kind
	Prompt  int         // tokens of the request; 0 if it was refused before they were counted
	Line    int         // of the script: the reply that was chosen; 0: none
	Status  int
	Answer  []byte        // all bytes that were to be sent, faults included
	Reply   llm.Response  // what the model said; zero if it said nothing
	Error   *wire.Error   // what was refused, or nil
	Faults  []check.Fault // the rules of the dialect that the request breaks
}

// New returns a server of s, which must not be changed from here on.
func New(s *Script, o Options) *Server {
	load := o.Encodings
	if load == nil {
		load = bpe.Load
	}
	server := &Server{script: s, sealer: prefix.Sealer{Key: s.Secret}, scale: o.Scale, think: o.Think, observe: o.Observe}
	server.count, server.broken = token.NewCounter(s.Count, load)
	server.Reset()
	return server
}

// Reset forgets everything: the log, which replies were given, the cache, the clock.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state{
		used: make([]int, len(s.script.Replies)), ids: map[string]int{}, stored: map[string]stored{}, turns: map[string][]string{},
	}
}

// Log returns all calls so far. The slice is the caller's.
func (s *Server) Log() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.log)
}

// Advance moves the logical clock, by which cached prefixes grow old. Nothing else does but
// the script.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.clock += d
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := s.read(req)
	if err != nil {
		return // the client has gone
	}
	a := s.decide(req, body)
	a.send(req.Context(), w)
}

// read reads the body of a request, of one that is too big only so much that it shows.
func (s *Server) read(req *http.Request) ([]byte, error) {
	r := io.Reader(req.Body)
	if s.script.Bytes > 0 {
		r = io.LimitReader(r, int64(s.script.Bytes)+1)
	}
	return io.ReadAll(r)
}

// decide returns the answer to a request and writes both down.
func (s *Server) decide(req *http.Request, body []byte) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	rt := routeOf(req)
	x := &exchange{Server: s, req: req, route: rt, body: body, call: &Call{
		Method: req.Method, Path: req.URL.RequestURI(), Header: req.Header.Clone(), Body: body, Dialect: rt.dialect,
	}}
	x.codec, _ = codecOf(rt.dialect)
	a, refused := x.answer()
	if refused != nil {
		a = x.refuse(refused)
	}
	a.header.Set(requestIDHeader(rt.dialect), s.id("req_"))
	x.call.Status, x.call.Answer, x.call.Error = a.status, bytes.Join(a.chunks, nil), refused
	s.state.log = append(s.state.log, *x.call)
	if s.observe != nil {
		s.observe(*x.call)
	}
	return a
}

// id returns the next id that begins with kind.
func (s *Server) id(kind string) string {
	s.state.ids[kind]++
	return kind + itoa(s.state.ids[kind])
}

func requestIDHeader(d llm.Dialect) string {
	if d == messages {
		return "request-id"
	}
	return "x-request-id"
}

// isUpgrade reports whether a client wants to leave HTTP.
func isUpgrade(req *http.Request) bool {
	return req.Header.Get("Upgrade") != "" && strings.Contains(strings.ToLower(req.Header.Get("Connection")), "upgrade")
}
