package engine_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// screenHost returns a host for one target under the default policy.
func screenHost(t testing.TB, model string, w budget.Window) *host {
	t.Helper()
	return hostUnder(t, "balanced", model, w)
}

func hostUnder(t testing.TB, name, model string, w budget.Window) *host {
	t.Helper()
	p, err := named(name)
	must(t, err)
	c, err := configured(p, budget.Target{Model: model, Window: w})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	return h
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// screenshot returns a picture of n bytes on the wire that is like no other of its name.
func screenshot(name string, n int) llm.Media {
	data := bytes.Repeat([]byte("A"), n)
	copy(data, name)
	return llm.Media{Type: "image/png", Width: 1568, Height: 1045, Size: n, Raw: llm.Raw{Data: data}}
}

// look feeds a call and its output.
func look(t testing.TB, h *host, id string, content ...llm.Part) {
	t.Helper()
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
		llm.ToolCall{CallID: id, Name: "screenshot", Args: "{}"},
	}}}))
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: id, Content: content},
	}}}))
}

func ask(t testing.TB, h *host, parts ...llm.Part) {
	t.Helper()
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: parts}}))
}

// prepared prepares a call and returns what was sent.
func prepared(t testing.TB, h *host) *engine.Send {
	t.Helper()
	n := len(h.sent)
	must(t, h.feed(engine.Prepare{}))
	if len(h.sent) == n {
		t.Fatalf("nothing was sent: %v", h.refused)
	}
	return h.sent[len(h.sent)-1]
}

// mediaIn counts the media in a message.
func mediaIn(m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		if _, ok := p.(llm.Media); ok {
			n++
		}
		r, _ := p.(llm.ToolResult)
		for _, c := range r.Content {
			if _, ok := c.(llm.Media); ok {
				n++
			}
		}
	}
	return n
}

// sameWords reports whether a message is as it was, but for images of a person that are
// lines now, and, where that may be, for long texts, of which both ends stay with their Ref.
func sameWords(now, was llm.Message, cut bool) bool {
	if len(now.Parts) != len(was.Parts) {
		return false
	}
	parts := slices.Clone(now.Parts)
	for n, p := range parts {
		_, line := p.(llm.Stub)
		if _, medium := was.Parts[n].(llm.Media); line && medium {
			parts[n] = was.Parts[n]
		}
		if t, words := was.Parts[n].(llm.Text); line && words && cut && hasEnds(p.(llm.Stub), t.Text) {
			parts[n] = was.Parts[n]
		}
	}
	now.Parts = parts
	return reflect.DeepEqual(now, was)
}

// hasEnds reports whether a stub shows the beginning and the end of a text, most of what
// stands there, and names where all of it is.
func hasEnds(s llm.Stub, text string) bool {
	head, rest, ok := strings.Cut(s.Text, "\n[… ")
	note, tail, closed := strings.Cut(rest, " …]\n")
	ref := llm.RefOf([]byte(text))
	return ok && closed && s.Ref == ref && strings.Contains(note, string(ref)) && head != "" && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail)
}

// cutsPins reports whether a machine has, or has had, a policy that leaves of long pinned
// messages their ends: what it did stays (law 5).
func cutsPins(h *host) bool {
	return h.m.Policy().PinPermille > 0 || slices.ContainsFunc(held(h.m), func(e edit.Edit) bool {
		return e.Kind == edit.KindCap && e.Span.From <= llm.MessageID(len(h.m.Messages())) && h.m.Messages()[e.Span.From-1].Role != llm.RoleTool
	})
}

// wireOf sums the bytes of what came with bytes, and counts images.
func wireOf(s *engine.Send) (size, images int) {
	for _, m := range s.Messages() {
		images += mediaIn(m)
		for _, p := range m.Parts {
			size += len(p.Bytes())
			r, _ := p.(llm.ToolResult)
			for _, c := range r.Content {
				size += len(c.Bytes())
			}
		}
	}
	return size, images
}

