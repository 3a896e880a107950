package inspect

import (
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Attach adds the Reports of the session's sub-agents, and of theirs: each is in Agents, and
// WithAgents sums up all of them. Totals stay those of the session alone.
func (r *Report) Attach(agents []Report) {
	r.Agents = append(r.Agents, AgentsOf(agents)...)
	t := r.Totals
	r.WithAgents = Family{t.Steps, 0, t.Tokens, t.CostUSD, t.CostSteps, t.CostEstimated}.orNothing().With(r.Agents)
}

// AgentsOf returns the sub-agents whose Reports these are, with those inside their files.
func AgentsOf(reports []Report) []Agent {
	var list []Agent
	for _, r := range reports {
		t := r.Totals
		list = append(list, Agent{
			Session: r.Session, ID: r.ID, Steps: t.Steps, Tokens: t.Tokens, Peak: t.Peak, Usage: t.Usage,
			CostUSD: t.CostUSD, CostSteps: t.CostSteps, CostEstimated: t.CostEstimated,
		})
		list = append(list, r.Agents...)
	}
	return list
}

// With returns the sums over a session that took f by itself and its sub-agents; nil if there
// are none.
func (f Family) With(agents []Agent) *Family {
	if len(agents) == 0 {
		return nil
	}
	for _, a := range agents {
		f = f.Add(a.Family())
	}
	return &f
}

// Family returns what the sub-agent took.
func (a Agent) Family() Family {
	return Family{a.Steps, a.Unsized, a.Tokens, a.CostUSD, a.CostSteps, a.CostEstimated}.orNothing()
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
		f.Steps + other.Steps, f.Unsized + other.Unsized, f.Tokens + other.Tokens, f.CostUSD.Add(other.CostUSD),
		f.CostSteps + other.CostSteps, f.CostEstimated + other.CostEstimated,
	}
}

// Family returns what the calls of a segment took that the session made itself.
func (m Measurement) Family() Family {
	f := Family{CostUSD: catalog.Dollars(0)}
	for _, c := range m.Calls {
		if c.Step.Copied == "" {
			f = f.Add(familyOf(c.Tokens, c.Charge))
		}
	}
	return f
}

// familyOf returns what one call took.
func familyOf(tokens int, c Charge) Family {
	f := Family{Steps: 1, Tokens: tokens, CostUSD: c.CostUSD}
	if c.CostUSD.Known {
		f.CostSteps = 1
	}
	if c.CostKind == CostEstimated {
		f.CostEstimated = 1
	}
	return f
}

// Aside returns the lines of a session that are in no segment, with what their calls took, and
// of them the sub-agents that made some.
func (o Options) Aside(s *sessionfile.Session) ([]Branch, []Agent) {
	var branches []Branch
	var agents []Agent
	at := map[string]int{} // of each agent
	usage := map[string]llm.Usage{}
	for _, b := range s.Abandoned {
		out := Branch{First: b.First, Last: b.Last, Messages: b.Messages, Why: b.Why}
		for _, step := range b.Calls {
			if step.Copied != "" {
				continue
			}
			took := o.took(&step)
			if out.Took == nil {
				out.Took = &Family{CostUSD: catalog.Dollars(0)}
			}
			*out.Took = out.Took.Add(took)
			if b.Why != sessionfile.WhySubAgent {
				continue
			}
			if _, ok := at[b.Agent]; !ok {
				at[b.Agent] = len(agents)
				agents = append(agents, Agent{Session: s.Path, Line: b.First, ID: b.Agent, CostUSD: catalog.Dollars(0)})
			}
			usage[b.Agent] = usage[b.Agent].Add(step.Usage)
			agents[at[b.Agent]].add(took)
		}
		branches = append(branches, out)
	}
	for i := range agents {
		agents[i].Usage = usageOf(usage[agents[i].ID])
	}
	return branches, agents
}

// add adds what a call took.
func (a *Agent) add(f Family) {
	sum := a.Family().Add(f)
	a.Steps, a.Unsized, a.Tokens, a.Peak = sum.Steps, sum.Unsized, sum.Tokens, max(a.Peak, f.Tokens)
	a.CostUSD, a.CostSteps, a.CostEstimated = sum.CostUSD, sum.CostSteps, sum.CostEstimated
}

// took returns what a call took of which nothing is known but what the file says of it.
func (o Options) took(info *sessionfile.Step) Family {
	tokens := info.Usage.Prompt()
	g := &segment{model: info.Model}
	s := step{info: info, tokens: tokens}
	s.charge.Simulated.Output = info.Usage.Output
	if g.charge(&s, o); tokens == 0 && info.Cost == 0 {
		s.charge.CostUSD, s.charge.CostKind = catalog.Money{}, ""
	}
	f := familyOf(tokens, s.charge)
	if tokens == 0 {
		f.Unsized = 1
	}
	return f
}
