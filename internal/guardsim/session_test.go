package guardsim

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// known is what all sessions share and nobody changes.
var (
	known     = sync.OnceValues(catalog.Load)
	encodings plimsoll.Encodings
)

// A guarded is a session as the simulation uses one: all calls of the library stand here.
type guarded struct {
	s     *plimsoll.Session
	store *store.Memory
	rules policy.Policy
}

func openGuarded(ctx context.Context, p *plan) (guarded, error) {
	rules, err := policy.Preset(p.policy)
	if err != nil {
		return guarded{}, err
	}
	g := guarded{store: new(store.Memory), rules: rules}
	g.s, err = g.open(ctx, "made-up", p.targets)
	return g, err
}

func (g guarded) open(ctx context.Context, id string, targets []budget.Target) (*plimsoll.Session, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	return plimsoll.Open(ctx, plimsoll.Options{ID: id, Store: g.store, Policy: g.rules, Targets: targets, Catalog: &all, Encodings: encodings.Load})
}

// reopened returns the session as a program has it that opens it anew from what is stored
// now. Both can go on.
func (g guarded) reopened(ctx context.Context, id string, targets []budget.Target) (guarded, error) {
	n, err := g.records(ctx)
	if err != nil {
		return g, err
	}
	if err := g.store.Fork(ctx, g.s.ID(), id, n); err != nil {
		return g, err
	}
	g.s, err = g.open(ctx, id, targets)
	return g, err
}

// records returns how many were stored.
func (g guarded) records(ctx context.Context) (n int, err error) {
	for _, err := range g.store.Records(ctx, g.s.ID(), 0) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (g guarded) append(ctx context.Context, m llm.Message) error { return g.s.Append(ctx, m) }

func (g guarded) setTools(ctx context.Context, t []llm.Tool) error { return g.s.SetTools(ctx, t) }

func (g guarded) setSections(ctx context.Context, s []llm.Section) error {
	return g.s.SetSections(ctx, s)
}

// result hands in the output of one call. Some tools ask for room first; one that gets none
// is not run, nor is any once the budget says so (R000-22, R000-23).
func (g guarded) result(ctx context.Context, o output) error {
	b := g.s.Budget()
	if !b.CanExecute(o.tool) {
		return g.s.Skip(ctx, o.call)
	}
	r := plimsoll.Result{CallID: o.call, Body: strings.NewReader(o.text), IsError: o.failed}
	if o.reserves && b.Preview(o.most) {
		held, err := b.Reserve(ctx, o.most)
		if _, full := errors.AsType[*plimsoll.BudgetError](err); full {
			return g.s.Skip(ctx, o.call) // others were faster
		} else if err != nil {
			return err
		}
		r.Reserved = held
	}
	_, err := g.s.ToolResult(ctx, r)
	return err
}

func (g guarded) prepare(ctx context.Context, targets ...budget.Target) (*engine.Send, error) {
	return g.s.Prepare(ctx, targets...)
}

func (g guarded) observe(ctx context.Context, u llm.Usage) error { return g.s.Observe(ctx, u) }

// rejected tells of a provider's refusal.
func (g guarded) rejected(ctx context.Context, err error) (*engine.Send, error) {
	return g.s.Rejected(ctx, err)
}

func (g guarded) turnEnd(ctx context.Context) error { return g.s.TurnEnd(ctx) }

func (g guarded) blob(ctx context.Context, ref llm.Ref) ([]byte, error) { return g.s.Blob(ctx, ref) }

// edits returns how many edits were made so far, and whether any of them since the first
// from took something out.
func (g guarded) edits(from int) (n int, took bool) {
	all := g.s.Edits()
	for _, e := range all[min(from, len(all)):] {
		took = took || e.Op != edit.Insert
	}
	return len(all), took
}

// windows returns what the targets are taken to have.
func (g guarded) windows() []budget.Target { return g.s.View().Targets }

// counters are the figures that law 10 is about.
type counters struct {
	guard int // current, pending and fresh tokens of the guard
	view  int // the count of the view for the preferred target
	final engine.Reason
}

// counters reads them.
func (g guarded) counters() counters {
	u := g.s.Usage()
	return counters{guard: u.Guard.Current + u.Guard.Pending + u.Guard.Fresh, view: u.Count.Bound, final: u.Final}
}