// TestScreenshotSession is a session that providers answer with "request too large"
// although it is at 11 % of its window: 34 MB of screenshots (law 1).
func TestScreenshotSession(t *testing.T) {
	const one, count = 485_000, 70
	h := screenHost(t, "claude-opus-4-6", budget.Window{Capacity: 1_000_000})
	ask(t, h, llm.Text{Text: "Fill in the form."})
	for i := range count {
		look(t, h, fmt.Sprint("c", i), llm.Text{Text: "done"}, screenshot(fmt.Sprint("screen ", i), one))
	}
	if share := 100 * h.m.Count().Point / 1_000_000; share < 10 || share > 13 {
		t.Fatalf("the session is at %d %% of its window, want about 11", share)
	}
	s := prepared(t, h)
	size, images := wireOf(s)
	if size > 32_000_000 {
		t.Errorf("the request has %d bytes, want at most 32 MB", size)
	}
	if least := (32_000_000*85/100)/one - 1; images < least {
		t.Errorf("%d images are left, want the newest %d or more", images, least)
	}
	for _, e := range h.m.Journal() {
		if e.Kind != edit.KindMedia {
			t.Errorf("edit %d is %s: only images were too many", e.ID, e.Kind)
		}
	}
}

// TestScreenshotEachStep goes on at the limit for long: the prefix changes once for
// many Steps, not in each one, or the provider's cache would serve none of them.
func TestScreenshotEachStep(t *testing.T) {
	const steps, limit = 200, 100
	h := screenHost(t, "mystery", budget.Window{Capacity: 10_000_000, MaxImages: limit})
	ask(t, h, llm.Text{Text: "Watch it."})
	breaks := 0
	for i := range steps {
		look(t, h, fmt.Sprint("c", i), screenshot(fmt.Sprint("screen ", i), 1000))
		edits := len(h.m.Journal())
		if _, images := wireOf(prepared(t, h)); images > limit {
			t.Fatalf("step %d sends %d images, want at most %d", i, images, limit)
		}
		if len(h.m.Journal()) > edits {
			breaks++
		}
	}
	if most := (steps - limit + 14) / 15; breaks == 0 || breaks > most {
		t.Errorf("%d of %d Steps changed what was sent before, want 1 to %d", breaks, steps, most)
	}
}

// TestLimitsOfTheCatalogue tells where a target's limits of bytes and images come from.
func TestLimitsOfTheCatalogue(t *testing.T) {
	for _, c := range []struct {
		name, model           string
		bytes, images         int
		wantBytes, wantImages int
	}{
		{name: "not stated: the maker's", model: "claude-opus-4-6", wantBytes: 32_000_000, wantImages: 600},
		{name: "the model's own", model: "claude-opus-4-5", wantBytes: 32_000_000, wantImages: 100},
		{name: "stated", model: "claude-opus-4-6", bytes: 5000, images: 7, wantBytes: 5000, wantImages: 7},
		{name: "one is stated", model: "claude-opus-4-6", images: 7, wantBytes: 32_000_000, wantImages: 7},
		{name: "stated to be none", model: "claude-opus-4-6", bytes: engine.NoLimit, images: engine.NoLimit, wantBytes: engine.NoLimit, wantImages: engine.NoLimit},
		{name: "not known", model: "mystery"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := screenHost(t, c.model, budget.Window{Capacity: 200_000, MaxBytes: c.bytes, MaxImages: c.images})
			w := h.m.Targets()[0].Window
			if w.MaxBytes != c.wantBytes || w.MaxImages != c.wantImages {
				t.Errorf("%d bytes and %d images, want %d and %d", w.MaxBytes, w.MaxImages, c.wantBytes, c.wantImages)
			}
		})
	}
}

// TestNoLimit sends more than the catalogue allows, as the target is said to take it.
func TestNoLimit(t *testing.T) {
	h := screenHost(t, "claude-opus-4-5", budget.Window{Capacity: 1_000_000, MaxBytes: engine.NoLimit, MaxImages: engine.NoLimit})
	ask(t, h, llm.Text{Text: "Watch it."})
	for i := range 101 {
		look(t, h, fmt.Sprint("c", i), screenshot(fmt.Sprint("screen ", i), 100))
	}
	if _, images := wireOf(prepared(t, h)); images != 101 {
		t.Errorf("%d images are sent, want all 101", images)
	}
}

