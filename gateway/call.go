package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// A Call is a request as a client makes it.
type Call struct {
	// Owner is who may see the conversation, such as a proxy key's name; empty: the one
	// owner of a gateway that has no keys. Nothing that a client states is an owner.
	Owner    string
	Provider string // that it goes to, such as anthropic
	Dialect  llm.Dialect
	Model    string // where the address states it; empty: the body does
	Stream   bool   // the address asks for a stream of events
	List     bool   // the address asks for a stream that is one list of replies, as Gemini's without alt=sse
	// Header returns the value of a header of the client's; nil: there are none.
	Header func(name string) string
	Body   []byte // decompressed; nobody may write to it from here on
	// Window asks the provider for the window of a model, as the client; nil: it cannot be asked.
	Window func(ctx context.Context, model string) (int, error)
	// Complete asks the model for a reply to another request, as the client; nil: it cannot be.
	Complete func(ctx context.Context, r llm.Request) (llm.Response, error)
}

// header returns the value of a header of the client's; empty: it has none of that name.
func (c Call) header(name string) string {
	if c.Header == nil {
		return ""
	}
	return c.Header(name)
}

// Options say how a gateway keeps conversations.
type Options struct {
	Store  store.Store   // where they are kept; nil: in memory. It stays the caller's
	Policy policy.Policy // zero: the preset balanced

	// Summariser writes the summaries that no request waits for; one that a request waits for code
	// writes. nil: code writes all.
	Summariser plimsoll.Summariser
	// ClientSummaries has the conversation's own model write them, where there is no Summariser: it
	// is asked as the client asks it, with the client's key, in the background.
	ClientSummaries bool
	Catalog         *catalog.Catalog // nil: the embedded one
	Encodings       token.Encodings  // nil: the embedded ones

	// Window states what is known of a target better than the catalogue does: figures
	// that are 0 are not stated. nil: nothing is. A request that asks for a smaller window
	// (Ollama's num_ctx) has that.
	Window func(provider, model string) budget.Window
	// AskWindows says that the provider is asked for a window that neither Window, the catalogue
	// nor the request states, once for each model, before the policy assumes one or refuses. The
	// client waits for that, three seconds at most.
	AskWindows bool

	// ClientView says that clients are told the usage that their own history would have:
	// what edits took out is added to the prompt. A client that compacts by the usage it is
	// told then does so by its own size. false: they are told what was used.
	ClientView bool

	// Offer offers the policy's own tools to clients that bring tools: the model reads with
	// them what has left its view, in Rounds that the client does not see. A conversation has
	// them from its first request on, or never.
	Offer bool

	// Allow says which tools a model may be offered, whoever offers them; nil: all. One that
	// is not allowed is left out of requests, and a call of it is answered with the statement
	// that it is not, in a Round that the client does not see. A request that nobody here can
	// read is refused then.
	Allow func(provider, model, tool string) bool

	// AnswerCompactions says that a client that has its conversation summarised gets a summary by
	// code, at once, which costs nothing. false: its request passes as it came. Neither is part of
	// a conversation here.
	AnswerCompactions bool

	// ToolKind says where a tool of a client's comes from, by its name, such as an MCP server.
	// Where such tools take much of a window they are left out of requests, if the policy has
	// it so and its own tools are offered (Offer): the model finds them with one of those. nil:
	// no request says so, and all stay.
	ToolKind func(tool string) llm.ToolKind

	// Sessions is how many conversations are kept in memory; 0: 64. The others are read from
	// the store when they are asked for. Of sixteen times as many it is known what they begin
	// with, at 16 bytes a message.
	Sessions int

	// Log is told what goes wrong without a client's noticing; nil: nobody is.
	Log *slog.Logger
}

// A Gateway keeps the conversations of clients. Make one with [New]. It is safe for
// concurrent use.
type Gateway struct {
	options   Options
	store     *behind // the options' store
	families  families
	memory    memory
	readings  readings
	responses responses
	models    *models
	begun     atomic.Uint64 // exchanges
	saving    sync.RWMutex  // is held for reading while a snapshot is taken
}

