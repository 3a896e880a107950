package replay

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Point is one Step of a run, as a report draws it.
type Point struct {
	Step    int            `json:"step"`
	Time    int64          `json:"time_ms,omitempty"` // Unix milliseconds; absent if nobody knows
	Raw     int            `json:"raw"`               // tokens that the client sent
	Tokens  int            `json:"tokens"`            // that the run sent
	Bound   int            `json:"bound"`
	By      map[string]int `json:"by,omitempty"` // what Tokens are spent on; adds up to it
	Read    int            `json:"cache_read"`
	Lost    int            `json:"cache_lost,omitempty"`
	CostUSD catalog.Money  `json:"cost_usd"`
	Edits   []Change       `json:"edits,omitempty"` // made since the Step before
	Refused bool           `json:"refused,omitempty"`
	Final   string         `json:"final,omitempty"`
}

// A Change is what one rule did at a Step, in one way and for one reason.
type Change struct {
	Rule   string `json:"rule"`
	Kind   string `json:"kind"`
	Why    string `json:"why"`
	Count  int    `json:"count"`
	Before int    `json:"before"` // tokens of what was taken out
	After  int    `json:"after"`  // tokens of what stands there now
}

// pay books what the request of Step i, counted from 0, costs.
func (u *runner) pay(i int, send *engine.Send) {
	rs := u.raw.steps[i]
	total := u.raw.sizeOf(i, send)
	req, by, shared := u.meter.request(i, send, total)
	if !send.Edited {
		by = rs.By
	}
	use := u.bill.send(u.bill.model(rs.model), req)
	if rs.copied {
		return
	}
	as := rs.Charge
	if send.Edited {
		as = u.bill.instead(rs, use.Usage, shared)
	}
	u.bill.charge(rs, use, as)
	model := u.bill.of(u.bill.model(rs.model))
	u.batch(i, use, model)
	u.lookUps(model, use.Prompt())
	u.spent = u.spent.Add(rs.CostUSD)
	u.point(Point{
		Step: i + 1, Time: rs.At, Raw: rs.Tokens, Tokens: total, Bound: max(send.Count.Bound, total), By: named(by),
		Read: as.Usage.CacheRead, Lost: use.Lost, CostUSD: as.CostUSD, Final: string(send.Final),
	})
}

// point adds to the series, if there is one, with the edits since the last point.
func (u *runner) point(p Point) {
	if u.run.Series == nil {
		return
	}
	journal := u.sess.Machine().Journal()
	p.Edits = changes(journal[min(u.edited, len(journal)):])
	u.edited = len(journal)
	u.run.Series = append(u.run.Series, p)
}

// settle writes the bill of the run.
func (u *runner) settle() {
	b := u.bill.bill
	b.RawUSD = u.spent
	b.SavedUSD = b.RawUSD.Sub(b.CostUSD)
	if u.raw.exactly != "" { // messages alone have no price
		b.RawUSD, b.CostUSD, b.SavedUSD, b.LookUpsUSD = catalog.Money{}, catalog.Money{}, catalog.Money{}, catalog.Money{}
	}
	if u.batches != nil {
		u.run.Batches = u.batches.batches()
		u.run.Batched = batched(u.run.Batches)
	}
	u.run.Bill, u.run.CostUSD, u.run.CacheBreaks = b, b.CostUSD, u.bill.breaks
}

// changes groups edits, in the order in which they begin.
func changes(edits []edit.Edit) []Change {
	var out []Change
	at := map[Change]int{}
	for _, e := range edits {
		key := Change{Rule: e.Rule, Kind: string(e.Kind), Why: e.Why}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, key)
		}
		out[i].Count++
		out[i].Before += e.Before
		out[i].After += e.After
	}
	return out
}

func named(by token.Contents) map[string]int {
	out := map[string]int{}
	for i, n := range by {
		if n != 0 {
			out[token.Content(i).String()] = n
		}
	}
	return out
}
