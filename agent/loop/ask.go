package loop

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
)

// thinkingRoom is the tokens for what a model thinks before it writes a summary.
const thinkingRoom = 2000

// ask asks the model for a summary. Whatever comes of it, the loop goes on: iterations that
// are in no summary stay raw.
func (r *Runner) ask(ctx, durable context.Context, a *core.Ask) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	name := r.o.Settings.SummaryModel
	if a.To >= a.From {
		r.note("iterations %d to %d go into the summary of %s", a.From, a.To, name)
	} else {
		r.note("%s writes the summary anew", name)
	}
	reply, err := r.model.Complete(ctx, llm.Request{
		MaxOutput: 2*a.MaxTokens + thinkingRoom,
		Messages:  []llm.Message{llm.NoteText(a.Prompt)},
	})
	if ctx.Err() != nil {
		return ErrInterrupted // it is asked again when the loop goes on
	}
	rec := record{Kind: kindAnswer, At: r.o.Now(), starting: starting{Model: name}, answering: answering{Question: a.ID}}
	if err != nil {
		rec.Kind, rec.Failed = kindNoAnswer, valid(err.Error())
		return r.written(durable, core.NoAnswer{ID: a.ID, Why: rec.Failed}, rec)
	}
	rec.Reply, rec.Stop = valid(reply.Message.Text()), reply.Stop
	rec.Spent = r.spent(name, reply.Usage.Add(reply.Extra))
	return r.written(durable, core.Answer{ID: a.ID, Text: rec.Reply, Stop: rec.Stop}, rec)
}

// spent returns what one call took.
func (r *Runner) spent(name string, u llm.Usage) *Spent {
	s := Spent{Calls: 1, Input: u.Prompt(), CacheRead: u.CacheRead, Output: u.Output}
	if r.o.Price != nil && !u.IsZero() {
		s.Cost = r.o.Price(name, u)
	}
	return &s
}
