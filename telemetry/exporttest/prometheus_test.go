package exporttest_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/plimsoll-dev/plimsoll/telemetry"
)

// A program that Prometheus reads. The names are those of the guard document, with
// nothing before or after them.
func Example_prometheus() {
	ctx := context.Background()
	session := open()

	exporter, err := prometheus.New(prometheus.WithoutScopeInfo())
	if err != nil {
		log.Fatal(err)
	}
	recorder, err := telemetry.New(metric.NewMeterProvider(metric.WithReader(exporter)), telemetry.Options{})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/metrics", promhttp.Handler())
	go work(session) // the agent; it closes the session at its end
	recorder.Follow(ctx, session)

	for _, line := range scrape(http.DefaultServeMux) {
		series, value, _ := strings.Cut(line, " ")
		switch name, _, _ := strings.Cut(series, "{"); name {
		case "ai_agent_context_guard_remaining_tokens":
			fmt.Println(series)
		case "ai_agent_context_guard_events_total", "gen_ai_client_token_usage_sum", "plimsoll_request_sent_total":
			fmt.Println(series, value)
		}
	}
	// Output:
	// ai_agent_context_guard_events_total{model="gpt-5",outcome="forced_final",provider="openai",trigger="turn_preflight"} 1
	// ai_agent_context_guard_remaining_tokens{model="gpt-5",provider="openai"}
	// gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_token_type="input"} 9500
	// gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_token_type="output"} 250
	// plimsoll_request_sent_total{gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",plimsoll_request_edited="false",plimsoll_request_final="none"} 1
	// plimsoll_request_sent_total{gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",plimsoll_request_edited="true",plimsoll_request_final="context"} 1
}

// scrape reads /metrics as Prometheus does, and returns it without the comments, sorted.
func scrape(h http.Handler) []string {
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := http.Get(server.URL + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	var out []string
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "#") {
			out = append(out, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	slices.Sort(out)
	return out
}
