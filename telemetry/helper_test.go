package telemetry_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/telemetry"
)

// A gathering is a Recorder and what it measured.
type gathering struct {
	*telemetry.Recorder
	reader *sdk.ManualReader
}

func gather(t testing.TB, o telemetry.Options) gathering {
	t.Helper()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	r, err := telemetry.New(provider, o)
	if err != nil {
		t.Fatal(err)
	}
	return gathering{r, reader}
}

// metrics are the instruments that have measured something, by name.
func (g gathering) metrics(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := g.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			out[m.Name] = m
		}
	}
	return out
}

// A point is one data point: of a histogram its sum and count.
type point struct {
	attributes attribute.Set
	value      int64
	count      uint64
}

func points(t testing.TB, m metricdata.Metrics) []point {
	t.Helper()
	var out []point
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		if !d.IsMonotonic {
			t.Errorf("%s can fall, want a counter", m.Name)
		}
		for _, p := range d.DataPoints {
			out = append(out, point{p.Attributes, p.Value, 1})
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			out = append(out, point{p.Attributes, p.Value, 1})
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			out = append(out, point{p.Attributes, p.Sum, p.Count})
		}
	case nil: // nothing was measured
	default:
		t.Fatalf("%s: data %T", m.Name, d)
	}
	return out
}

// values are an instrument's values by the values of some of its attributes, joined
// with a space. Points that these do not tell apart are added.
func (g gathering) values(t testing.TB, name string, by ...attribute.Key) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, p := range points(t, g.metrics(t)[name]) {
		var key []string
		for _, k := range by {
			v, ok := p.attributes.Value(k)
			if !ok {
				t.Errorf("%s: want attribute %s, got %v", name, k, p.attributes.ToSlice())
			}
			key = append(key, v.String())
		}
		out[strings.Join(key, " ")] += p.value
	}
	return out
}

// total adds up all points of an instrument.
func (g gathering) total(t testing.TB, name string) int64 {
	t.Helper()
	var n int64
	for v := range maps.Values(g.values(t, name)) {
		n += v
	}
	return n
}

// settled closes a session and records all of it, returning the events too.
func (g gathering) settled(t testing.TB, s *plimsoll.Session) []plimsoll.Event {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	g.Follow(context.Background(), s)
	return slices.Collect(s.Events(context.Background()))
}

const (
	guardEvents = "ai_agent_context_guard_events_total"
	remaining   = "ai_agent_context_guard_remaining_tokens"
)

func target(provider, model string, capacity int) budget.Target {
	return budget.Target{Provider: provider, Model: model, Window: budget.Window{Capacity: capacity, Buffer: 500, OutputReserve: 1_500}}
}

func open(t testing.TB, preset string, targets ...budget.Target) *plimsoll.Session {
	t.Helper()
	p, err := policy.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	s, err := plimsoll.Open(context.Background(), plimsoll.Options{ID: "session-of-a-person", Policy: p, Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *plimsoll.Session, messages ...llm.Message) {
	t.Helper()
	for _, m := range messages {
		if err := s.Append(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
}

func human(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}
}

func reply(text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: text}}}
}

// calls are a message with calls of read, numbered from first.
func calls(first, n int) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	for i := range n {
		m.Parts = append(m.Parts, llm.ToolCall{CallID: fmt.Sprint("c", first+i), Name: "read", Args: "{}"})
	}
	return m
}

// output is the result of a call, of some 15 tokens a line.
func output(n, lines int) llm.Message {
	var text strings.Builder
	for line := range lines {
		fmt.Fprintf(&text, "file %d, line %d: the secret of a person is not here\n", n, line)
	}
	return llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: fmt.Sprint("c", n), Content: []llm.Part{llm.Text{Text: text.String()}}},
	}}
}

// tokens is a text of about n tokens.
func tokens(n int) string { return strings.Repeat("so ", n) }

func prepare(t testing.TB, s *plimsoll.Session) {
	t.Helper()
	if _, err := s.Prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
}
