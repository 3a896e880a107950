package proxy

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/telemetry"
)

// scope names what measures: this package.
const scope = "github.com/plimsoll-dev/plimsoll/proxy"

// meters are what a server measures with: what package telemetry has of sessions, as far
// as an exchange tells it, and what belongs to the server alone.
type meters struct {
	recorder  *telemetry.Recorder
	requests  metric.Int64Counter
	inFlight  metric.Int64UpDownCounter
	firstByte metric.Float64Histogram
	pings     metric.Int64Counter
}

func newMeters(p metric.MeterProvider) (meters, error) {
	if p == nil {
		p = noop.NewMeterProvider()
	}
	var m meters
	var errs [5]error
	m.recorder, errs[0] = telemetry.New(p, telemetry.Options{})
	meter := p.Meter(scope)
	m.requests, errs[1] = meter.Int64Counter("plimsoll.proxy.requests", metric.WithUnit("{request}"), metric.WithDescription("Requests that were answered."))
	m.inFlight, errs[2] = meter.Int64UpDownCounter("plimsoll.proxy.in_flight", metric.WithUnit("{request}"), metric.WithDescription("Requests that are not answered yet."))
	m.firstByte, errs[3] = meter.Float64Histogram("plimsoll.proxy.first_byte", metric.WithUnit("s"), metric.WithDescription("From a request to the first byte of its answer's body."))
	m.pings, errs[4] = meter.Int64Counter("plimsoll.proxy.pings", metric.WithUnit("{ping}"), metric.WithDescription("Pings that were written into silent streams."))
	return m, errors.Join(errs[:]...)
}

func (m *meters) begin(ctx context.Context) { m.inFlight.Add(ctx, 1) }

// end measures a request that was answered. The names of upstreams are few: whoever starts
// the server states them.
func (m *meters) end(ctx context.Context, x *exchange, w *writer) {
	m.inFlight.Add(ctx, -1)
	w.mu.Lock()
	status, first, pings := w.status, w.first, w.pings
	w.mu.Unlock()
	name := "none"
	if x.upstream != nil {
		name = x.upstream.name
	}
	provider := attribute.String("plimsoll.proxy.upstream", name)
	m.requests.Add(ctx, 1, metric.WithAttributes(provider, attribute.String("plimsoll.proxy.status", statusClass(status))))
	if first > 0 {
		m.firstByte.Record(ctx, first.Seconds(), metric.WithAttributes(provider))
	}
	if pings > 0 {
		m.pings.Add(ctx, int64(pings), metric.WithAttributes(provider))
	}
	m.session(ctx, x)
}

// session records what an exchange tells of its session.
func (m *meters) session(ctx context.Context, x *exchange) {
	r := x.reported()
	if r.Attempts == 0 {
		return
	}
	target := budget.Target{Provider: x.route.Provider, Model: r.Model}
	m.recorder.Record(ctx, plimsoll.Event{Sent: &plimsoll.Sent{
		Target: target, Count: token.Estimate{Bound: r.Tokens, Kind: r.Kind}, Limit: r.Limit, Projected: r.Tokens, Edited: r.Edited, Final: r.Final,
	}})
	if !r.Usage.IsZero() {
		m.recorder.Record(ctx, plimsoll.Event{Answered: &plimsoll.Answered{Target: target, Usage: r.Usage}})
	}
}

// statusClass is 2xx for a status from 200 to 299, and so on; none where there was no
// answer.
func statusClass(status int) string {
	if status == 0 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
