package main

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/web"
)

// webLoop returns a loop as its page wants it.
func webLoop(h loop.History) web.Loop {
	out := web.Loop{ID: h.ID, Workspace: h.Workspace, Goal: h.Goal, State: loopState(h), Agents: h.Agents, Resumed: h.Resumed, Folded: h.Folded}
	for _, it := range h.Iterations {
		page := web.LoopIteration{
			Number: it.Number, Agent: agentName(it), Began: it.Began, Milliseconds: it.Duration, Prompt: it.PromptSize, Score: it.ProgressScore,
			Output: it.Bytes, Files: it.FileChanges, Marks: it.ProgressMarkers, Fault: it.Fault, Interrupted: it.Interrupted,
		}
		if s := it.Spent; s != nil {
			page.Calls, page.In, page.Out, page.Cost = s.Calls, s.Input, s.Output, s.Cost
		}
		for _, s := range it.Sections {
			page.Sections = append(page.Sections, web.LoopSection{Name: s.Name, Tokens: s.Tokens})
		}
		out.Iterations = append(out.Iterations, page)
	}
	for _, s := range h.Summaries {
		out.Summaries = append(out.Summaries, web.LoopSummary{Iteration: s.Iteration, Model: s.Model, Text: s.Text, Failed: s.Failed})
	}
	for _, m := range h.Messages {
		out.Messages = append(out.Messages, m.Text)
	}
	if s := h.Spent; s.Calls > 0 {
		out.Spent = append(out.Spent, webSpent("agents", s))
	}
	if s := h.Summariser; s.Calls > 0 {
		out.Spent = append(out.Spent, webSpent("summaries", s))
	}
	return out
}

func webSpent(what string, s loop.Spent) web.LoopSpent {
	return web.LoopSpent{What: what, Calls: s.Calls, Input: s.Input, CacheRead: s.CacheRead, Output: s.Output, Cost: s.Cost}
}

// loopState says how a loop gets on.
func loopState(h loop.History) string {
	switch holder, held, err := loop.HolderOf(h.Workspace); {
	case h.End != "":
		return fmt.Sprintf("ended: %s: %s", h.End, h.Why)
	case err == nil && held && holder.Loop == h.ID:
		return fmt.Sprintf("running: process %d on %s", holder.PID, holder.Host)
	}
	return "not ended: plimsoll loop --resume goes on with it"
}

// agentName returns who ran in an iteration.
func agentName(it loop.Iteration) string {
	if it.Model == "" {
		return it.CLI
	}
	return it.CLI + ":" + it.Model
}
