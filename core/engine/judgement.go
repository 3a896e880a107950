package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
)

// Answer is the reply to an Ask.
type Answer struct {
	Ask   int
	Text  string
	Err   string        // why there is none; empty if there is one
	Stop  llm.Stop      // why a model wrote no more; zero: it is not known, or none was asked
	Calls journal.Calls // of a model, also where there is no answer; zero: none was asked
	// GivenUp says that whoever waited does not any longer: there is no answer, and nothing is
	// done about that. The request that waited for it ends, and the next one asks anew.
	GivenUp bool
	// Judgement is what [Ask.Judge] says of the text, where the host has it judged beforehand, as
	// that takes long; nil: the machine does.
	Judgement *Judgement
}

// A Judgement is an answer taken apart, and why it cannot stand for what it is about.
type Judgement struct {
	said  summary.Answer
	fault string // empty: it can, as far as its text tells
	facts string // what code adds to it

	written []edit.Written // what leaves for it, where nobody waits for the answer
	kept    bool           // that is in the store
}

// Blobs returns what leaves the view where the answer takes its place. A host that has the answer
// judged where nobody waits puts them into the store there, too, and says so by [Judgement.Keep];
// one that does not, or cannot, has them in a Ready if they are needed. None where a call
// waits for the answer, or none of it is used.
func (j *Judgement) Blobs() []edit.Blob {
	if j == nil || j.kept {
		return nil
	}
	var out []edit.Blob
	for _, w := range j.written {
		out = append(out, w.Blob)
	}
	return out
}

// Kept reports whether there are blobs, and they are durable.
func (j *Judgement) Kept() bool { return j != nil && j.kept }

// Keep says that the blobs are durable.
func (j *Judgement) Keep() {
	j.kept = true
	for i := range j.written {
		j.written[i].Blob.Data = nil // which nobody needs any more
	}
}

// Judge says whether an answer can stand for what a is about, as far as its text tells: it is
// one, is whole, and names nothing that is not there. It reads all messages of a, and may be
// called anywhere.
func (a Ask) Judge(in Answer) *Judgement {
	j := a.judged(in)
	if j.fault == "" {
		j.written = a.ahead.Write()
	}
	return j
}

// judged is Judge, without what leaves for the answer.
func (a Ask) judged(in Answer) *Judgement {
	if in.byCode() { // it names nothing but what is there
		return &Judgement{said: summary.Parse(in.Text)}
	}
	from := summary.SourceOf(a.Messages, a.Previous, a.Focus)
	for _, s := range a.Sections {
		from = from.With(s.Text)
	}
	said, fault := summary.Judge(in.Text, in.Stop, from)
	j := &Judgement{said: said, fault: fault}
	if fault == "" {
		j.said.Summary = summary.WithoutFacts(said.Summary) // of an earlier one, which it quotes
		j.facts = a.facts()
	}
	return j
}

// The tokens of the facts that code adds to a summary: a share of what it may have, or of what
// it stands for.
const (
	mostFacts       = 500
	leastFacts      = 60
	factsOfSummary  = 250
	factsOfMessages = 60
)

// facts returns what code adds to a summary by a model.
func (a Ask) facts() string {
	room := min(mostFacts, budget.Share(a.covered, factsOfMessages))
	if a.MaxTokens > 0 {
		room = min(room, budget.Share(a.MaxTokens, factsOfSummary))
	}
	if room < leastFacts {
		return ""
	}
	return summary.WriteFacts(a.Messages, summary.Options{MaxTokens: room, Previous: a.Previous})
}

func (Answer) input() {}

// byCode reports whether code wrote an answer, and no model that copies the form of that.
func (in Answer) byCode() bool {
	return summary.ByCode(in.Text) && in.Calls.N == 0 && in.Stop == llm.StopUnknown
}

// recorded returns what is written down of an answer, but for what came of it.
func (in Answer) recorded() journal.Answer {
	return journal.Answer{Ask: in.Ask, Text: in.Text, Err: in.Err, Calls: in.Calls}
}
