package web_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/web"
)

// TestOneFigureForOneThing reads every fixture of the readers and every example, and holds each figure that the report, the
// run that changes nothing and the two pages have in common against the others: calls, tokens, peaks, money, messages.
func TestOneFigureForOneThing(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	sessions := everySession(t)
	if len(sessions) < 50 {
		t.Fatalf("want the readers' fixtures and the examples, got %d sessions", len(sessions))
	}
	o, off, compared := inspect.Options{Catalog: cat, Encodings: (&plimsoll.Encodings{}).Load}, replayerOf(t, cat), 0
	for _, s := range sessions {
		t.Run(s.Path, func(t *testing.T) {
			a := agreement{t: t}
			if a.report, err = inspect.Session(s, o); err != nil {
				t.Fatal(err)
			}
			if err := off.Session(t.Context(), s, func(res replay.Result) error { a.results = append(a.results, res); return nil }); err != nil {
				t.Fatal(err)
			}
			a.totals()
			a.segments()
			a.pages()
			compared += a.compared
		})
	}
	if compared < 100 {
		t.Errorf("want at least 100 segments with calls compared, got %d", compared)
	}
}

// everySession reads the fixtures and the examples, as far as they are sessions.
func everySession(t *testing.T) []*sessionfile.Session {
	t.Helper()
	var out []*sessionfile.Session
	add := func(name string, data []byte) {
		if s, err := formats.Read(name, bytes.NewReader(data)); err == nil { // others are fixtures of what cannot be read
			out = append(out, s)
		}
	}
	fixtures, err := filepath.Glob("../sessionfile/formats/testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range fixtures {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files[:min(1, len(archive.Files))] {
			add(filepath.ToSlash(strings.TrimPrefix(file, "../sessionfile/formats/testdata/"))+"/"+f.Name, f.Data)
		}
	}
	for _, pattern := range []string{"../examples/*.json*", "../sessionfile/formats/testdata/recorded/*.json*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			add(filepath.Base(file), data)
		}
	}
	return out
}

// replayerOf runs the policy off in a window as large as the session, with its points.
func replayerOf(t *testing.T, cat catalog.Catalog) *replay.Replayer {
	t.Helper()
	off, err := policy.Preset("off")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := replay.ParseWindow("100%")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{off}, Windows: []replay.WindowSpec{whole}, Series: true, Catalog: &cat})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An agreement is a session in all its views.
type agreement struct {
	t        *testing.T
	report   inspect.Report
	results  []replay.Result
	compared int
}

// same holds figures against each other; the first is what a hand sum over the Steps comes to.
func same[T comparable](t *testing.T, what string, figures ...T) {
	t.Helper()
	for _, f := range figures[1:] {
		if f != figures[0] {
			t.Errorf("%s: the views have %v", what, figures)
			return
		}
	}
}

// A sum is what Steps of a session's own come to.
type sum struct {
	steps, copied, tokens, peak int
	cost                        catalog.Money
	estimated                   int
}

func (x *sum) add(seg inspect.Segment) {
	for _, s := range seg.Steps {
		if s.Copied != "" {
			x.copied++
			continue
		}
		x.steps++
		x.tokens += s.Tokens
		x.peak = max(x.peak, s.Tokens)
		x.cost = x.cost.Add(s.CostUSD)
		if s.CostKind == inspect.CostEstimated {
			x.estimated++
		}
	}
}

// totals holds the report's sums against its Steps.
func (a *agreement) totals() {
	all, got := sum{cost: catalog.Dollars(0)}, a.report.Totals
	for _, seg := range a.report.Segments {
		all.add(seg)
	}
	if all.steps == 0 {
		all.cost = catalog.Money{}
	}
	same(a.t, "steps, copied, tokens, peak and cost of the session", all, sum{got.Steps, got.CopiedSteps, got.Tokens, got.Peak, got.CostUSD, got.CostEstimated})
	first := a.results[0]
	same(a.t, "parent", a.report.Parent, first.Parent)
	same(a.t, "kin", a.report.Kin, first.Kin)
	same(a.t, "problems", len(a.report.Problems), len(first.Problems))
	same(a.t, "segments", max(len(a.report.Segments), 1), len(a.results))
}

func (a *agreement) segments() {
	for i, seg := range a.report.Segments {
		res, t := a.results[i], a.t
		want := sum{cost: catalog.Dollars(0)}
		want.add(seg)
		same(t, "number", seg.Number, res.Segment)
		same(t, "messages", seg.Messages, res.Messages)
		same(t, "model", seg.Model, res.Model)
		same(t, "start", seg.Start, res.Start)
		final := strings.HasSuffix(a.report.Format, "-request")
		if !final {
			same(t, "steps", want.steps, res.Steps)
			same(t, "copied", want.copied, res.Copied)
		}
		if len(seg.Steps) == 0 {
			continue
		}
		same(t, "why it is not run", seg.NotRun, res.NotRun)
		if res.NotRun != "" {
			continue
		}
		a.compared++
		a.run(seg, res, want)
	}
}

