package engine_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// BenchmarkBatchMessages measures a Prepare that has to take one batch out of very many
// short messages.
func BenchmarkBatchMessages(b *testing.B) {
	for _, c := range []struct {
		preset   string
		messages int
	}{{"balanced", 20_000}, {"balanced", 200_000}, {"lean", 20_000}, {"lean", 200_000}} {
		b.Run(fmt.Sprint(c.preset, "/", c.messages), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				m := benchMachine(b, c.preset, 0)
				for i := range c.messages / 2 {
					benchFeed(b, m, engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: fmt.Sprint("and then ", i)}}}})
					benchFeed(b, m, engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "done"}}}})
				}
				small := budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: m.Count().Point * 4 / 3, OutputReserve: 1000}}
				b.StartTimer()
				if err := m.Feed(engine.Prepare{Targets: []budget.Target{small}}); err != nil {
					b.Fatal(err)
				}
				r := m.Ready()
				m.Advance(engine.Outcome{})
				if r.Send == nil || len(r.Edits) == 0 {
					b.Fatalf("want a batch, got %d edits", len(r.Edits))
				}
			}
		})
	}
}

// BenchmarkResume measures how long a session of 10,000 Steps takes to be taken up from
// its records, decoding included.
func BenchmarkResume(b *testing.B) {
	h := screenHost(b, "claude-opus-4-5", budget.Window{Capacity: 200_000, OutputReserve: 8000})
	ask(b, h, llm.Text{Text: "go on"})
	for i := range 10_000 {
		s := prepared(b, h)
		must(b, h.feed(engine.Usage{Usage: llm.Usage{Input: s.Count.Point, Output: 40}, Reported: true}))
		call, result := benchRound(i)
		must(b, h.feed(engine.Append{Message: call}))
		must(b, h.feed(engine.Append{Message: result}))
		for _, a := range h.asks {
			must(b, h.feed(engine.Answer{Ask: a.ID, Text: "<summary>" + prose(800, "so") + "</summary>"}))
		}
		h.asks = nil
	}
	bytes := 0
	for _, l := range h.lines {
		bytes += len(l)
	}
	b.ReportMetric(float64(len(h.lines)), "records")
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.restored(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAdopt measures a Prepare for which a summary waits that was written in the background,
// at 1M tokens of history: it is held for a batch (balanced), or takes the place of what it
// is about (turn-budget), which was stored beforehand ("kept") or is stored then ("unkept"). "none" is
// the Prepare without one, "judged" what is done beforehand, where nobody waits.
// Run it with -benchtime 5x: each run makes its own history.
func BenchmarkAdopt(b *testing.B) {
	for _, name := range []string{"balanced", "turn-budget"} {
		for _, how := range []string{"none", "kept", "unkept"} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					m, ask := benchAsked(b, name)
					a := benchAnswer(ask)
					if how == "kept" {
						a.Judgement.Keep()
					}
					b.StartTimer()
					if how != "none" {
						benchAdopts(b, m, a)
					}
					if err := m.Feed(engine.Prepare{}); err != nil {
						b.Fatal(err)
					}
					if m.Ready().Send == nil {
						b.Fatal("want a request, got none")
					}
					m.Advance(engine.Outcome{})
				}
			})
		}
		b.Run(name+"/judged", func(b *testing.B) {
			_, ask := benchAsked(b, name)
			for b.Loop() {
				benchAnswer(ask)
			}
		})
	}
}

// benchAsked is a machine that has asked for a summary in the background, and the question.
func benchAsked(b *testing.B, name string) (*engine.Machine, engine.Ask) {
	const tokens = 1_000_000
	m := benchModelled(b, name, tokens, true)
	for i := range 5 {
		benchFeed(b, m, engine.Append{Message: llm.UserText(fmt.Sprint("and then ", i))})
	}
	small := budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: tokens * 5 / 4, OutputReserve: 1000, MaxBytes: engine.NoLimit}}
	for _, in := range []engine.Input{engine.TurnEnd{}, engine.Prepare{Targets: []budget.Target{small}}} {
		if err := m.Feed(in); err != nil {
			b.Fatal(err)
		}
		for m.HasReady() {
			r := m.Ready()
			m.Advance(engine.Outcome{})
			if r.Ask != nil {
				for m.HasReady() {
					m.Ready()
					m.Advance(engine.Outcome{})
				}
				return m, *r.Ask
			}
		}
	}
	b.Fatal("want a question, got none")
	return nil, engine.Ask{}
}

func benchAnswer(ask engine.Ask) engine.Answer {
	a := engine.Answer{Ask: ask.ID, Text: "<summary>" + prose(6000, "so") + "</summary>"}
	a.Judgement = ask.Judge(a)
	return a
}

// benchAdopts feeds an answer that has to be used.
func benchAdopts(b *testing.B, m *engine.Machine, a engine.Answer) {
	if err := m.Feed(a); err != nil {
		b.Fatal(err)
	}
	for m.HasReady() {
		if r := m.Ready(); len(r.Records) > 0 && r.Records[0].Answer.Outcome == "" {
			b.Fatalf("not used: %+v", r.Events)
		}
		m.Advance(engine.Outcome{})
	}
}
