package web

import (
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// preferred is the policy that a page shows first, if it was run.
const preferred = "balanced"

// WriteReplay writes a page about results to w. The charts need the series of the
// runs (replay.Options.Series); without them a page has its tables. The results are
// not changed. The error is that of w.
func WriteReplay(w io.Writer, results []replay.Result, o Options) error {
	if o.Redact {
		r, err := newRedactor()
		if err != nil {
			return err
		}
		results = r.results(results)
	}
	b := &replayPage{page: page{sheet: sheet{Kind: "replay", Title: titleOf("Replay", sessionsOf(results))}, Data: newData("replay")}}
	for _, res := range results {
		for _, run := range res.Runs {
			b.choose(run)
		}
	}
	b.check()
	for i, res := range results {
		b.add(i, res)
	}
	b.overview(results)
	return write(w, &b.page, o)
}

// check says which buttons are pressed at first.
func (b *replayPage) check() {
	if len(b.Policies) > 0 {
		b.Policies[max(slices.Index(b.policies, preferred), 0)].Checked = true
	}
	if len(b.Windows) > 0 {
		b.Windows[0].Checked = true
	}
}

// add makes the group of a result.
func (b *replayPage) add(i int, res replay.Result) {
	g := group{Index: i, Name: segmentName(res.Session, res.Segment), Lead: lead(res), Facts: replayFacts(res), Plot: plotted(res)}
	if len(res.Runs) > 0 {
		g.Tables = append(g.Tables, compared(res))
		for _, t := range []table{kept(res), b.missing(res)} {
			if t.Rows() > 0 {
				g.Tables = append(g.Tables, t)
			}
		}
		g.Tables = append(g.Tables, b.money(res))
		if t := batches(res); t.Rows() > 0 {
			g.Tables = append(g.Tables, t)
		}
		g.Tables = append(g.Tables, predicted(res))
	}
	for _, t := range []table{agents(res.Agents, res.WithAgents), b.remarks(res), b.irreducible(res), problems(rows.RunProblems(res)), abandoned(res.Abandoned)} {
		if t.Rows() > 0 {
			g.Tables = append(g.Tables, t)
		}
	}
	b.Groups = append(b.Groups, g)
	b.Data.Groups = append(b.Data.Groups, b.draw(res, g.Name))
}

// lead says in one sentence what the group is.
func lead(res replay.Result) string {
	if res.NotRun != "" {
		return "Not run: " + clean(res.NotRun) + "."
	}
	start := map[string]string{
		"root": "from the session's own beginning", "compaction": "after the client summarised what came before",
		"microcompaction": "after the client cleared old outputs", "rollback": "after Turns were taken back",
		"resumed": "the file starts in the middle",
	}[res.Start]
	if start == "" {
		start = clean(res.Start)
	}
	return clean(fmt.Sprintf("%s, %s; %s%s%s.", res.Format, res.Model, start, begun(res.Parent, res.Kin, res.Copied > 0), where(res.Session)))
}

// replayFacts are the figures at the head of a group.
func replayFacts(res replay.Result) []fact {
	facts := []fact{
		{"Steps", count(res.Steps), count(res.Messages) + " messages" + moreCopied(res.Copied)},
		{"Largest prompt", peak(res), "tokens, as reported"},
		{"Hidden part", count(res.Overhead.Tokens + res.Overhead.Unrecorded), "tokens of each prompt, " + clean(res.Overhead.Kind)},
	}
	facts = append(facts, acceptedFacts(res.Accepted)...)
	if len(res.Runs) == 0 {
		return facts
	}
	first := res.Runs[0]
	reported := "as reported or stated"
	if n := res.Billing.EstimatedSteps; n > 0 {
		reported = fmt.Sprintf("estimated for %s of %s Steps", count(n), count(res.Steps))
	}
	facts = append(
		facts,
		fact{"The client sent", count(first.TokensRaw), "tokens in all prompts"},
		fact{"That cost", res.Billing.PaidUSD.String(), reported},
	)
	if i := slices.IndexFunc(res.Runs, func(r replay.Run) bool { return r.Policy == preferred }); i >= 0 && first.TokensRaw > 0 {
		r := res.Runs[i]
		facts = append(facts, fact{
			"Under " + preferred, r.CostUSD.String(),
			fmt.Sprintf("%s tokens, %s, window %s", count(r.TokensSent), share(r.TokensSent, r.TokensToEnd), windowName(r.Window)),
		})
	}
	return facts
}

func peak(res replay.Result) string {
	if res.Reported.Peak == 0 {
		return "–"
	}
	return count(res.Reported.Peak)
}

// draw packs the charts of a result.
func (b *replayPage) draw(res replay.Result, name string) dataGroup {
	g := dataGroup{Name: name, Runs: []dataRun{}}
	var raw []int
	for _, run := range res.Runs {
		if len(run.Series) > len(raw) {
			raw = make([]int, len(run.Series))
			for i, p := range run.Series {
				raw[i] = p.Raw
			}
		}
	}
	g.Raw = pack(raw)
	for _, run := range res.Runs {
		if len(run.Series) > 0 {
			g.Runs = append(g.Runs, b.drawRun(run))
		}
	}
	return g
}

func (b *replayPage) drawRun(run replay.Run) dataRun {
	n := len(run.Series)
	d := dataRun{
		Policy: slices.Index(b.policies, run.Policy), Window: slices.Index(b.windows, run.Window), Limit: run.Limit, Length: n,
		By:       b.Data.parts(n, func(i int) map[string]int { return contents(run.Series[i]) }),
		CostText: run.CostUSD.String(), Sent: run.TokensSent, SentRaw: run.TokensToEnd, StepsOver: run.StepsOver,
		Lost: [][2]int{}, Marks: []mark{}, Bad: [][2]int{},
	}
	read, steps, cost, ordered := make([]int, n), make([]int, n), make([]catalog.Money, n), true
	for i, p := range run.Series {
		read[i], steps[i], cost[i] = p.Read, p.Step, p.CostUSD
		ordered = ordered && p.Step == i+1
		if p.Lost > 0 {
			d.Lost = append(d.Lost, [2]int{p.Step, p.Lost})
		}
		for _, c := range p.Edits {
			d.Marks = append(d.Marks, mark{p.Step, b.Data.text(c.Rule), b.Data.text(c.Kind), b.Data.text(c.Why), c.Count, c.Before, c.After})
		}
		if p.Refused { // nothing was sent, so nothing was paid
			cost[i] = catalog.Dollars(0)
			d.Bad = append(d.Bad, [2]int{p.Step, b.Data.text("refused: no request fits")})
		}
		if p.Final != "" {
			d.Bad = append(d.Bad, [2]int{p.Step, b.Data.text("final Step forced: " + p.Final)})
		}
	}
	for _, r := range run.Irreducible {
		d.Bad = append(d.Bad, [2]int{r.Step, b.Data.text("irreducible: the floor is " + count(r.Floor) + " tokens")})
	}
	if !ordered {
		d.Steps = pack(steps)
	}
	d.Read = pack(read)
	d.Cost, d.Paid = costs(cost)
	return d
}

// contents returns what a Point's tokens are spent on; where nobody knows, all of them
// are hidden.
func contents(p replay.Point) map[string]int {
	if len(p.By) == 0 {
		return map[string]int{"hidden": p.Tokens}
	}
	return p.By
}

// overview lists the groups where there are several.
func (b *replayPage) overview(results []replay.Result) {
	if len(results) < 2 {
		return
	}
	t := table{
		Title: "Sessions and segments", Open: true,
		Head: slices.Concat(words("Segment", "Model"), numbers("Steps", "Client's tokens", "Client's cost", "Sent by "+preferred, "Cost")),
	}
	var rows [][]cell
	for i, res := range results {
		row := []cell{{Text: b.Groups[i].Name}, text(res.Model), number(res.Steps)}
		if len(res.Runs) == 0 {
			rows = append(rows, append(row, cell{Text: "–"}, cell{Text: "–"}, cell{Text: "–"}, cell{Text: "–"}))
			continue
		}
		first, sent, cost := res.Runs[0], "–", "–"
		if k := slices.IndexFunc(res.Runs, func(r replay.Run) bool { return r.Policy == preferred }); k >= 0 {
			sent, cost = count(res.Runs[k].TokensSent), res.Runs[k].CostUSD.String()
		}
		rows = append(rows, append(row, number(first.TokensRaw), cell{Text: res.Billing.PaidUSD.String()}, cell{Text: sent}, cell{Text: cost}))
	}
	t.Bodies = []body{{Rows: rows}}
	b.Overview = &t
}
