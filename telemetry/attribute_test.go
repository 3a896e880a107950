package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/telemetry"
)

// TestNothingPersonal: no attribute has anything of the conversation, its session or its
// refs, whatever happened.
func TestNothingPersonal(t *testing.T) {
	g := gather(t, zero)
	refs := everything(t, g)
	seen := 0
	for name, m := range g.metrics(t) {
		for _, p := range points(t, m) {
			for _, a := range p.attributes.ToSlice() {
				seen++
				v := a.Value.String()
				for _, bad := range append(refs, "session-of-a-person", "secret", "read", "c1") {
					if v == bad || len(bad) > 4 && strings.Contains(v, bad) {
						t.Errorf("%s: attribute %s is %q, want nothing of the conversation", name, a.Key, v)
					}
				}
			}
		}
	}
	if seen < 50 || len(refs) == 0 {
		t.Errorf("saw %d attributes and %d refs, want those of a session in which all happened", seen, len(refs))
	}
}

// everything lets happen what there is a metric for, and returns the refs of what was
// taken out.
func everything(t *testing.T, g gathering) (refs []string) {
	t.Helper()
	record := func(s *plimsoll.Session) {
		for _, e := range g.settled(t, s) {
			if e.Edit != nil {
				for _, r := range e.Edit.Refs {
					refs = append(refs, string(r))
				}
			}
		}
	}
	s := open(t, "guard", target("near", "small", 20_000), target("far", "large", 30_000))
	add(t, s, human(tokens(10_000)+"the secret of a person"))
	for n := range 12 {
		prepare(t, s)
		if err := s.Observe(t.Context(), llm.Usage{Input: 9_000, CacheRead: 100, CacheWrite5m: 10, Output: 20}); err != nil {
			t.Fatal(err)
		}
		add(t, s, calls(n, 1), output(n, 300))
	}
	record(s)
	s = open(t, "balanced", target("p", "m", 12_000))
	if err := s.SetSections(t.Context(), []llm.Section{{Text: tokens(20_000)}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Go on."))
	if _, err := s.Prepare(t.Context()); !errors.Is(err, plimsoll.ErrRefused) {
		t.Fatalf("got %v, want %v", err, plimsoll.ErrRefused)
	}
	record(s)
	return refs
}

// TestBounded: who can choose a model's name cannot make ever more series, and what is
// no name does not get out.
func TestBounded(t *testing.T) {
	ctx := context.Background()
	sent := func(provider, model string) plimsoll.Event {
		return plimsoll.Event{Kind: plimsoll.EventSent, Sent: &plimsoll.Sent{Target: target(provider, model, 10_000), Limit: 8_000}}
	}
	t.Run("targets", func(t *testing.T) {
		g := gather(t, telemetry.Options{MaxTargets: 5})
		for n := range 1_000 {
			g.Record(ctx, sent("p", fmt.Sprint("m", n)))
		}
		g.Record(ctx, sent("p", "m3")) // still kept apart
		got := g.values(t, "plimsoll.request.sent", "gen_ai.provider.name", "gen_ai.request.model")
		if len(got) != 6 || got["other other"] != 995 || got["p m3"] != 2 {
			t.Errorf("series %v, want 5 and the rest", got)
		}
	})
	t.Run("rules", func(t *testing.T) {
		g := gather(t, zero)
		for n := range 1_000 {
			g.Record(ctx, plimsoll.Event{Edit: &edit.Edit{Kind: edit.KindTrim, Rule: fmt.Sprint("r", n), Before: 3, After: 1}})
		}
		got := g.values(t, "plimsoll.edit.made", "plimsoll.edit.rule")
		if len(got) != telemetry.DefaultRules+1 || got["other"] != 1_000-telemetry.DefaultRules || g.total(t, "plimsoll.edit.tokens") != 2_000 {
			t.Errorf("series %v, want %d and the rest", got, telemetry.DefaultRules)
		}
	})
	t.Run("names", func(t *testing.T) {
		g := gather(t, zero)
		g.Record(ctx, sent("", "gpt-5"))
		g.Record(ctx, sent("p", "\xff\xfe"))
		g.Record(ctx, sent(strings.Repeat("p", 129), "m"))
		g.Record(ctx, plimsoll.Event{Edit: &edit.Edit{Kind: edit.KindNote}})
		for name, m := range g.metrics(t) {
			for _, p := range points(t, m) {
				for _, a := range p.attributes.ToSlice() {
					if v := a.Value.String(); v == "" || len(v) > 128 || !utf8.ValidString(v) {
						t.Errorf("%s: attribute %s is %q", name, a.Key, v)
					}
				}
			}
		}
		got := g.values(t, remaining, "provider", "model")
		for _, want := range []string{"unknown gpt-5", "p other", "other m"} {
			if _, ok := got[want]; !ok {
				t.Errorf("series %v, want %q", got, want)
			}
		}
	})
}

// TestProviders: names that the GenAI conventions have are used in their metrics, and the
// guard document's metrics keep what the host says.
func TestProviders(t *testing.T) {
	g := gather(t, zero)
	for _, of := range []string{"anthropic", "openai", "google", "gemini", "mistral", "xai", "vertex", "bedrock", "azure", "my-gateway"} {
		g.Record(context.Background(), plimsoll.Event{Sent: &plimsoll.Sent{Target: target(of, "m", 10_000)}})
	}
	got, plain := g.values(t, "plimsoll.request.sent", "gen_ai.provider.name"), g.values(t, remaining, "provider")
	for _, want := range []string{"anthropic", "openai", "gcp.gemini", "mistral_ai", "x_ai", "gcp.vertex_ai", "aws.bedrock", "azure.ai.openai", "my-gateway"} {
		if got[want] == 0 {
			t.Errorf("%q is not among %v", want, got)
		}
	}
	if got["gcp.gemini"] != 2 || len(plain) != 10 {
		t.Errorf("%v and %v, want google and gemini under one name only in the former", got, plain)
	}
}

// TestBuckets: the GenAI conventions state the bounds of their histogram.
func TestBuckets(t *testing.T) {
	g := gather(t, zero)
	g.Record(context.Background(), plimsoll.Event{Answered: &plimsoll.Answered{Usage: llm.Usage{Input: 5}}})
	h, ok := g.metrics(t)["gen_ai.client.token.usage"].Data.(metricdata.Histogram[int64])
	if !ok || fmt.Sprint(h.DataPoints[0].Bounds) !=
		"[1 4 16 64 256 1024 4096 16384 65536 262144 1.048576e+06 4.194304e+06 1.6777216e+07 6.7108864e+07]" {
		t.Errorf("got %+v", h)
	}
}

func TestNew(t *testing.T) {
	t.Run("without a provider, the global one", func(t *testing.T) {
		reader := sdk.NewManualReader()
		before := otel.GetMeterProvider()
		otel.SetMeterProvider(sdk.NewMeterProvider(sdk.WithReader(reader)))
		t.Cleanup(func() { otel.SetMeterProvider(before) })
		r, err := telemetry.New(nil, zero)
		if err != nil {
			t.Fatal(err)
		}
		r.Record(context.Background(), plimsoll.Event{Notice: &engine.Event{Kind: engine.EventUsage}})
		if got := (gathering{r, reader}).total(t, "plimsoll.notice.told"); got != 1 {
			t.Errorf("counted %d notices, want 1", got)
		}
	})
	t.Run("a negative bound", func(t *testing.T) {
		_, err := telemetry.New(noop.NewMeterProvider(), telemetry.Options{MaxRules: -1})
		if err == nil || !strings.Contains(err.Error(), "want 0 or more, got 0 targets and -1 rules") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a provider that refuses", func(t *testing.T) {
		_, err := telemetry.New(refusing{}, zero)
		if !errors.Is(err, errNoGauge) || !strings.Contains(err.Error(), "plimsoll.context.limit") || !strings.Contains(err.Error(), remaining) {
			t.Errorf("got %v, want both gauges named", err)
		}
	})
}

// refusing is a provider that has no gauges.
type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

var errNoGauge = errors.New("no gauges here")

func (refusingMeter) Int64Gauge(string, ...metric.Int64GaugeOption) (metric.Int64Gauge, error) {
	return nil, errNoGauge
}

// TestCost: only who imports this package has OpenTelemetry in the program, and then the
// API alone.
func TestCost(t *testing.T) {
	for pkg, allowed := range map[string]bool{"": false, "/store/sqlite": false, "/telemetry": true} {
		pkg = "github.com/plimsoll-dev/plimsoll" + pkg
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", pkg, err)
		}
		for dep := range strings.Lines(string(out)) {
			dep = strings.TrimSpace(dep)
			if !strings.Contains(dep, "opentelemetry.io/") {
				continue
			}
			if !allowed || strings.HasPrefix(dep, "go.opentelemetry.io/otel/sdk") || strings.Contains(dep, "/exporters/") {
				t.Errorf("%s depends on %s", pkg, dep)
			}
		}
	}
}

// BenchmarkRecord records one event of each kind.
func BenchmarkRecord(b *testing.B) {
	g := gather(b, zero)
	for name, e := range oneOfEach() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g.Record(context.Background(), e)
			}
		})
	}
}

// TestAllocations: recording makes no attributes anew.
func TestAllocations(t *testing.T) {
	g := gather(t, zero)
	for name, e := range oneOfEach() {
		if n := testing.AllocsPerRun(1_000, func() { g.Record(context.Background(), e) }); n > 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

func oneOfEach() map[string]plimsoll.Event {
	to := target("p", "m", 10_000)
	return map[string]plimsoll.Event{
		"edit":     {Edit: &edit.Edit{Kind: edit.KindTrim, Rule: "r", Before: 9, After: 1}},
		"notice":   {Notice: &engine.Event{Kind: engine.EventSkip, Guard: &engine.GuardAction{Trigger: engine.TurnPreflight, Did: engine.SkippedProvider, Target: to}}},
		"sent":     {Sent: &plimsoll.Sent{Target: to, Limit: 8_000, Projected: 4_000}},
		"answered": {Answered: &plimsoll.Answered{Target: to, Usage: llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, Output: 4}}},
	}
}
