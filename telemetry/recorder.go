package telemetry

import (
	"cmp"
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// Options bound how many names are kept apart. A name that comes after that many others
// is counted under "other", so that what clients send cannot make ever more series. The
// zero Options are right for most programs.
type Options struct {
	MaxTargets int // pairs of provider and model; 0: DefaultTargets
	MaxRules   int // names of policy rules; 0: DefaultRules
}

// What is kept apart where Options do not say. Multiplied by every other attribute of an
// instrument both stay below the 2,000 series that OpenTelemetry's SDK has room for by
// default.
const (
	DefaultTargets = 100
	DefaultRules   = 50
)

// A Recorder turns events into measurements. It is safe for concurrent use and starts no
// goroutine. Make one with [New].
type Recorder struct {
	instruments

	targets names[target]
	rules   names[string]

	guards  memo[guardSeries]
	rooms   memo[target] // of the guard document's gauge
	limits  memo[limitSeries]
	sizes   memo[sizeSeries]
	sent    memo[sentSeries]
	refused memo[refusedSeries]
	usages  memo[usageSeries]
	parts   memo[partSeries]
	edits   memo[editSeries]
	moved   memo[movedSeries]
	notices memo[noticeSeries]
}

// New returns a Recorder whose instruments belong to provider; nil: to the global one
// ([otel.GetMeterProvider]), which nothing else here touches. The error joins those of
// the provider, one for each instrument that it refused.
func New(provider metric.MeterProvider, o Options) (*Recorder, error) {
	if o.MaxTargets < 0 || o.MaxRules < 0 {
		return nil, fmt.Errorf("telemetry: new: options, want 0 or more, got %d targets and %d rules", o.MaxTargets, o.MaxRules)
	}
	o.MaxTargets, o.MaxRules = cmp.Or(o.MaxTargets, DefaultTargets), cmp.Or(o.MaxRules, DefaultRules)
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	i, err := newInstruments(provider)
	if err != nil {
		return nil, fmt.Errorf("telemetry: new: %w", err)
	}
	return &Recorder{instruments: i, targets: names[target]{most: o.MaxTargets}, rules: names[string]{most: o.MaxRules}}, nil
}

// Follow records what happens in a session, from the oldest event that it still holds,
// and returns when ctx ends or when the session is closed and its last event is
// recorded. Call it once a session, in a goroutine of the caller's; a second one would
// count everything twice. To lose nothing, close the session, wait for Follow, and only
// then shut the provider down. What Follow was too slow for is in plimsoll.event.missed.
func (r *Recorder) Follow(ctx context.Context, s *plimsoll.Session) {
	for e := range s.Events(ctx) {
		r.Record(ctx, e)
	}
}

// Record records one event, for hosts that read [plimsoll.Session.Events] themselves. It
// is for each event once. What e points to is not kept.
func (r *Recorder) Record(ctx context.Context, e plimsoll.Event) {
	r.missed.Add(ctx, int64(e.Missed))
	switch {
	case e.Edit != nil:
		r.recordEdit(ctx, e.Edit)
	case e.Notice != nil:
		r.recordNotice(ctx, e.Notice)
	case e.Sent != nil:
		r.recordSent(ctx, e.Sent)
	case e.Refused != nil:
		r.recordRefused(ctx, e.Refused)
	case e.Answered != nil:
		r.recordAnswered(ctx, e.Answered)
	}
}

func (r *Recorder) recordEdit(ctx context.Context, e *edit.Edit) {
	s := editSeries{kind: e.Kind, rule: r.rule(e.Rule)}
	r.editsMade.Add(ctx, 1, r.edits.get(s).add...)
	if by := int64(e.Before) - int64(e.After); by >= 0 {
		r.editTokens.Add(ctx, by, r.moved.get(movedSeries{s, directionOut}).add...)
	} else {
		r.editTokens.Add(ctx, -by, r.moved.get(movedSeries{s, directionIn}).add...)
	}
}

// recordNotice counts what the engine told and, where the guard acted, what it did: that
// is the telemetry event of R000-14, which the engine tells once for each forced final
// Step.
func (r *Recorder) recordNotice(ctx context.Context, n *engine.Event) {
	r.noticesTold.Add(ctx, 1, r.notices.get(noticeSeries{n.Kind}).add...)
	g := n.Guard
	if g == nil {
		return
	}
	t := r.target(g.Target)
	r.guardEvents.Add(ctx, 1, r.guards.get(guardSeries{target: t, trigger: g.Trigger, did: g.Did}).add...)
	r.remaining(ctx, t, g.Limit, g.Projected)
}

// remaining sets the guard document's gauge. What is over the limit leaves 0.
func (r *Recorder) remaining(ctx context.Context, t target, limit, projected int) {
	r.remainingTokens.Record(ctx, int64(max(limit-projected, 0)), r.rooms.get(t).record...)
}

func (r *Recorder) recordSent(ctx context.Context, s *plimsoll.Sent) {
	t := r.target(s.Target)
	r.remaining(ctx, t, s.Limit, s.Projected)
	r.requestsSent.Add(ctx, 1, r.sent.get(sentSeries{target: t, edited: s.Edited, final: s.Final}).add...)
	r.contextUsed.Record(ctx, int64(s.Count.Bound), r.sizes.get(sizeSeries{target: t, kind: s.Count.Kind}).record...)
	r.contextLimit.Record(ctx, int64(s.Limit), r.limits.get(limitSeries{t}).record...)
}

func (r *Recorder) recordRefused(ctx context.Context, o *budget.OverError) {
	r.requestsRefused.Add(ctx, 1, r.refused.get(refusedSeries{target: r.target(o.Target), quantity: o.Quantity}).add...)
}

// recordAnswered records what a provider reported. What it left out is not recorded as 0:
// the convention wants no figure rather than a wrong one.
func (r *Recorder) recordAnswered(ctx context.Context, a *plimsoll.Answered) {
	t, u := r.target(a.Target), a.Usage
	for _, of := range [...]struct {
		kind   genaiconv.TokenTypeAttr
		tokens int
	}{{genaiconv.TokenTypeInput, u.Prompt()}, {genaiconv.TokenTypeOutput, u.Output}} {
		if of.tokens > 0 {
			r.tokenUsage.Record(ctx, int64(of.tokens), r.usages.get(usageSeries{t, of.kind}).record...)
		}
	}
	for _, of := range [...]struct {
		part   part
		tokens int
	}{{partInput, u.Input}, {partRead, u.CacheRead}, {partWritten, u.CacheWrite5m + u.CacheWrite1h}, {partOutput, u.Output}} {
		if of.tokens > 0 {
			r.usageTokens.Add(ctx, int64(of.tokens), r.parts.get(partSeries{t, of.part}).add...)
		}
	}
}
