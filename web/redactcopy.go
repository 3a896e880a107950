package web

import (
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

func (r *redactor) results(list []replay.Result) []replay.Result { return each(list, r.result) }

func (r *redactor) result(res replay.Result) replay.Result {
	return replay.Result{
		Schema: res.Schema, Session: r.session(res.Session), Format: in(r.formats, res.Format), Segment: res.Segment,
		Start: in(startWords, res.Start), Base: replay.Base(in(baseWords, string(res.Base))), NotRun: presence(res.NotRun, "its requests cannot be rebuilt"), Model: r.model(res.Model),
		Steps: res.Steps, Copied: res.Copied, Messages: res.Messages, Parent: id(res.Parent), Kin: in(kinWords, res.Kin), Reported: res.Reported,
		Problems: each(res.Problems, func(p replay.Problem) replay.Problem {
			return replay.Problem{File: r.session(p.File), Line: p.Line, What: problemKind}
		}),
		Abandoned: each(res.Abandoned, func(b replay.Branch) replay.Branch {
			return replay.Branch{First: b.First, Last: b.Last, Messages: b.Messages, Why: in(whyWords, b.Why), Took: b.Took}
		}),
		Overhead: replay.Overhead{Tokens: res.Overhead.Tokens, Kind: in(kindWords, res.Overhead.Kind), Unrecorded: res.Overhead.Unrecorded},
		Accepted: res.Accepted, Whole: res.Whole, Agents: each(res.Agents, r.agent), WithAgents: res.WithAgents,
		Billing: r.billing(res.Billing), Estimate: r.estimate(res.Estimate), By: each(res.By, r.estimate), Runs: each(res.Runs, r.run),
		LeftOut: each(res.LeftOut, func(l replay.LeftOut) replay.LeftOut {
			return replay.LeftOut{Window: r.window(l.Window), Why: presence(l.Why, "the conversation is too small to take a share of")}
		}),
	}
}

func (r *redactor) billing(b replay.Billing) replay.Billing {
	if _, ok := r.catalog.CacheRule(b.Cache); !ok {
		b.Cache = in([]string{"off"}, b.Cache)
	}
	return b
}

func (r *redactor) estimate(e replay.Estimate) replay.Estimate {
	e.Model, e.Kind = r.model(e.Model), in(kindWords, e.Kind)
	return e
}

func (r *redactor) run(run replay.Run) replay.Run {
	run.Policy, run.Window = r.policy(run.Policy), r.window(run.Window)
	run.Note = presence(run.Note, "buffer and output reserve made smaller")
	run.Estimator, run.CountKind = in(r.counters, run.Estimator), in(kindWords, run.CountKind)
	run.EndReason, run.Edits = in(endWords, run.EndReason), byWord(run.Edits, editWords)
	run.ToolsNotOffered = nil
	if g := run.Grounding; g != nil {
		copied := *g
		copied.ByKind = each(g.ByKind, func(s replay.NamedSum) replay.NamedSum {
			s.Name = in(spanWords, s.Name)
			return s
		})
		copied.BySource = each(g.BySource, func(s replay.NamedSum) replay.NamedSum {
			s.Name = r.source(s.Name)
			return s
		})
		run.Grounding = &copied
	}
	run.Missing = each(run.Missing, func(m replay.Missing) replay.Missing {
		return replay.Missing{
			Step: m.Step, Kind: in(spanWords, m.Kind), Source: r.source(m.Source), Behind: m.Behind, Where: in(whereWords, m.Where), Edit: r.change(m.Edit),
		}
	})
	run.Bill.Unpriced = each(run.Bill.Unpriced, r.model)
	run.Irreducible = each(run.Irreducible, func(i replay.Irreducible) replay.Irreducible {
		i.Parts = byWord(i.Parts, partWords)
		return i
	})
	run.RuleBreaks = each(run.RuleBreaks, func(b replay.RuleBreak) replay.RuleBreak {
		return replay.RuleBreak{Step: b.Step}
	})
	run.Batches = each(run.Batches, func(b replay.Batch) replay.Batch {
		b.Rules = each(b.Rules, r.rule)
		return b
	})
	run.Series = each(run.Series, func(p replay.Point) replay.Point {
		p.By, p.Final = byWord(p.By, contentWords()), in(endWords, p.Final)
		p.Edits = each(p.Edits, r.change)
		return p
	})
	return run
}

func (r *redactor) change(c replay.Change) replay.Change {
	if c.Count > 0 { // else there is none
		c.Rule, c.Kind = r.rule(c.Rule), in(editWords, c.Kind)
		c.Why = c.Rule
	}
	return c
}

func (r *redactor) reports(list []inspect.Report) []inspect.Report { return each(list, r.report) }

func (r *redactor) report(p inspect.Report) inspect.Report {
	peak := p.Totals
	peak.PeakStep = "" // a page shows the peak of each segment
	peak.Kinds = each(peak.Kinds, func(k inspect.KindSum) inspect.KindSum {
		k.Kind = in(kindWords, k.Kind)
		return k
	})
	return inspect.Report{
		Schema: p.Schema, Session: r.session(p.Session),
		Identity: inspect.Identity{Format: in(r.formats, p.Format), Client: in(r.formats, p.Client), ID: id(p.ID), Parent: id(p.Parent), Kin: in(kinWords, p.Kin)},
		End:      r.end(p.End), Totals: peak,
		Segments: each(p.Segments, r.segment), Findings: each(p.Findings, r.finding),
		Tools: each(p.Tools, func(t inspect.ToolSum) inspect.ToolSum {
			t.Tool = r.tool(t.Tool)
			return t
		}),
		Causes: each(p.Causes, func(c inspect.CauseSum) inspect.CauseSum {
			c.Cause = in(causeWords, c.Cause)
			return c
		}),
		Largest: each(p.Largest, r.output), Repeated: each(p.Repeated, r.repeat),
		Unanswered: each(p.Unanswered, r.call), Cuts: each(p.Cuts, cut), CacheBreaks: each(p.CacheBreaks, cacheBreak),
		Thinking: each(p.Thinking, func(t inspect.Thinking) inspect.Thinking {
			t.Carried = in(carriedWords, t.Carried)
			return t
		}),
		Problems: each(p.Problems, func(x inspect.Problem) inspect.Problem { return inspect.Problem{Line: x.Line, What: problemKind} }),
		Abandoned: each(p.Abandoned, func(b inspect.Branch) inspect.Branch {
			b.Why = in(whyWords, b.Why)
			return b
		}),
		Stated: each(p.Stated, r.stated), Kindred: inspect.Kindred{Agents: each(p.Agents, r.agent), WithAgents: p.WithAgents},
	}
}

func (r *redactor) agent(a inspect.Agent) inspect.Agent {
	a.Session, a.ID = r.session(a.Session), id(a.ID)
	return a
}

func (r *redactor) stated(s inspect.Stated) inspect.Stated {
	s.What, s.Model = presence(s.What, "a sum"), presence(s.Model, r.model(s.Model))
	s.Figures = each(s.Figures, func(f inspect.StatedFigure) inspect.StatedFigure {
		f.Name, f.Why = in(figureWords, f.Name), presence(f.Why, "something is missing")
		return f
	})
	return s
}

func (r *redactor) segment(s inspect.Segment) inspect.Segment {
	s.Start, s.Name, s.NotRun = in(startWords, s.Start), "", presence(s.NotRun, "something is missing")
	s.Model, s.Hidden.Kind = r.model(s.Model), in(kindWords, s.Hidden.Kind)
	s.Steps = each(s.Steps, func(step inspect.Step) inspect.Step {
		step.Model, step.Kind, step.By = r.model(step.Model), in(kindWords, step.Kind), byWord(step.By, contentWords())
		if p := step.Estimate; p != nil {
			known := *p
			known.Kind = in(kindWords, p.Kind)
			step.Estimate = &known
		}
		step.Refused = failedOrNil(step.Refused)
		step.CostKind, step.Copied, step.MessageID, step.RequestID = in(costWords, step.CostKind), id(step.Copied), "", ""
		return step
	})
	s.Failures = each(s.Failures, failed)
	return s
}

// failed keeps the class and the figures of an error; its words may hold anything.
func failed(f inspect.Failed) inspect.Failed {
	f.Class, f.Message = in(classWords, f.Class), ""
	return f
}

func failedOrNil(f *inspect.Failed) *inspect.Failed {
	if f == nil {
		return nil
	}
	kept := failed(*f)
	return &kept
}

// finding keeps which rule found something, and its figures: its words name tools and files.
func (r *redactor) finding(f inspect.Finding) inspect.Finding {
	f.Rule = in(r.advice, f.Rule)
	f.Text, f.Do, f.Command = f.Rule, "", ""
	return f
}

func (r *redactor) end(e inspect.End) inspect.End {
	e.How, e.Tool, e.Kind, e.Failed = in(howWords, e.How), r.tool(e.Tool), in(kindWords, e.Kind), failedOrNil(e.Failed)
	return e
}

func (r *redactor) output(o inspect.Output) inspect.Output {
	o.Tool, o.CallID, o.Arguments = r.tool(o.Tool), id(o.CallID), ""
	return o
}

func (r *redactor) repeat(p inspect.Repeat) inspect.Repeat {
	p.Output = r.output(p.Output)
	p.Earlier.Tool, p.Earlier.Arguments = r.tool(p.Earlier.Tool), ""
	return p
}

func (r *redactor) call(c inspect.Call) inspect.Call {
	c.Tool, c.CallID, c.Arguments, c.Why = r.tool(c.Tool), id(c.CallID), "", in(callWords, c.Why)
	return c
}

func cut(c inspect.Cut) inspect.Cut {
	c.What, c.Dropped, c.Added = in(cutWords, c.What), byWord(c.Dropped, contentWords()), byWord(c.Added, contentWords())
	return c
}

func cacheBreak(b inspect.Break) inspect.Break {
	b.Cause, b.At.What, b.At.Kind = in(causeWords, b.Cause), in(placeWords, b.At.What), in(kindWords, b.At.Kind)
	return b
}
