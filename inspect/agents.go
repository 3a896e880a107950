package inspect

import "github.com/plimsoll-dev/plimsoll/core/catalog"

// An Agent is the session of a sub-agent, which a call of this one started.
type Agent struct {
	Session       string        `json:"session"` // the file's name
	ID            string        `json:"id"`
	Steps         int           `json:"steps"`
	Tokens        int           `json:"tokens"` // of all prompts
	Peak          int           `json:"peak"`
	Usage         Usage         `json:"usage"`
	CostUSD       catalog.Money `json:"cost_usd"`
	CostSteps     int           `json:"cost_steps"`
	CostEstimated int           `json:"cost_estimated"`
}

// A Family is a session together with its sub-agents.
type Family struct {
	Steps         int           `json:"steps"`
	Tokens        int           `json:"tokens"`
	CostUSD       catalog.Money `json:"cost_usd"` // null unless it is known of every Step
	CostSteps     int           `json:"cost_steps"`
	CostEstimated int           `json:"cost_estimated"`
}

// Attach adds the Reports of the session's sub-agents: each is in Agents, and WithAgents
// sums up all of them. Totals stay those of the session alone.
func (r *Report) Attach(agents []Report) {
	if len(agents) == 0 {
		return
	}
	t := r.Totals
	all := Family{t.Steps, t.Tokens, t.CostUSD, t.CostSteps, t.CostEstimated}
	if t.Steps == 0 {
		all.CostUSD = catalog.Dollars(0)
	}
	for _, a := range agents {
		t := a.Totals
		r.Agents = append(r.Agents, Agent{a.Session, a.ID, t.Steps, t.Tokens, t.Peak, t.Usage, t.CostUSD, t.CostSteps, t.CostEstimated})
		all.Steps, all.Tokens = all.Steps+t.Steps, all.Tokens+t.Tokens
		all.CostSteps, all.CostEstimated = all.CostSteps+t.CostSteps, all.CostEstimated+t.CostEstimated
		if t.Steps > 0 {
			all.CostUSD = all.CostUSD.Add(t.CostUSD)
		}
	}
	r.WithAgents = &all
}
