package replay

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// describe notes what the billing of every run of a segment needs.
func (r *raw) describe(c token.Counter) {
	r.counter = c
	r.contents = make([]token.Contents, len(r.segment.Entries))
	reported, cached := false, false
	var short, long uint64 // tokens written to the cache, by lifetime
	for i, e := range r.segment.Entries {
		r.contents[i] = token.ContentsOf(c, e.Message, false)
		if e.Step != nil && e.Step.Reported {
			u := e.Step.Usage
			reported = true
			cached = cached || u.CacheRead+u.CacheWrite5m+u.CacheWrite1h > 0
			short, long = short+uint64(max(u.CacheWrite5m, 0)), long+uint64(max(u.CacheWrite1h, 0))
		}
	}
	r.caches = cached || !reported
	r.long = long > 0 && long >= short
}

// times gives each Step the time at which its prompt was complete, and its output.
func (r *raw) times() (at []int64, output []int) {
	last := int64(0)
	for i, e := range r.segment.Entries {
		if s := e.Step; s != nil {
			at = append(at, cmp.Or(last, s.Time, e.Time))
			out := s.Usage.Output
			if !s.OutputReported {
				out = max(out, r.contents[i].Total())
			}
			output = append(output, out)
		}
		if e.Time != 0 {
			last = e.Time
		}
	}
	return append(at, last), append(output, 0) // of a request without a reply
}

// A rawBiller books what the client itself sent.
type rawBiller struct {
	*biller
	meter  *meter
	at     []int64
	output []int
	errors []int // of the reads of each Step that was compared, ppm of its prompt
}

func (r *Replayer) rawBiller(raw *raw) *rawBiller {
	b := &rawBiller{biller: r.biller(raw), meter: newMeter(raw)}
	b.at, b.output = raw.times()
	billing := &raw.billing
	billing.ReportedUSD, billing.StatedUSD = catalog.Dollars(0), catalog.Dollars(0)
	if !raw.caches {
		billing.Cache = "off"
	} else if rule, ok := r.catalog.CacheRuleOf(raw.model); ok {
		billing.Cache = rule.Name
		if n := len(rule.Lifetimes); n > 0 {
			billing.Lifetime = rule.Lifetimes[0]
			if raw.long {
				billing.Lifetime = rule.Lifetimes[n-1]
			}
		}
	}
	return b
}

// step books the Step that was just added to the raw segment.
func (b *rawBiller) step(step *sessionfile.Step, send *engine.Send) {
	i := len(b.raw.steps) - 1
	rs := &b.raw.steps[i]
	rs.at, rs.output = b.at[i], b.output[i]
	req, _ := b.meter.request(i, send, rs.prompt)
	use := b.send(b.model(rs.model), req)
	rs.cost = b.charge(rs, use.Usage)
	b.compare(step, use.Usage)
}

// model returns the model that a Step is charged as.
func (b *biller) model(recorded string) string {
	if b.r.opts.Model != "" || recorded == "" {
		return b.raw.model
	}
	return recorded
}

// compare sets what was simulated beside what was reported.
func (b *rawBiller) compare(step *sessionfile.Step, use llm.Usage) {
	billing := &b.raw.billing
	switch {
	case step.Cost > 0:
		billing.StatedUSD = billing.StatedUSD.Add(catalog.Dollars(step.Cost))
	case !step.Usage.IsZero(): // a sum with something unknown is unknown
		billing.StatedUSD = catalog.Money{}
	}
	if !step.Reported {
		return
	}
	cost := catalog.Money{}
	if step.Unpriced == "" {
		cost = b.of(step.Model).cost(step.Usage)
	}
	billing.ReportedUSD = billing.ReportedUSD.Add(cost)
	if !b.raw.caches {
		return
	}
	billing.Compared++
	billing.ReadReported += step.Usage.CacheRead
	billing.ReadSimulated += use.CacheRead
	billing.WriteReported += step.Usage.CacheWrite5m + step.Usage.CacheWrite1h
	billing.WriteSimulated += use.CacheWrite5m + use.CacheWrite1h
	off := step.Usage.CacheRead - use.CacheRead
	b.errors = append(b.errors, int(int64(max(off, -off))*1_000_000/int64(max(step.Usage.Prompt(), 1))))
}

// finish completes the billing of the segment.
func (b *rawBiller) finish() {
	billing := &b.raw.billing
	if billing.Compared == 0 && billing.ReportedUSD.Pico == 0 {
		billing.ReportedUSD = catalog.Money{}
	}
	if billing.StatedUSD.Pico == 0 {
		billing.StatedUSD = catalog.Money{}
	}
	if n := len(b.errors); n > 0 {
		slices.Sort(b.errors)
		billing.ReadErrorP50PPM = b.errors[n/2]
	}
}
