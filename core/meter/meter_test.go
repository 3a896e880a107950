package meter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// TestMetersAgree plays random sessions on meters of several models: with results that
// are taken out and put back in any order, usage that is right, wrong, missing or our own
// count, and restarts at any point. After every step a meter has booked what is shown,
// and reports what one reports that was restored, which knows nothing but two views.
func TestMetersAgree(t *testing.T) {
	of := benches(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, of)
		steps := []struct {
			name string
			do   func()
		}{
			{"human", w.human},
			{"reply", w.reply},
			{"reply", w.reply},
			{"results", w.results},
			{"results", w.results},
			{"shorter", w.shorter},
			{"shorter", w.shorter},
			{"archive", w.archive},
			{"insert", w.insert},
			{"undo", w.undo},
			{"undo", w.undo},
			{"front", w.front},
			{"leave", w.leave},
			{"leave", w.leave},
			{"usage", w.usage},
			{"exchange", w.exchange},
			{"exchange", w.exchange},
			{"exchange", w.exchange},
			{"restart", w.restart},
			{"restart", w.restart},
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := steps[w.draw(len(steps), "step")]
			step.do()
			w.check(step.name)
		}
	})
}

// chat returns a meter of one model, a view of n messages of 100 words each, and them.
func chat(t *testing.T, n int) (m *meter.Meter, v edit.View, messages []llm.Message) {
	b := benches(t)["gpt-4"]
	m = meter.New(meter.Options{Key: "gpt-4", Counter: b.counter, Calibration: token.NewCalibration(b.family)})
	for i := range n {
		msg := llm.Message{ID: llm.MessageID(i + 1), Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: strings.Repeat("stone ", 100)}}}
		messages = append(messages, msg)
		v.Append(msg)
		m.Append(v.Items[i])
	}
	return m, v, messages
}

// What a count has for caution after an edit is known as such, over a restart too: where
// the count comes back as usage, the next edit counts without it.
func TestDoubt(t *testing.T) {
	m, v, messages := chat(t, 10)
	cost := m.Count().Point
	m.Leave(meter.Border{Messages: 10}, v)
	m.Usage(meter.Usage{Usage: llm.Usage{Input: cost}, Reported: true, OutputUnknown: true}, meter.Border{Messages: 10}, v)
	var journal []edit.Edit
	archive := func(to llm.MessageID) meter.Border {
		e := edit.Edit{ID: edit.ID(len(journal) + 1), Op: edit.Archive, Span: edit.Span{From: 1, To: to}}
		for _, old := range v.Edits() {
			e.Supersedes = append(e.Supersedes, old.ID)
		}
		journal = append(journal, e)
		now, err := edit.Fold(messages, edit.Holding(journal))
		if err != nil {
			t.Fatal(err)
		}
		m.Edited(meter.Compare(v, now, e))
		v = now
		return meter.Border{Messages: 10, Edit: e.ID}
	}
	at := archive(5)
	careful := m.Count()
	if plain := cost * 6 / 10; careful.Point <= plain || careful.Point > cost {
		t.Fatalf("after four of ten messages left, want more than %d tokens, got %+v", plain, careful)
	}
	m.Leave(at, v)
	m.Usage(meter.Usage{Usage: llm.Usage{Input: careful.Point}, Reported: true, OutputUnknown: true}, at, v)
	state := m.State()
	if state.Anchor.Doubt == 0 || m.Count().Point != careful.Point {
		t.Fatalf("the count came back: want its caution as doubt and the same count, got %+v and %+v", state.Anchor, m.Count())
	}
	b, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	state = meter.State{}
	if err := json.Unmarshal(b, &state); err != nil {
		t.Fatal(err)
	}
	twin, _, _ := chat(t, 0)
	if err := twin.Restore(state, meter.Past{Prompt: meter.Prompt{View: v}, Messages: messages, Journal: journal}); err != nil {
		t.Fatal(err)
	}
	archive(9)
	again, err := edit.Fold(messages, edit.Holding(journal[:1]))
	if err != nil {
		t.Fatal(err)
	}
	twin.Edited(meter.Compare(again, v))
	if m.Report() != twin.Report() {
		t.Fatalf("after a restart %+v, want %+v", twin.Report(), m.Report())
	}
	if got, most := m.Count().Point, cost*2/10+cost*4/10*20/100; got > most {
		t.Fatalf("after eight of ten messages left, want at most %d tokens, got %d: the first four counted again", most, got)
	}
}

// A state of another past is refused, and the meter counts all there is.
func TestRestoreRefuses(t *testing.T) {
	m, v, messages := chat(t, 3)
	for name, s := range map[string]meter.State{
		"messages to come":  {Last: 4},
		"a border behind":   {Last: 3, Anchor: &meter.Anchor{Border: meter.Border{Messages: 4}, Prompt: 10}},
		"a border before":   {Last: 3, Left: &meter.Left{Border: meter.Border{Messages: -1}, Point: 10}},
		"a reply to come":   {Last: 3, Anchor: &meter.Anchor{Border: meter.Border{Messages: 1}, Prompt: 10, Reply: 9}},
		"a negative number": {Last: -1},
	} {
		twin, _, _ := chat(t, 0)
		if err := twin.Restore(s, meter.Past{Prompt: meter.Prompt{View: v}, Messages: messages}); err == nil || !strings.HasPrefix(err.Error(), "meter: restore: ") {
			t.Errorf("%s: want an error of the restore, got %v", name, err)
		}
		if twin.Count() != m.Count() {
			t.Errorf("%s: want the count %+v, got %+v", name, m.Count(), twin.Count())
		}
	}
}

// Compare finds the same in the end of two views as in all of them.
func TestCompareKnowsTheEdit(t *testing.T) {
	_, v, messages := chat(t, 4)
	for name, e := range map[string]edit.Edit{
		"the newest message": {ID: 1, Op: edit.Replace, Span: edit.Span{From: 4, To: 5}, Replacement: llm.Text{Text: "short"}},
		"a note at the end":  {ID: 1, Op: edit.Insert, Span: edit.Span{From: 5, To: 5}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "a"}), edit.NoteOf(llm.Text{Text: "b"})}},
		"a note before it":   {ID: 1, Op: edit.Insert, Span: edit.Span{From: 4, To: 4}, Notes: []llm.Message{edit.NoteOf(llm.Text{Text: "a"})}},
	} {
		now, err := v.Apply(e, messages)
		if err != nil {
			t.Fatal(err)
		}
		a, _, _ := chat(t, 4)
		b, _, _ := chat(t, 4)
		a.Edited(meter.Compare(v, now, e))
		b.Edited(meter.Compare(v, now))
		if a.Report() != b.Report() || a.Report().Parts == (budget.Components{}) {
			t.Errorf("%s: with the edit at hand %+v, without it %+v", name, a.Report(), b.Report())
		}
	}
}