// TestPinnedImages is law 8 for a message with images: they go after all others, the
// words never (the scenarios cannot show it as long as laws_test.go pins whole messages).
func TestPinnedImages(t *testing.T) {
	h := screenHost(t, "mystery", budget.Window{Capacity: 200_000, MaxImages: 2})
	ask(t, h, llm.Text{Text: "Like this, not like that."}, screenshot("good", 1000), llm.Text{Text: "That:"}, screenshot("bad", 1000), screenshot("worse", 1000))
	look(t, h, "c1", screenshot("page", 1000))
	s := prepared(t, h)
	var kinds []string
	for _, p := range s.Items[0].Message.Parts {
		kinds = append(kinds, edit.KindOf(p))
	}
	if got, want := strings.Join(kinds, " "), "text stub text media media"; got != want {
		t.Errorf("the person's message is %q, want %q", got, want)
	}
	if !sameWords(s.Items[0].Message, h.m.Messages()[0], false) {
		t.Errorf("the words have changed: %v", s.Items[0].Message)
	}
	if _, images := wireOf(s); images != 2 {
		t.Errorf("%d images are sent, want 2: the output that is not answered yet goes before the person's", images)
	}
}

// TestPinnedImagesAndBytes: old text makes room for a person's image where that is
// enough; where it cannot be, it stays.
func TestPinnedImagesAndBytes(t *testing.T) {
	for _, c := range []struct {
		name         string
		image        int
		wantImage    bool
		wantOutputs  int // that are shown in full
		outputs, max int // bytes of each of two
	}{
		{name: "text makes up for it", image: 40_000, outputs: 15_000, max: 60_000, wantImage: true, wantOutputs: 1},
		{name: "text does not", image: 70_000, outputs: 8000, max: 60_000, wantOutputs: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := screenHost(t, "mystery", budget.Window{Capacity: 200_000, MaxBytes: c.max})
			ask(t, h, llm.Text{Text: "Draw it like this."}, screenshot("sketch", c.image))
			for i := range 2 {
				look(t, h, fmt.Sprint("c", i), llm.Text{Text: filler(c.outputs, fmt.Sprint("out", i))})
			}
			s := prepared(t, h)
			_, images := wireOf(s)
			outputs := 0
			for _, m := range s.Messages() {
				for _, r := range m.Results() {
					if len(r.Text()) == c.outputs {
						outputs++
					}
				}
			}
			if (images == 1) != c.wantImage || outputs != c.wantOutputs {
				t.Errorf("%d images and %d whole outputs are sent, want the image: %v, and %d outputs", images, outputs, c.wantImage, c.wantOutputs)
			}
		})
	}
}

// TestReducedFurther: an output whose image is a line already is still an output that
// can be reduced when the tokens are too many, and its own Ref holds all of it.
func TestReducedFurther(t *testing.T) {
	h := screenHost(t, "mystery", budget.Window{Capacity: 30_000, MaxImages: 1})
	ask(t, h, llm.Text{Text: "Look."})
	first := []llm.Part{llm.Text{Text: filler(30_000, "log")}, screenshot("one", 1000), screenshot("two", 1000)}
	look(t, h, "c1", first...)
	prepared(t, h)
	look(t, h, "c2", llm.Text{Text: filler(60_000, "more")})
	s := prepared(t, h)
	for _, law := range []func(*host, *engine.Send) error{fits, stored, paired} {
		must(t, law(h, s))
	}
	want := string(edit.Stored(llm.ToolResult{Content: first}))
	if got := string(h.blobs[llm.RefOf([]byte(want))]); got != want {
		t.Errorf("of the first output %d bytes are stored, want all %d", len(got), len(want))
	}
}
