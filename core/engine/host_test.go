package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// A host drives a machine as its package comment says, with a store that can
// fail. After every step it demands of the machine what any host relies on.
type host struct {
	config engine.Config
	m      *engine.Machine
	blobs  map[llm.Ref][]byte
	lines  [][]byte // records, as they were written

	failBlobs   int  // how many puts fail from now on; -1: all
	failRecords bool // the next append fails

	asks    []engine.Ask // without an answer
	sent    []*engine.Send
	refused []*budget.OverError
	ready   func(engine.Ready, string) // is shown every Ready, and what became of it
	sizes   map[string]token.Size      // of items, measured once

	replies map[llm.MessageID]journal.Output // sizes of replies that were reported
	awaits  journal.Output                   // of the one to come
}

func newHost(c engine.Config) (*host, error) {
	m, err := engine.New(c)
	if err != nil {
		return nil, err
	}
	return &host{
		config: c, m: m, blobs: map[llm.Ref][]byte{}, sizes: map[string]token.Size{}, replies: map[llm.MessageID]journal.Output{}, ready: func(engine.Ready, string) {},
	}, nil
}

// feed feeds an input and does all that the machine asks for, but for answers.
func (h *host) feed(in engine.Input) error {
	if err := h.m.Feed(in); err != nil {
		return err
	}
	return h.drain()
}

// rounds is more Readies than any input can lead to: work is bounded (law 1).
const rounds = 12

func (h *host) drain() error {
	for range rounds {
		if !h.m.HasReady() {
			return nil
		}
		if err := h.carryOut(h.m.Ready()); err != nil {
			return err
		}
	}
	return broken("law 1: after %d Readies there is still one", rounds)
}

// A broken law is an error that no test expects.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

func broken(format string, args ...any) error { return &brokenError{fmt.Sprintf(format, args...)} }

func isBroken(err error) bool {
	var b *brokenError
	return errors.As(err, &b)
}

// carryOut does what a Ready asks for, in its order.
func (h *host) carryOut(r engine.Ready) error {
	if r.Send != nil && r.Refused != nil {
		return broken("a Ready both sends and refuses")
	}
	if r.Torn != nil && h.failBlobs == 0 {
		return broken("law 3: %v", r.Torn)
	}
	if len(r.Blobs) > 0 && h.failBlobs != 0 {
		if h.failBlobs > 0 {
			h.failBlobs--
		}
		h.ready(r, "the store takes no blobs")
		h.m.Advance(engine.Outcome{FailedBlobs: []llm.Ref{r.Blobs[0].Ref}})
		return nil
	}
	for _, b := range r.Blobs {
		if b.Ref != llm.RefOf(b.Data) {
			return broken("law 2: blob %s has another content", b.Ref)
		}
		h.blobs[b.Ref] = b.Data
	}
	if len(r.Records) > 0 && h.failRecords {
		h.failRecords = false
		h.ready(r, "the store takes no records")
		h.m.Advance(engine.Outcome{RecordsErr: errors.New("disk full")})
		return nil
	}
	for _, rec := range r.Records {
		line, err := journal.Encode(rec)
		if err != nil {
			return broken("a record cannot be written: %v", err)
		}
		h.lines = append(h.lines, line)
		h.hear(rec)
	}
	h.m.Advance(engine.Outcome{})
	h.ready(r, "")
	if r.Ask != nil {
		h.asks = append(h.asks, *r.Ask)
	}
	if r.Send != nil {
		h.sent = append(h.sent, r.Send)
	}
	if r.Refused != nil {
		h.refused = append(h.refused, r.Refused)
	}
	return nil
}

// hear notes what a record tells of the sizes of replies.
func (h *host) hear(rec journal.Record) {
	switch rec.Kind {
	case journal.KindUsage:
		h.awaits = journal.Output{}
		if rec.Usage.Output {
			h.awaits = journal.Output{Tokens: rec.Usage.Usage.Output, Model: rec.Usage.Model}
		}
	case journal.KindState:
		for _, m := range rec.State.Meters {
			if m.Awaited != nil {
				return
			}
		}
		h.awaits = journal.Output{} // another request left
	case journal.KindMessage:
		if m := rec.Message; h.awaits.Tokens > 0 && m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic) {
			h.replies[m.ID], h.awaits = h.awaits, journal.Output{}
		}
	case journal.KindFork:
		h.awaits = journal.Output{}
		for id := range h.replies {
			if id > rec.Fork.At {
				delete(h.replies, id)
			}
		}
	}
}

// known returns the sizes of the replies that the models wrote which a meter counts for,
// as they were reported.
func (h *host) known(key string) map[llm.MessageID]int {
	known := map[llm.MessageID]int{}
	states := h.m.MeterStates()
	for i, t := range h.m.Targets() {
		for id, o := range h.replies {
			if states[i].Key == key && (o.Model == t.Model || o.Model == "" && i == 0) {
				known[id] = o.Tokens
			}
		}
	}
	return known
}

// snapshot collects what was written so far, and records after it.
func (h *host) snapshot(more ...journal.Record) (journal.Snapshot, error) {
	var seq iter.Seq2[journal.Record, error] = func(yield func(journal.Record, error) bool) {
		for rec, err := range journal.Read(h.stored()) {
			if !yield(rec, err) {
				return
			}
		}
		for _, rec := range more {
			if !yield(rec, nil) {
				return
			}
		}
	}
	return journal.Collect(seq)
}

func (h *host) stored() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, l := range h.lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// restored returns a host with a new machine that has read the records.
func (h *host) restored() (*host, error) {
	s, err := h.snapshot()
	if err != nil {
		return nil, broken("the records do not read back: %v", err)
	}
	return h.continued(engine.Restore{Snapshot: s})
}

// continued returns a host that begins with in and has the same store.
func (h *host) continued(in engine.Input) (*host, error) {
	n, err := newHost(h.config)
	if err != nil {
		return nil, err
	}
	for ref, data := range h.blobs {
		n.blobs[ref] = data
	}
	n.lines = h.lines[:len(h.lines):len(h.lines)]
	maps.Copy(n.replies, h.replies)
	n.awaits = h.awaits
	if f, ok := in.(engine.Fork); ok {
		n.hear(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: f.Parent, At: f.At}})
	}
	return n, n.feed(in)
}

// written are the records from number n on.
func (h *host) written(n int) string { return string(bytes.Join(h.lines[n:], []byte("\n"))) }

// encodings keeps the vocabularies that the tests load.
type encodings struct {
	mu     sync.Mutex
	loaded map[string]*bpe.Encoding
}

func (e *encodings) load(name string) (*bpe.Encoding, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if enc, ok := e.loaded[name]; ok {
		return enc, nil
	}
	enc, err := bpe.Load(name)
	if err == nil {
		e.loaded[name] = enc
	}
	return enc, err
}

var vocabularies = &encodings{loaded: map[string]*bpe.Encoding{}}

// configured returns a config for a policy and targets.
func configured(p policy.Policy, targets ...budget.Target) (engine.Config, error) {
	c, err := catalog.Load()
	return engine.Config{Policy: p, Targets: targets, Catalog: c, Encodings: vocabularies.load}, err
}
