package engine_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// turnsUntilAsked are Turns under turn-budget until a summary is asked for in the background.
func turnsUntilAsked(t *testing.T, h *host, from int) engine.Ask {
	t.Helper()
	for i := from; i < from+60; i++ {
		must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: fmt.Sprint(i, ": ", prose(600, "why"))}}}}))
		prepared(t, h)
		must(t, h.feed(engine.Append{Message: llm.AssistantText(fmt.Sprint(i, ": ", prose(600, "because")))}))
		must(t, h.feed(engine.TurnEnd{}))
		if len(h.asks) > 0 {
			ask := h.asks[0]
			h.asks = nil
			return ask
		}
	}
	t.Fatal("nobody was asked for a summary")
	return engine.Ask{}
}

// An answerer answers questions in one of these ways.
type answerer struct {
	h   *host
	how string
}

const (
	howUnseen = "not looked at" // before it is fed
	howJudged = "judged"
	howKept   = "kept"    // what leaves for it is in the store already
	howAtOnce = "at once" // so it is, and a request is prepared before anything else is done
)

func (a answerer) keeps() bool { return a.how == howKept || a.how == howAtOnce }

// answer feeds an answer after something else, and returns how many contents were stored then.
func (a answerer) answer(t *testing.T, ask engine.Ask, meanwhile func()) (stored int) {
	t.Helper()
	in := engine.Answer{Ask: ask.ID, Text: "<summary>" + prose(800, "so") + "</summary>"}
	if a.how != howUnseen {
		in.Judgement = ask.Judge(in)
		if len(in.Judgement.Blobs()) == 0 {
			t.Error("nothing can be stored beforehand")
		}
	}
	if a.keeps() {
		for _, b := range in.Judgement.Blobs() {
			a.h.blobs[b.Ref] = b.Data
		}
		in.Judgement.Keep()
	}
	meanwhile()
	a.h.ready = func(r engine.Ready, _ string) { stored += len(r.Blobs) }
	if a.how == howAtOnce {
		must(t, a.h.m.Feed(in))
		must(t, a.h.feed(engine.Prepare{}))
	} else {
		must(t, a.h.feed(in))
	}
	a.h.ready = func(engine.Ready, string) {}
	prepared(t, a.h)
	return stored
}

// playKept is a session with two summaries; what the first one stood for comes back before the
// second one is used, if it has changed.
func playKept(t *testing.T, how string, changed bool) (said string, contents map[llm.Ref][]byte) {
	t.Helper()
	p, err := policy.Preset("turn-budget")
	must(t, err)
	config, err := configured(p, budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: 200_000}})
	must(t, err)
	h, err := newHost(config)
	must(t, err)
	a := answerer{h, how}
	if n := a.answer(t, turnsUntilAsked(t, h, 0), func() {}); (n == 0) != a.keeps() {
		t.Errorf("%d contents were stored when the answer came", n)
	}
	first := h.m.Journal()[0]
	n := a.answer(t, turnsUntilAsked(t, h, 100), func() {
		if changed {
			must(t, h.feed(engine.Undo{Edits: []edit.ID{first.ID}}))
		}
	})
	if (n == 0) != (a.keeps() && !changed) {
		t.Errorf("%d contents were stored when the second answer came", n)
	}
	last := h.m.Journal()[len(h.m.Journal())-1]
	if last.Kind != edit.KindSummarise || last.ID == first.ID {
		t.Fatalf("the second answer was not used: %+v", last)
	}
	for _, ref := range last.Refs {
		if data, ok := h.blobs[ref]; !ok || llm.RefOf(data) != ref {
			t.Errorf("law 2: %s was not stored", ref)
		}
	}
	again, err := h.restored()
	must(t, err)
	return h.written(0) + texts(prepared(t, h)) + texts(prepared(t, again)), h.blobs
}

// TestKeptBeforehand: an answer of which all that leaves for it is in the store already leads to the
// same records, requests and contents as one that nobody has looked at before, also where the
// view has changed since it was asked for (laws 2, 4 and 12).
func TestKeptBeforehand(t *testing.T) {
	for _, changed := range []bool{false, true} {
		want, contents := playKept(t, howUnseen, changed)
		for _, how := range []string{howJudged, howKept, howAtOnce} {
			t.Run(fmt.Sprintf("%s/changed=%v", how, changed), func(t *testing.T) {
				got, has := playKept(t, how, changed)
				if got != want {
					t.Error("law 4: other records or requests")
				}
				for ref := range contents {
					if _, ok := has[ref]; !ok {
						t.Errorf("law 2: %s is missing", ref)
					}
				}
			})
		}
	}
}

// TestKeptBeforehandAfterARestart: a question that is asked again says what would leave for its
// answer, as it did before.
func TestKeptBeforehandAfterARestart(t *testing.T) {
	p, err := policy.Preset("turn-budget")
	must(t, err)
	config, err := configured(p, budget.Target{Model: "claude-opus-4-5", Window: budget.Window{Capacity: 200_000}})
	must(t, err)
	h, err := newHost(config)
	must(t, err)
	ask := turnsUntilAsked(t, h, 0)
	again, err := h.restored()
	must(t, err)
	if len(again.asks) != 1 {
		t.Fatalf("%d questions are asked again, want one", len(again.asks))
	}
	blobs := func(ask engine.Ask) []edit.Blob {
		return ask.Judge(engine.Answer{Ask: ask.ID, Text: "<summary>" + prose(800, "so") + "</summary>"}).Blobs()
	}
	if want, got := blobs(ask), blobs(again.asks[0]); len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d contents, want the same %d", len(got), len(want))
	}
	if n := (answerer{again, howKept}).answer(t, again.asks[0], func() {}); n != 0 || len(again.m.Journal()) != 1 {
		t.Errorf("%d contents were stored for %d edits, want none for one", n, len(again.m.Journal()))
	}
}

func texts(s *engine.Send) string {
	var b strings.Builder
	for _, sec := range s.Sections {
		b.WriteString(sec.Text + "\n")
	}
	for _, m := range s.Messages() {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}
