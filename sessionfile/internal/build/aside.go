package build

import "github.com/plimsoll-dev/plimsoll/sessionfile"

// Asides list in Session.Abandoned what sub-agents said whose lines stand in the file of
// the session that started them. The zero Asides have none.
type Asides struct {
	calls map[string]aside // by what makes them one
}

// An aside is where a call is listed.
type aside struct{ branch, call int }

// Line lists a line of a sub-agent, which the file calls agent.
func (a *Asides) Line(s *sessionfile.Session, no int, agent string) {
	if last := len(s.Abandoned) - 1; last >= 0 {
		if b := &s.Abandoned[last]; b.Why == sessionfile.WhySubAgent && b.Agent == agent && b.Last == no-1 {
			b.Last, b.Messages = no, b.Messages+1
			return
		}
	}
	s.Abandoned = append(s.Abandoned, sessionfile.Branch{First: no, Last: no, Messages: 1, Why: sessionfile.WhySubAgent, Agent: agent})
}

// Known returns the call with that id as it is listed; nil if it is not.
func (a *Asides) Known(s *sessionfile.Session, id string) *sessionfile.Step {
	at, ok := a.calls[id]
	if !ok {
		return nil
	}
	return &s.Abandoned[at.branch].Calls[at.call]
}

// Call adds a call to the line that was listed last, and returns it as it is listed, until the
// next one is. No id is that of no other call.
func (a *Asides) Call(s *sessionfile.Session, id string, step sessionfile.Step) *sessionfile.Step {
	b := &s.Abandoned[len(s.Abandoned)-1]
	if id != "" {
		if a.calls == nil {
			a.calls = map[string]aside{}
		}
		a.calls[id] = aside{len(s.Abandoned) - 1, len(b.Calls)}
	}
	b.Calls = append(b.Calls, step)
	return &b.Calls[len(b.Calls)-1]
}
