package inspect

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// Attach adds the Reports of the session's sub-agents: each is in Agents, and WithAgents
// sums up all of them. Totals stay those of the session alone.
func (r *Report) Attach(agents []Report) {
	var list []Agent
	t := r.Totals
	list, r.WithAgents = Family{t.Steps, t.Tokens, t.CostUSD, t.CostSteps, t.CostEstimated}.orNothing().With(agents)
	r.Agents = append(r.Agents, list...)
}

// With returns the sub-agents of a session that took f by itself, and the sums over it and
// them; nil if there are none.
func (f Family) With(agents []Report) ([]Agent, *Family) {
	if len(agents) == 0 {
		return nil, nil
	}
	var list []Agent
	for _, a := range agents {
		t := a.Totals
		one := Agent{a.Session, a.ID, t.Steps, t.Tokens, t.Peak, t.Usage, t.CostUSD, t.CostSteps, t.CostEstimated}
		list, f = append(list, one), f.Add(one.Family())
	}
	return list, &f
}

// Family returns what the sub-agent took.
func (a Agent) Family() Family {
	return Family{a.Steps, a.Tokens, a.CostUSD, a.CostSteps, a.CostEstimated}.orNothing()
}

// orNothing says of a sum over no Steps that they cost nothing.
func (f Family) orNothing() Family {
	if f.Steps == 0 {
		f.CostUSD = catalog.Dollars(0)
	}
	return f
}

// Add returns what two took together.
func (f Family) Add(other Family) Family {
	return Family{
		f.Steps + other.Steps, f.Tokens + other.Tokens, f.CostUSD.Add(other.CostUSD),
		f.CostSteps + other.CostSteps, f.CostEstimated + other.CostEstimated,
	}
}

// Family returns what the calls of a segment took that the session made itself.
func (m Measurement) Family() Family {
	f := Family{CostUSD: catalog.Dollars(0)}
	for _, c := range m.Calls {
		if c.Step.Copied != "" {
			continue
		}
		one := Family{Steps: 1, Tokens: c.Tokens, CostUSD: c.CostUSD}
		if c.CostUSD.Known {
			one.CostSteps = 1
		}
		if c.CostKind == CostEstimated {
			one.CostEstimated = 1
		}
		f = f.Add(one)
	}
	return f
}
