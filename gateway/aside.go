package gateway

import (
	"context"
	"errors"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// summariser returns who writes the summaries of a family's conversations; nil: code does.
func (g *Gateway) summariser(f *family) plimsoll.Summariser {
	switch s := g.options.Summariser.(type) {
	case nil:
	case plimsoll.ByCode:
		return s
	default:
		return aside{s}
	}
	if !g.options.ClientSummaries {
		return nil
	}
	return aside{plimsoll.ModelSummariser{Model: &f.model, Catalog: g.options.Catalog, Encodings: g.options.Encodings}}
}

// An aside is a summariser that no client waits for: what a request would wait for code writes.
type aside struct{ plimsoll.Summariser }

// Summarise implements plimsoll.Summariser.
func (a aside) Summarise(ctx context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	if !ask.Background {
		return plimsoll.Deterministic{}.Summarise(ctx, ask)
	}
	return a.Summariser.Summarise(ctx, ask)
}

// A clientModel asks the model of a conversation as its client did last. It is in memory only:
// what the client's requests have of keys is written nowhere.
type clientModel struct {
	mu  sync.Mutex
	ask func(context.Context, llm.Request) (llm.Response, error)
}

var errNoClient = errors.New("no request of the client says how its model is asked")

// use has the model asked as a request was made.
func (m *clientModel) use(ask func(context.Context, llm.Request) (llm.Response, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ask = ask
}

// Complete implements plimsoll.Model.
func (m *clientModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	ask := m.ask
	m.mu.Unlock()
	if ask == nil {
		return llm.Response{}, errNoClient
	}
	return ask(ctx, r)
}