// run holds the run that changes nothing against the Steps of its segment.
func (a *agreement) run(seg inspect.Segment, res replay.Result, want sum) {
	t, run := a.t, res.Runs[0]
	same(t, "hidden", seg.Hidden, res.Overhead)
	same(t, "tokens", want.tokens, run.TokensRaw, run.TokensToEnd, run.TokensSent)
	same(t, "peak", want.peak, run.PeakSent)
	same(t, "steps of the run", want.steps, run.Steps, len(run.Series))
	same(t, "steps over at 100 %", 0, run.StepsOver, run.OverCommon)
	same(t, "cost", want.cost, res.Billing.PaidUSD, run.CostUSD, run.Bill.CostUSD, run.Bill.RawUSD)
	same(t, "steps whose cost is estimated", want.estimated, res.Billing.EstimatedSteps)
	same(t, "tokens of the bill", run.Bill.Input+run.Bill.CacheRead+run.Bill.CacheWrite5m+run.Bill.CacheWrite1h, chargedOf(seg))
	for k, s := range seg.Own() {
		if k >= len(run.Series) {
			break
		}
		p := run.Series[k]
		same(t, "number of a step", s.Step, p.Step)
		same(t, "tokens of a step", s.Tokens, p.Tokens, p.Raw)
		same(t, "cost of a step", s.CostUSD, p.CostUSD)
		if s.Cache != nil {
			same(t, "tokens read from the cache", s.Cache.Read, p.Read)
		}
		if !maps.Equal(s.By, p.By) {
			t.Errorf("step %d by content: inspect %v, replay %v", s.Step, s.By, p.By)
		}
	}
}

// chargedOf returns the prompt tokens that a segment's Steps are charged for: as reported, of others their size.
func chargedOf(seg inspect.Segment) int {
	n := 0
	for _, s := range seg.Own() {
		size := s.Tokens
		if u := s.Usage; u != nil {
			size = cmp.Or(u.Input+u.CacheRead+u.CacheWrite5m+u.CacheWrite1h, size)
		}
		n += size
	}
	return n
}

// A drawn is what a page has of a chart.
type drawn struct {
	N, Paid, Sent, RawSent, Over int
	Cost, USD                    string
}

// pages holds what the two pages draw against the same figures.
func (a *agreement) pages() {
	var one, two bytes.Buffer
	if err := web.WriteInspect(&one, []inspect.Report{a.report}, web.Options{}); err != nil {
		a.t.Fatal(err)
	}
	if err := web.WriteReplay(&two, a.results, web.Options{}); err != nil {
		a.t.Fatal(err)
	}
	type groups struct{ Groups []struct{ Runs []drawn } }
	var looked, ran groups
	for _, p := range []struct {
		page []byte
		into *groups
	}{{one.Bytes(), &looked}, {two.Bytes(), &ran}} {
		_, rest, _ := bytes.Cut(p.page, []byte(`id="data">`))
		data, _, _ := bytes.Cut(rest, []byte("</script>"))
		if err := json.Unmarshal(data, p.into); err != nil {
			a.t.Fatal(err)
		}
	}
	for i, seg := range a.report.Segments {
		if len(looked.Groups[i].Runs) == 0 {
			continue
		}
		want := sum{cost: catalog.Dollars(0)}
		want.add(seg)
		d := looked.Groups[i].Runs[0]
		same(a.t, "tokens on the page", want.tokens, d.Sent)
		same(a.t, "steps on the page", want.steps+want.copied, d.N)
		if want.cost.Known && want.steps > 0 {
			same(a.t, "cost on the page", want.cost.String(), d.USD)
		}
		if len(ran.Groups[i].Runs) == 0 {
			continue
		}
		r := ran.Groups[i].Runs[0]
		same(a.t, "tokens on the replay's page", want.tokens, r.Sent, r.RawSent)
		same(a.t, "steps on the replay's page", want.steps, r.N)
		same(a.t, "cost on the replay's page", want.cost.String(), r.USD)
		same(a.t, "steps over on the replay's page", 0, r.Over)
		if want.copied == 0 && d.Paid == d.N && d.N > 0 {
			same(a.t, "the line of costs", lastOf(a.t, d.Cost, d.Paid), lastOf(a.t, r.Cost, r.Paid))
		}
	}
}

// lastOf returns the last figure of a series.
func lastOf(t *testing.T, packed string, n int) int { return unpack(t, packed, n)[n-1] }
