package claudecode

import (
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// abandoned lists the conversation lines that are in no segment, with the calls that they
// hold.
func (b *build) abandoned() {
	var all []sessionfile.Branch
	agents := map[int]string{} // of the records of sub-agents
	open := false
	for i := range b.records {
		rec := &b.records[i]
		if !rec.said() || rec.has(isCopied) {
			continue
		}
		if b.used[i] {
			open = false
			continue
		}
		why := sessionfile.WhyAbandoned
		if rec.has(isSide) && !b.side {
			why = sessionfile.WhySubAgent
			agents[i] = b.agentOf(i, agents)
		}
		if last := len(all) - 1; open && all[last].Why == why && all[last].Agent == agents[i] {
			all[last].Last = rec.at()
			all[last].Messages++
		} else {
			all = append(all, sessionfile.Branch{First: rec.at(), Last: rec.at(), Messages: 1, Why: why, Agent: agents[i]})
			open = true
		}
		if step := b.call(i); step != nil {
			last := &all[len(all)-1]
			last.Calls = append(last.Calls, *step)
		}
	}
	b.Session.Abandoned = all
}

// agentOf returns what a record of a sub-agent says whose it is: the agent's id, and where
// the client wrote none the uuid of the line with which its conversation begins.
func (b *build) agentOf(i int, known map[int]string) string {
	f := b.line(i)
	if agent := b.Name(f.agent); agent != "" {
		return agent
	}
	if p, ok := b.named(idOf(f.parent)); ok && known[p] != "" {
		return known[p]
	}
	return read.Str(f.uuid)
}

// call returns the call whose reply begins with a record; nil if none does.
func (b *build) call(i int) *sessionfile.Step {
	if b.records[i].kind != kindAssistant || b.reply[i] != int32(i) {
		return nil
	}
	b.raw = nil
	b.addReply(b.unit(int32(i)), true)
	if len(b.raw) == 0 {
		return nil
	}
	step := b.raw[0].Step
	if step != nil && b.mark != nil { // of several conversations
		f := b.line(i)
		alone := sessionfile.Segment{Entries: []sessionfile.Entry{{Step: step}}}
		step = b.copies.In(b.Name(f.session))(alone).Entries[0].Step
	}
	return step
}
