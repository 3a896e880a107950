package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// visibleTokens returns the tokens of the texts that a view shows, by a tokenizer that
// shares no code with ours: no request has fewer.
func visibleTokens(t *rapid.T, items []edit.Item) int {
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, it := range items {
		for _, text := range textsOf(it.Message) {
			c, err := codec.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			n += c
		}
	}
	return n
}

// An undoer is a session whose outputs are taken out part by part and put back.
type undoer struct {
	t     *rapid.T
	h     *host
	twin  *counted
	calls int
}

// openUndoer begins a session with a model whose tokens are counted exactly.
func openUndoer(t *rapid.T, limit int) *undoer {
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	w := budget.Window{Capacity: limit, Buffer: budget.None, OutputReserve: budget.None, MaxBytes: engine.NoLimit}
	c, err := configured(p, budget.Target{Model: "gpt-4", Window: w})
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(c)
	if err != nil {
		t.Fatal(err)
	}
	twin, err := newCounted(c.Catalog.FamilyOf("gpt-4"))
	if err != nil {
		t.Fatal(err)
	}
	r := &undoer{t: t, h: h, twin: twin}
	r.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go"}}}})
	return r
}

func (r *undoer) feed(in engine.Input) {
	r.t.Helper()
	sent := len(r.h.sent)
	r.twin.before(r.h, in)
	if err := r.h.feed(in); err != nil {
		r.t.Fatalf("feed %T: %v", in, err)
	}
	r.twin.after(r.h, len(r.h.sent) > sent)
}

// round appends one reply with several calls and one message with all their results.
func (r *undoer) round(results, words int) {
	call := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	result := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for range results {
		r.calls++
		id := fmt.Sprint("c", r.calls)
		call.Parts = append(call.Parts, llm.ToolCall{CallID: id, Name: "read", Args: "{}"})
		text := fmt.Sprint(r.calls, " ", strings.Repeat("river stone ", words))
		result.Parts = append(result.Parts, llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: text}}})
	}
	r.feed(engine.Append{Message: call})
	r.feed(engine.Append{Message: result})
}

// stub shows part n of message id as one line: in place of an edit that shows it
// already, or on top of it.
func (r *undoer) stub(id llm.MessageID, n int, supersede bool) {
	whole := r.h.m.Messages()[id-1].Parts[n].(llm.ToolResult)
	data := edit.Stored(whole)
	e := edit.Edit{
		Op: edit.Replace, Kind: edit.KindStub, Span: edit.Span{From: id, To: id + 1}, Part: n, Rule: "test",
		Refs: []llm.Ref{llm.RefOf(data)}, Before: 1000, After: 10,
		Replacement: whole.WithContent(llm.Stub{Ref: llm.RefOf(data), Text: fmt.Sprintf("[%s]", strings.Repeat("s", 1+len(r.h.m.Journal())%7)), Size: len(data)}),
	}
	for _, old := range held(r.h.m) {
		if supersede && old.Op == edit.Replace && old.Span == e.Span && old.Part == n {
			e.Supersedes = append(e.Supersedes, old.ID)
		}
	}
	if !r.h.m.Try(edit.Plan{Edits: []edit.Edit{e}, Blobs: []edit.Blob{{Ref: e.Refs[0], Data: data}}}, "test") {
		r.t.Fatalf("the edit of part %d of message %d is refused", n, id)
	}
	if err := r.h.drain(); err != nil {
		r.t.Fatal(err)
	}
}

// undoable returns the edits that can be undone.
func (r *undoer) undoable() []edit.ID {
	var out []edit.ID
	for _, e := range held(r.h.m) {
		if e.Op == edit.Replace || e.Op == edit.Archive {
			out = append(out, e.ID)
		}
	}
	return out
}

// check compares what is counted with what is shown.
func (r *undoer) check(after string) {
	r.t.Helper()
	if err := metersAgree(r.h); err != nil {
		r.t.Fatalf("after %s: %v", after, err)
	}
	if err := r.twin.agrees(r.h); err != nil {
		r.t.Fatalf("after %s: %v", after, err)
	}
	if n, count := visibleTokens(r.t, r.h.m.View().Items), r.h.m.Count(); n > count.Bound {
		r.t.Fatalf("law 1: after %s the view has at least %d tokens, the count is %+v", after, n, count)
	}
}

// prepare asks for a request and holds it against an independent count.
func (r *undoer) prepare() (left bool) {
	sent := len(r.h.sent)
	r.feed(engine.Prepare{})
	for _, s := range r.h.sent[sent:] {
		if n := visibleTokens(r.t, s.Items); n > s.Limit {
			r.t.Fatalf("law 1: %d tokens are sent at a limit of %d, the count is %+v", n, s.Limit, s.Count)
		}
	}
	return len(r.h.sent) > sent
}

// usage reports what a provider counted of the request sent last: the truth, our own
// count, or nothing of the prompt.
func (r *undoer) usage() {
	s := r.h.sent[len(r.h.sent)-1]
	own := s.Count.Point + rapid.IntRange(0, 1).Draw(r.t, "bound")*(s.Count.Bound-s.Count.Point)
	prompt := rapid.SampledFrom([]int{visibleTokens(r.t, s.Items) + 4*len(s.Items), own, own, 0}).Draw(r.t, "prompt")
	output := rapid.SampledFrom([]int{0, 30, 2000}).Draw(r.t, "output")
	r.feed(engine.Usage{Usage: llm.Usage{Input: prompt, Output: output}, Reported: true, OutputUnknown: output == 0})
}

func (r *undoer) step() {
	m := r.h.m
	draw := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(r.t, what) }
	switch what := draw(10, "step"); what {
	case 0, 1:
		r.round(1+draw(5, "results"), 1+draw(300, "words"))
	case 2, 3, 4, 5:
		var spots []place
		for _, it := range m.View().Items {
			for n, p := range it.Message.Parts {
				if _, ok := p.(llm.ToolResult); ok {
					spots = append(spots, place{it.Message.ID, n})
				}
			}
		}
		if len(spots) > 0 {
			at := spots[draw(len(spots), "spot")]
			r.stub(at.id, at.part, draw(2, "supersede") == 0)
		}
	case 6, 7:
		if ids := r.undoable(); len(ids) > 0 {
			ids = slices.Compact(slices.Sorted(slices.Values([]edit.ID{ids[draw(len(ids), "undo")], ids[draw(len(ids), "and")]})))
			_ = r.h.feed(engine.Undo{Edits: ids}) // an archive that another one stands on is refused
		}
	case 8:
		if r.prepare() && draw(4, "usage") > 0 {
			r.usage()
		}
	case 9:
		n, err := r.h.restored()
		if err != nil {
			r.t.Fatal(err)
		}
		if a, b := m.Count(), n.m.Count(); a != b {
			r.t.Fatalf("the count was %+v, after a restart it is %+v", a, b)
		}
		r.h = n
	}
}

// TestUndoIsCounted takes single results of a message out and puts them back, in any
// order, with usage in between that is true or our own count: whatever is shown is
// counted, what came since a usage is what two views differ in, and a restart counts the
// same.
func TestUndoIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := openUndoer(t, rapid.SampledFrom([]int{2000, 5000, 50_000}).Draw(t, "limit"))
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			r.step()
			r.check(fmt.Sprint("step ", i))
		}
	})
}
