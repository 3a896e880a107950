package loop

import (
	"context"
	"fmt"

	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A History is what the records of a loop say.
type History struct {
	ID         string         `json:"id"`
	Workspace  string         `json:"workspace"`
	Goal       string         `json:"goal"`
	Agents     []string       `json:"agents"`
	Settings   Settings       `json:"settings"`
	Started    int64          `json:"started"` // in milliseconds since 1970
	Resumed    int            `json:"resumed"` // how often
	Running    int            `json:"running"` // the iteration that has begun and not ended; 0: none
	End        core.Reason    `json:"end"`     // empty: it has not ended
	Why        string         `json:"why"`
	Folded     int            `json:"folded"` // iterations that the summary stands for
	Summary    string         `json:"summary"`
	Summaries  []SummaryAt    `json:"summaries"` // each that there was
	Iterations []Iteration    `json:"iterations"`
	Messages   []core.Message `json:"messages"`
	// Summariser is what the model took that writes summaries.
	Summariser Spent `json:"summariser"`
	// Spent is what the agents took, as far as a proxy stood between them and their models.
	Spent Spent `json:"spent"`

	running Spent // of that, what is of the iteration that has begun and not ended
}

// An Iteration is one run of an agent, as it is on record.
type Iteration struct {
	core.IterationContext
	Sections []Share      `json:"sections"` // of its prompt
	Bytes    int64        `json:"output_bytes"`
	Events   []core.Event `json:"events"`
	Spent    *Spent       `json:"spent,omitempty"` // nil: no proxy saw a call; of one that was killed, calls that had ended then
}

// A SummaryAt is a summary and the iteration after which it was written.
type SummaryAt struct {
	Iteration int    `json:"iteration"`
	Text      string `json:"text"`
	Model     string `json:"model,omitempty"`  // that wrote it; empty: code did
	Failed    string `json:"failed,omitempty"` // why a model wrote none; then there is no text
}

// Read returns what a store has of a loop. It may be running.
func Read(ctx context.Context, st store.Store, id string) (History, error) {
	h := History{ID: id}
	var began record
	for r, err := range records(ctx, st, id) {
		if err != nil {
			return h, err
		}
		h.add(r, began)
		if r.Kind == kindBegan {
			began = r
			h.Running = len(h.Iterations) + 1
		}
	}
	if h.Started == 0 {
		return h, fmt.Errorf("loop: %s: %w", id, ErrUnknown)
	}
	return h, nil
}

// add takes in one record; began is the beginning of the iteration that it may end.
func (h *History) add(r, began record) {
	switch r.Kind {
	case kindStart:
		h.Started, h.Goal = r.At, r.Task.Goal
	case kindResumed:
		h.Resumed++
		h.End, h.Why = "", ""
	case kindMessage:
		h.Messages = append(h.Messages, core.Message{Text: r.Message, Priority: r.Priority})
	}
	if r.Settings != nil {
		h.Workspace, h.Agents, h.Settings = r.Workspace, r.Agents, *r.Settings
	}
	if r.Iteration != nil {
		it := Iteration{*r.Iteration, began.Sections, r.Bytes, r.Events, r.Spent}
		if h.running.Calls > 0 {
			if r.Spent != nil {
				h.running = h.running.Add(*r.Spent)
			}
			it.Spent = &Spent{}
			*it.Spent = h.running
		}
		h.Iterations = append(h.Iterations, it)
		h.Running, h.running = 0, Spent{}
	} else if r.Kind == kindTick && r.Spent != nil {
		h.running = h.running.Add(*r.Spent)
	}
	for _, e := range r.Events {
		switch e.Kind {
		case core.EventFolded:
			h.Folded = e.Iteration
		case core.EventSummaryFailed:
			h.Summaries = append(h.Summaries, SummaryAt{Iteration: len(h.Iterations), Model: r.Model, Failed: e.Text})
		}
	}
	if r.Summary != nil {
		h.Summary = *r.Summary
		at := SummaryAt{Iteration: len(h.Iterations), Text: h.Summary}
		if r.Kind == kindAnswer {
			at.Model = r.Model
		}
		h.Summaries = append(h.Summaries, at)
	}
	if r.Spent != nil && r.Kind == kindAnswer {
		h.Summariser = h.Summariser.Add(*r.Spent)
	} else if r.Spent != nil {
		h.Spent = h.Spent.Add(*r.Spent)
	}
	if r.End != "" {
		h.End, h.Why = r.End, r.Why
	}
}
