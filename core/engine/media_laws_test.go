package engine_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A gallery is a random session with many images, most of them seen before.
type gallery struct {
	*sim
	h, other *host
	laws     *laws
	limits   budget.Window
}

func newGallery(t *rapid.T) *gallery {
	g := &gallery{sim: &sim{t: t}, laws: newLaws()}
	g.limits = budget.Window{Capacity: rapid.SampledFrom([]int{40_000, 400_000}).Draw(t, "capacity")}
	if g.maybe(70, "images limited") {
		g.limits.MaxImages = 1 + g.draw(12, "images")
	}
	if g.maybe(70, "bytes limited") {
		g.limits.MaxBytes = 20_000 + 10_000*g.draw(20, "bytes")
	}
	names := []string{"balanced", "layered", "turn-budget", "cache-compact"}
	p, err := policy.Preset(names[g.draw(len(names), "preset")])
	must(t, err)
	c, err := configured(p, budget.Target{Model: "mystery", Window: g.limits})
	must(t, err)
	for _, h := range []**host{&g.h, &g.other} {
		*h, err = newHost(c)
		must(t, err)
	}
	return g
}

func (g *gallery) medium() llm.Media {
	n := g.draw(6, "which")
	m := screenshot(fmt.Sprint("picture ", n), 500+3000*n)
	if g.maybe(20, "document") {
		m.Type = "application/pdf"
	}
	return m
}

// parts draws text with media between.
func (g *gallery) parts() []llm.Part {
	out := []llm.Part{llm.Text{Text: "it says " + g.text("words")}}
	for range g.draw(4, "media") {
		out = append(out, g.medium())
		if g.maybe(40, "between") {
			out = append(out, llm.Text{Text: "and " + g.text("words")})
		}
	}
	return out
}

func (g *gallery) feed(in engine.Input) {
	must(g.t, g.h.feed(in))
	must(g.t, g.other.feed(in))
}

func (g *gallery) step() {
	switch g.draw(5, "step") {
	case 0:
		g.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: g.parts()}})
	case 1:
		g.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: g.parts()}})
	default:
		g.calls++
		id := fmt.Sprint("c", g.calls)
		g.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "look", Args: "{}"}}}})
		r := llm.ToolResult{CallID: id, Content: g.parts()}
		if g.maybe(40, "one alone") {
			r.Content = []llm.Part{g.medium()}
		}
		if g.maybe(50, "with bytes") {
			r.Raw = llm.Raw{Data: edit.Stored(r)}
		}
		g.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{r}}})
	}
	within, edits := g.within(), len(g.h.m.Journal())
	g.feed(engine.Prepare{})
	if within && takesMediaFirst(g.h.m.Journal()[edits:]) {
		g.t.Fatal("law 7: an image is taken out of a view that is within its limits")
	}
	for len(g.h.asks) > 0 {
		a := engine.Answer{Ask: g.h.asks[0].ID, Err: "no model"}
		g.h.asks, g.other.asks = g.h.asks[1:], g.other.asks[1:]
		g.feed(a)
	}
}

// takesMediaFirst reports whether edits take an image out although none of them has put a
// summary in the view, which may have more bytes than the small images in what it is about.
func takesMediaFirst(edits []edit.Edit) bool {
	i := slices.IndexFunc(edits, func(e edit.Edit) bool { return e.Kind == edit.KindMedia })
	return i >= 0 && !slices.ContainsFunc(edits[:i], func(e edit.Edit) bool {
		return slices.ContainsFunc(e.Notes, func(n llm.Message) bool { return n.Flags.Has(llm.FlagSummary) }) || len(e.Sections) > 0
	})
}

// TestMediaLaws plays random sessions with images, documents and small limits.
func TestMediaLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGallery(t)
		g.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: g.parts()}})
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			sends := len(g.h.sent)
			g.step()
			for _, s := range g.h.sent[sends:] {
				g.judge(s)
			}
			for _, r := range g.h.refused {
				if r.Used <= r.Limit || !r.Irreducible() {
					t.Fatalf("law 1: refused with %v", r)
				}
			}
			if a, b := g.h.written(0), g.other.written(0); a != b {
				t.Fatalf("law 4: the records are\n%s\nand\n%s", a, b)
			}
		}
		g.repeats()
	})
}

// judge looks at one request.
func (g *gallery) judge(s *engine.Send) {
	for _, law := range []func(*host, *engine.Send) error{fits, stored, paired, g.laws.sticky} {
		must(g.t, law(g.h, s))
	}
	g.words(s)
	g.laws.last, g.laws.lastEdits = s, map[edit.ID]bool{}
	for _, e := range held(g.h.m) {
		g.laws.lastEdits[e.ID] = true
		if e.Kind == edit.KindMedia {
			g.resolves(e)
		}
	}
	for _, it := range s.Items {
		if !it.IsNote() {
			g.around(it)
		}
	}
}

