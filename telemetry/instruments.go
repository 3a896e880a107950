package telemetry

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// scope names what measures: this package.
const scope = "github.com/plimsoll-dev/plimsoll/telemetry"

// instruments are what a Recorder measures with. docs/telemetry.md has a row for each.
type instruments struct {
	// The guard document's (requirements R000-11, R000-13, R000-14).
	guardEvents     metric.Int64Counter
	remainingTokens metric.Int64Gauge

	// The GenAI conventions'.
	tokenUsage metric.Int64Histogram

	// Our own.
	requestsSent    metric.Int64Counter
	requestsRefused metric.Int64Counter
	contextUsed     metric.Int64Histogram
	contextLimit    metric.Int64Gauge
	usageTokens     metric.Int64Counter
	editsMade       metric.Int64Counter
	editTokens      metric.Int64Counter
	noticesTold     metric.Int64Counter
	missed          metric.Int64Counter
}

// newInstruments makes them all. The error joins one for each that the provider refused.
func newInstruments(p metric.MeterProvider) (instruments, error) {
	m := maker{meter: p.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))}
	i := instruments{
		guardEvents: m.counter("ai_agent_context_guard_events_total", "{event}",
			"What the context guard did about targets without room."),
		remainingTokens: m.gauge("ai_agent_context_guard_remaining_tokens", "{token}",
			"Limit less projected tokens when the guard looked last; 0 if there is no room."),
		tokenUsage: m.tokenUsage(),
		requestsSent: m.counter("plimsoll.request.sent", "{request}",
			"Requests that were prepared, each time that they were."),
		requestsRefused: m.counter("plimsoll.request.refused", "{request}",
			"Requests that could not be made to fit."),
		contextUsed: m.histogram("plimsoll.context.used", "{token}",
			"Size of prepared requests by the count, its upper bound where it is an estimate.", contextBuckets()),
		contextLimit: m.gauge("plimsoll.context.limit", "{token}",
			"What the last request was allowed to have: the window less buffer and output reserve."),
		usageTokens: m.counter("plimsoll.usage.tokens", "{token}",
			"Tokens as providers reported them, in parts that do not overlap."),
		editsMade:  m.counter("plimsoll.edit.made", "{edit}", "Edits of the view."),
		editTokens: m.counter("plimsoll.edit.tokens", "{token}", "Tokens that edits took out of the view or put into it."),
		noticesTold: m.counter("plimsoll.notice.told", "{notice}",
			"What the engine told beside its edits."),
		missed: m.counter("plimsoll.event.missed", "{event}",
			"Events that came faster than they were read, and are in no other metric."),
	}
	return i, errors.Join(m.faults...)
}

// contextBuckets are bounds of tokens near which windows of models end.
func contextBuckets() []float64 {
	return []float64{1e3, 2e3, 4e3, 8e3, 16e3, 32e3, 64e3, 96e3, 128e3, 160e3, 200e3, 256e3, 400e3, 512e3, 1e6, 2e6}
}

// usageBuckets are the bounds that the convention states for gen_ai.client.token.usage:
// the powers of 4 up to 4^13.
func usageBuckets() []float64 {
	b := make([]float64, 14)
	for i := range b {
		b[i] = float64(int(1) << (2 * i))
	}
	return b
}

// A maker makes instruments and keeps the errors.
type maker struct {
	meter  metric.Meter
	faults []error
}

func (m *maker) note(name string, err error) {
	if err != nil {
		m.faults = append(m.faults, fmt.Errorf("instrument %s: %w", name, err))
	}
}

func (m *maker) counter(name, unit, about string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
	m.note(name, err)
	return c
}

func (m *maker) gauge(name, unit, about string) metric.Int64Gauge {
	g, err := m.meter.Int64Gauge(name, metric.WithUnit(unit), metric.WithDescription(about))
	m.note(name, err)
	return g
}

func (m *maker) histogram(name, unit, about string, bounds []float64) metric.Int64Histogram {
	h, err := m.meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
	m.note(name, err)
	return h
}

// tokenUsage makes the convention's histogram, whose name, unit and text it states.
func (m *maker) tokenUsage() metric.Int64Histogram {
	h, err := genaiconv.NewClientTokenUsage(m.meter, metric.WithExplicitBucketBoundaries(usageBuckets()...))
	m.note(h.Name(), err)
	return h.Inst()
}
