package meter_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// chatML writes a prompt as the template does and returns its tokens: each of its two marks is
// one, everything else is text.
func chatML(enc *bpe.Encoding, joined bool, sections []llm.Section, view edit.View) int {
	n, last := 0, ""
	say := func(role, text string) {
		if joined && role == last {
			n += enc.Count("\n\n" + text)
			return
		}
		n += 1 + enc.Count(role) + enc.Count("\n") + enc.Count(text) + 1 + enc.Count("\n")
		last = role
	}
	for _, sec := range sections {
		say("system", sec.Text)
	}
	for _, it := range view.Items {
		role := "user"
		if it.Message.Origin == llm.Model {
			role = "assistant"
		}
		text := ""
		for _, p := range it.Message.Parts {
			text += p.(llm.Text).Text
		}
		say(role, text)
	}
	return n + 1 + enc.Count("assistant") + enc.Count("\n")
}

// A prompt of texts in a chat template that is known is counted as the server does it, at every
// Step, whatever edits came before and whatever length of a reply was reported; so it is over a system
// prompt of the template's own, from the second Step on.
func TestFramedCountsAsTheServer(t *testing.T) {
	benches := benches(t)
	enc, err := bpe.O200kBase()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"framed", "joined"}).Draw(t, "server")
		of := benches[name]
		m := meter.New(meter.Options{Key: name, Counter: of.counter, Calibration: token.NewCalibration(of.family)})
		own := rapid.SampledFrom([]int{0, 0, 21}).Draw(t, "the template's own")
		var sections []llm.Section
		if rapid.Bool().Draw(t, "a system prompt") {
			sections = []llm.Section{llm.SystemText("You are a clerk.")}
		}
		m.SetFront(sections, nil)
		var messages []llm.Message
		var journal []edit.Edit
		var view edit.View
		say := func(origin llm.Origin, role llm.Role) {
			text := fmt.Sprintf("%s %d", rapid.SampledFrom([]string{"A line upon the hull", "salt, 12 tons", "naïve 漢字"}).Draw(t, "text"), len(messages))
			msg := llm.Message{ID: llm.MessageID(len(messages) + 1), Role: role, Origin: origin, Parts: []llm.Part{llm.Text{Text: text}}}
			messages = append(messages, msg)
			view.Append(msg)
			m.Append(view.Items[len(view.Items)-1])
		}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			say(llm.Human, llm.RoleUser)
			if len(journal) == 0 && len(messages) > 4 && rapid.Bool().Draw(t, "archive") {
				e := edit.Edit{ID: 1, Op: edit.Archive, Span: edit.Span{From: 1, To: 3}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "Two left."})}}
				journal = append(journal, e)
				now, err := edit.Fold(messages, edit.Holding(journal))
				if err != nil {
					t.Fatal(err)
				}
				m.Edited(meter.Compare(view, now, e))
				view = now
			}
			border := meter.Border{Messages: len(messages), Edit: edit.ID(len(journal))}
			want, got := chatML(enc, name == "joined", sections, view)+own, m.Count()
			if got.Point != want && (own == 0 || step > 0) || got.Bound < want {
				t.Fatalf("step %d: want %d tokens, got %+v", step+1, want, got)
			}
			m.Leave(border, view)
			reply := rapid.SampledFrom([]int{1, 9, 500}).Draw(t, "reply")
			m.Usage(meter.Usage{Usage: llm.Usage{Input: want, Output: reply}, Reported: true}, border, view)
			say(llm.Model, llm.RoleAssistant)
		}
	})
}

// A report far off says that the template is another one; from there on the count goes by reports.
func TestFrameRefuted(t *testing.T) {
	of := benches(t)["framed"]
	m := meter.New(meter.Options{Key: "framed", Counter: of.counter, Calibration: token.NewCalibration(of.family)})
	var view edit.View
	view.Append(llm.Message{ID: 1, Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Hello."}}})
	m.Append(view.Items[0])
	at := meter.Border{Messages: 1}
	m.Leave(at, view)
	m.Usage(meter.Usage{Usage: llm.Usage{Input: 900, Output: 10}, Reported: true}, at, view)
	view.Append(llm.Message{ID: 2, Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "Hello to you."}}})
	m.Append(view.Items[1])
	if got := m.Report(); !got.Anchored || got.Point != 910 {
		t.Errorf("after a report of 900 and a reply of 10: want 910 tokens, anchored, got %+v", got)
	}
}

// What a refuted template put around a system prompt is taken out only where there is one.
func TestFrameRefutedAsToolsCome(t *testing.T) {
	of := benches(t)["framed"]
	m := meter.New(meter.Options{Key: "framed", Counter: of.counter, Calibration: token.NewCalibration(of.family)})
	var view edit.View
	view.Append(llm.Message{ID: 1, Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Hello."}}})
	m.Append(view.Items[0])
	at := meter.Border{Messages: 1}
	m.Leave(at, view)
	tools := []llm.Tool{{Name: "look", Description: "Looks.", Schema: `{"type":"object"}`}}
	m.SetFront(nil, tools) // while the reply is awaited
	m.Usage(meter.Usage{Usage: llm.Usage{Input: 900, Output: 10}, Reported: true}, at, view)
	got := m.Report().Parts
	if m.SetFront(nil, tools); got.System != 0 || got != m.Report().Parts {
		t.Errorf("want no system prompt, and the same as when all is booked anew, %+v, got %+v", m.Report().Parts, got)
	}
}

// A prompt with thinking in it is not counted by the template, which may leave that out.
func TestFrameIsOfTexts(t *testing.T) {
	of := benches(t)["framed"]
	m := meter.New(meter.Options{Key: "framed", Counter: of.counter, Calibration: token.NewCalibration(of.family)})
	var view edit.View
	say := func(p ...llm.Part) token.Estimate {
		msg := llm.Message{ID: llm.MessageID(len(view.Items) + 1), Role: llm.RoleAssistant, Origin: llm.Model, Parts: p}
		view.Append(msg)
		m.Append(view.Items[len(view.Items)-1])
		return m.Count()
	}
	if texts := say(llm.Text{Text: "Hello."}); texts.Bound-texts.Point > 100 {
		t.Errorf("texts: want them counted by the template, got %+v", texts)
	}
	if thought := say(llm.Thinking{Text: "What do they want?"}, llm.Text{Text: "Yes?"}); thought.Bound-thought.Point < 600 {
		t.Errorf("with thinking: want an estimate, got %+v", thought)
	}
}