// New returns a gateway.
func New(o Options) (*Gateway, error) {
	if o.Store == nil {
		o.Store = &store.Memory{}
	}
	if o.Catalog == nil {
		c, err := catalog.Load()
		if err != nil {
			return nil, err
		}
		o.Catalog = &c
	}
	if o.Sessions == 0 {
		o.Sessions = 64
	}
	if o.Sessions < 0 {
		return nil, fmt.Errorf("gateway: sessions, want 0 or more, got %d", o.Sessions)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{options: o, store: newBehind(o.Store), models: newModels()}
	if s, ok := o.Store.(store.Searcher); ok && o.searches() {
		g.store.index = newIndexer(s, o.Log)
	}
	g.families, g.memory = newFamilies(16*o.Sessions, g.letGo), newMemory(o.Sessions)
	g.readings = newReadings(o.Sessions)
	return g, nil
}

// searches reports whether models are offered to search what has left their view.
func (o Options) searches() bool {
	return o.Offer && (o.Policy.Name == "" || slices.Contains(o.Policy.Tools, policy.ToolSearchContext))
}

// allows returns which tools a target may be offered; nil: all.
func (g *Gateway) allows(t budget.Target) func(tool string) bool {
	if g.options.Allow == nil {
		return nil
	}
	return func(tool string) bool { return g.options.Allow(t.Provider, t.Model, tool) }
}

// kindOf returns where clients' tools come from; nil: nobody says.
func (g *Gateway) kindOf() func(llm.Tool) llm.ToolKind {
	if g.options.ToolKind == nil {
		return nil
	}
	return func(t llm.Tool) llm.ToolKind {
		if gjson.GetBytes(t.Data, "defer_loading").Bool() {
			return llm.ToolBuiltIn // its provider leaves it out, and the client's own search names it
		}
		return g.options.ToolKind(t.Name)
	}
}

// Warm loads what it takes to count for some targets, so that no client waits for it. What
// cannot be loaded says so when it is needed.
func (g *Gateway) Warm(ctx context.Context, targets ...budget.Target) {
	for _, t := range targets {
		s, err := plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{t}, Catalog: g.options.Catalog, Encodings: g.options.Encodings})
		if err == nil {
			s.Budget().Count("warm")
		}
	}
}

// Close writes what is not written yet. What passes through the gateway after it is written
// as before; the store stays open.
func (g *Gateway) Close(ctx context.Context) error {
	g.store.index.close()
	g.saving.Lock()   // what is being kept is waited for
	g.saving.Unlock() //nolint:staticcheck // nothing else is to be done in it
	var all error
	for _, name := range g.store.sessions() {
		all = errors.Join(all, g.store.flush(ctx, name))
	}
	return all
}

// target returns where a request to model goes, with what is known of its window. Where
// the request itself says how much of it the server is to have, that counts if it is less
// than what is known. Where the provider refuses a prompt that leaves less than the output
// which the client wants, that much is kept free, up to half of the window.
func (g *Gateway) target(ctx context.Context, c Call, model string, output int) budget.Target {
	t := budget.Target{Provider: c.Provider, Model: model}
	if g.options.Window != nil {
		t.Window = g.options.Window(c.Provider, model)
	}
	row, known := g.options.Catalog.Lookup(model)
	capacity := cmp.Or(t.Window.Capacity, row.Window)
	if asked, ok := c.askedWindow(); ok && (capacity == 0 || asked < capacity) {
		t.Window.Capacity, capacity = asked, asked
		t.Window, _ = t.Window.Scaled() // buffer and reserve were stated for another window
	}
	if capacity == 0 && g.options.AskWindows && c.Window != nil {
		t.Window.Capacity = g.models.window(ctx, t, c.Window)
		capacity = t.Window.Capacity
	}
	if known && !row.Capabilities.StopsAtWindow && t.Window.OutputReserve == 0 && output > 0 && capacity > 0 {
		t.Window.OutputReserve = min(output, capacity/2)
	}
	return t
}

// askedWindow returns the window that a request asks its server for.
func (c Call) askedWindow() (window int, ok bool) {
	if c.Dialect != ollama.Dialect {
		return 0, false
	}
	return ollama.AskedWindow(c.Body)
}
