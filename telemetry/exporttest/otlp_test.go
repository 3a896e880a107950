package exporttest_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	collect "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/telemetry"
)

// A program that sends its metrics to a collector, by OTLP over HTTP.
func Example_otlp() {
	ctx := context.Background()
	session := open()
	collector := startCollector()
	defer collector.Close()

	exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(collector.URL))
	if err != nil {
		log.Fatal(err)
	}
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(exporter)))
	recorder, err := telemetry.New(provider, telemetry.Options{})
	if err != nil {
		log.Fatal(err)
	}
	go work(session) // the agent; it closes the session at its end
	recorder.Follow(ctx, session)
	if err := provider.Shutdown(ctx); err != nil { // sends what is left
		log.Fatal(err)
	}

	for _, name := range collector.names() {
		fmt.Println(name)
	}
	// Output:
	// ai_agent_context_guard_events_total
	// ai_agent_context_guard_remaining_tokens
	// gen_ai.client.token.usage
	// plimsoll.context.limit
	// plimsoll.context.used
	// plimsoll.edit.made
	// plimsoll.edit.tokens
	// plimsoll.event.missed
	// plimsoll.notice.told
	// plimsoll.request.sent
	// plimsoll.usage.tokens
}

// TestNoBatchIsLost: a name that is not UTF-8 cannot be encoded, and the exporter would
// refuse all metrics for it.
func TestNoBatchIsLost(t *testing.T) {
	collector := startCollector()
	defer collector.Close()
	exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(collector.URL))
	if err != nil {
		t.Fatal(err)
	}
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(exporter)))
	recorder, err := telemetry.New(provider, telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recorder.Record(t.Context(), plimsoll.Event{Sent: &plimsoll.Sent{Target: budget.Target{Provider: "p", Model: "\xff"}}})
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if names := collector.names(); !slices.Contains(names, "plimsoll.request.sent") {
		t.Errorf("arrived: %v, want the request too", names)
	}
}

// A collector remembers the metrics that it is sent.
type collector struct {
	*httptest.Server

	mu   sync.Mutex
	seen []string
}

func startCollector() *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	return c
}

func (c *collector) take(r *http.Request) error {
	body := r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return err
		}
		body = z
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var batch collect.ExportMetricsServiceRequest
	if err := proto.Unmarshal(raw, &batch); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range batch.ResourceMetrics {
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				c.seen = append(c.seen, m.Name)
			}
		}
	}
	return nil
}

// names are those of the metrics that came, each once.
func (c *collector) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.seen)
	return slices.Compact(c.seen)
}