// words is law 8: what is pinned keeps its words, and its images as long as there are
// others, but for copies of one that is shown.
func (g *gallery) words(s *engine.Send) {
	shown := map[llm.MessageID]llm.Message{}
	pinned := map[llm.MessageID]bool{}
	others := 0
	for _, m := range pinsOf(g.h.m.Policy(), g.h.m.Messages()) {
		pinned[m.ID] = true
	}
	for _, it := range s.Items {
		shown[it.Message.ID] = it.Message
		if !pinned[it.Message.ID] {
			others += mediaIn(it.Message)
		}
	}
	for id := range pinned {
		if !sameWords(shown[id], g.h.m.Messages()[id-1], cutsPins(g.h)) {
			g.t.Fatalf("law 8: message %d is pinned, and more than its images has changed", id)
		}
	}
	for _, e := range held(g.h.m) {
		if !g.laws.lastEdits[e.ID] && e.Kind == edit.KindMedia && pinned[e.Span.From] && others > 0 && g.limits.MaxBytes == 0 && !showsCopy(s, e.Refs[0]) {
			g.t.Fatalf("law 8: an image of message %d is taken out, and %d others are not", e.Span.From, others)
		}
	}
}

// showsCopy reports whether a request shows an image of the content that ref names.
func showsCopy(s *engine.Send, ref llm.Ref) bool {
	return slices.ContainsFunc(s.Items, func(it edit.Item) bool {
		return slices.ContainsFunc(it.Message.Parts, func(p llm.Part) bool {
			m, ok := p.(llm.Media)
			return ok && llm.RefOf(m.Data) == ref
		})
	})
}

// resolves is law 2: what a line stands for can be read back, byte for byte.
func (g *gallery) resolves(e edit.Edit) {
	was := g.h.m.Messages()[e.Span.From-1].Parts[e.Part]
	data, ok := g.h.blobs[e.Refs[0]]
	if m, isMedia := was.(llm.Media); isMedia && !bytes.Equal(data, m.Data) {
		g.t.Fatalf("law 2: the image of message %d reads back as %d bytes (stored: %v), want %d", e.Span.From, len(data), ok, len(m.Data))
	}
	r, _ := was.(llm.ToolResult)
	for _, c := range r.Content {
		if m, isMedia := c.(llm.Media); isMedia && !bytes.Contains(data, m.Data) {
			g.t.Fatalf("law 2: the output of %s reads back without one of its images", r.CallID)
		}
	}
}

// around checks that an edit of media touches nothing but media.
func (g *gallery) around(it edit.Item) {
	for n, p := range it.Message.Parts {
		if !slices.ContainsFunc(held(g.h.m), func(e edit.Edit) bool {
			return e.Kind == edit.KindMedia && e.Span.From == it.Message.ID && e.Part == n
		}) {
			continue
		}
		now, was := []llm.Part{p}, []llm.Part{g.h.m.Messages()[it.Message.ID-1].Parts[n]}
		if r, ok := p.(llm.ToolResult); ok {
			original, _ := was[0].(llm.ToolResult)
			now, was = r.Content, original.Content
			if r.CallID != original.CallID || r.IsError != original.IsError || len(now) != len(was) {
				g.t.Fatalf("the result of %s has become another one", original.CallID)
			}
		}
		for i := range was {
			if _, isMedia := was[i].(llm.Media); !isMedia && !reflect.DeepEqual(now[i], was[i]) {
				g.t.Fatalf("message %d: %T beside an image has changed", it.Message.ID, was[i])
			}
		}
	}
}

// within reports whether the view is within the limits of bytes and images.
func (g *gallery) within() bool {
	sizes := g.h.m.MeterStates()[0].Sums
	size, images := 256, 0 // bytes for what stands around tools and messages
	for _, s := range sizes {
		size, images = size+s.Bytes+s.More, images+s.Media
	}
	w := g.limits
	return (w.MaxBytes == 0 || size <= w.MaxBytes) && (w.MaxImages == 0 || images <= w.MaxImages)
}

// repeats is law 5: a restart and a fork show the same.
func (g *gallery) repeats() {
	again, err := g.h.restored()
	must(g.t, err)
	if !reflect.DeepEqual(again.m.View().Items, g.h.m.View().Items) {
		g.t.Fatalf("law 5: after a restart another view is shown")
	}
	at := llm.MessageID(len(g.h.m.Messages()))
	snap, err := g.h.snapshot(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: "parent", At: at}})
	must(g.t, err)
	fork, err := g.h.continued(engine.Fork{Parent: "parent", At: at, Snapshot: snap})
	must(g.t, err)
	if !reflect.DeepEqual(fork.m.View().Items, g.h.m.View().Items) {
		g.t.Fatalf("law 5: a fork shows another view")
	}
}
