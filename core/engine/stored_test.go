package engine_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// outcome feeds a machine under a policy with the output of one call, and returns what it
// shows of it and where that is placed.
func outcome(t *testing.T, p policy.Policy, tool string, in engine.Input) (string, engine.Placement) {
	t.Helper()
	c, err := configured(p, budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 60_000, OutputReserve: 1000}})
	must(t, err)
	h, err := newHost(c)
	must(t, err)
	var placed []engine.Placement
	h.ready = func(r engine.Ready, _ string) { placed = append(placed, r.Placements...) }
	if slices.Contains(p.Tools, tool) {
		must(t, h.feed(engine.SetTools{Tools: []llm.Tool{{Name: tool, Builtin: true}}}))
	}
	ask(t, h, llm.Text{Text: "hello"})
	must(t, h.feed(engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: tool, Args: "{}"}}}}))
	must(t, h.feed(in))
	if len(placed) != 1 || placed[0].CallID != "c1" || placed[0].Message != 3 {
		t.Fatalf("placed %+v, want one output, of call c1 in message 3", placed)
	}
	items := h.m.View().Items
	return items[len(items)-1].Message.Results()[0].Text(), placed[0]
}

func appended(text string) engine.Input {
	return engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Text{Text: text}}},
	}}}
}

// kept is a text as a host hands it in that has stored it and read head and tail bytes.
func kept(text string, head, tail int) engine.Input {
	return engine.Stored{
		CallID: "c1", Ref: llm.RefOf([]byte(text)), Bytes: len(text), Lines: edit.CountLines(text), Tokens: len(text) / 4,
		Head: text[:min(head, len(text))], Tail: text[max(0, len(text)-tail):],
	}
}

// TestStoredIsAsAppended is R001-5, R002-6 and R000-13 for an output that the host stores
// itself: the rules show of it what they show of the same one that was appended.
func TestStoredIsAsAppended(t *testing.T) {
	counted := regexp.MustCompile(`\d+ tokens`) // a host counts by itself
	mine, err := policy.Parse([]byte(`{"name": "mine", "estimator": "count", "templates": {"cap": "\n[{bytes} bytes, {lines} lines, {ref}]"}, "on_unknown_window": {"action": "error"},
		"rules": [{"name": "ends", "at": "tool", "do": "cap", "args": {"template": "cap", "lines": 20}}]}`))
	must(t, err)
	ends, err := policy.Parse([]byte(`{"name": "ends", "estimator": "count", "templates": {"cap": "\n[{bytes} bytes, {lines} lines, {ref}]"}, "on_unknown_window": {"action": "error"},
		"rules": [{"name": "ends", "at": "tool", "do": "cap", "args": {"template": "cap", "bytes": 3000, "show": "ends"}}]}`))
	must(t, err)
	must(t, policy.Validate(ends))
	policies := []policy.Policy{mine, ends}
	for _, name := range []string{"guard", "cache-compact", "layered"} {
		p, err := policy.Preset(name)
		must(t, err)
		policies = append(policies, p)
	}
	for _, p := range policies {
		for name, text := range map[string]string{
			"lines": filler(300_000, "a"), "lines_to_the_end": strings.Repeat("line of some length\n", 15_000),
			"CJK":      strings.Repeat("界界界界界界界界界界\n", 10_000),
			"one_line": strings.Repeat("x", 300_000), "two_lines": "output\n" + strings.Repeat("x", 300_000),
		} {
			t.Run("R002-6_"+p.Name+"_"+name, func(t *testing.T) {
				want, asAppended := outcome(t, p, "read", appended(text))
				got, asStored := outcome(t, p, "read", kept(text, 100_000, 50_000))
				if p.Name == "mine" && asAppended.Shown == engine.ShownWhole && asStored.Shown == engine.ShownPart {
					return // no rule acts, and what is stored cannot be shown whole
				}
				if diff := cmp.Diff(counted.ReplaceAllString(want, "N tokens"), counted.ReplaceAllString(got, "N tokens")); diff != "" {
					t.Errorf("- appended, + stored\n%.2000s", diff)
				}
				if diff := cmp.Diff(asAppended, asStored, cmpopts.IgnoreUnexported(engine.Placement{})); diff != "" {
					t.Errorf("- appended, + stored\n%s", diff)
				}
			})
		}
	}
}

// TestStoredShare is a cap of a quarter of the window for a stored output: two thirds of it
// from the beginning, one third from the end.
func TestStoredShare(t *testing.T) {
	p, err := named("summary-ahead")
	must(t, err)
	for name, text := range map[string]string{"lines": filler(900_000, "a"), "a_long_line": "output\n" + strings.Repeat("all is well ", 75_000)} {
		t.Run(name, func(t *testing.T) {
			want, asAppended := outcome(t, p, "read", appended(text))
			got, asStored := outcome(t, p, "read", kept(text, 200_000, 100_000))
			if diff := cmp.Diff(asAppended, asStored, cmpopts.IgnoreUnexported(engine.Placement{})); diff != "" {
				t.Errorf("- appended, + stored\n%s", diff)
			}
			head, tail, _ := strings.Cut(want, "\n[…]\n")
			head, tail = head[:len(head)*9/10], tail[len(tail)/10:]
			if n := len(want); len(got) < n*95/100 || len(got) > n*105/100 || !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
				t.Errorf("%d bytes are shown of the stored output, %d of the same one appended:\n%.200s\n…\n%s", len(got), n, got, got[max(0, len(got)-200):])
			}
		})
	}
}

// TestStoredWithoutRule is what is shown of a stored output that no rule acts on.
func TestStoredWithoutRule(t *testing.T) {
	text := filler(300_000, "a")
	for _, tt := range []struct {
		policy, tool string
		shown        engine.Shown
		most         int
	}{
		{"turn-budget", "read", engine.ShownPart, 3_300},
		{"off", "read", engine.ShownPart, 3_300},
		{"balanced", "tool_output_cache", engine.ShownPart, 3_300}, // its own reader
		{"layered", "read_result", engine.ShownPart, 500},
		{"guard", "tool_output", engine.ShownHandle, 300},
	} {
		t.Run(tt.policy+"_"+tt.tool, func(t *testing.T) {
			p, err := policy.Preset(tt.policy)
			must(t, err)
			got, placed := outcome(t, p, tt.tool, kept(text, 100_000, 50_000))
			if placed.Shown != tt.shown || placed.Reason != engine.CauseSizeCap || placed.Ref != llm.RefOf([]byte(text)) || placed.Bytes != len(text) {
				t.Errorf("placed %+v, want %s", placed, tt.shown)
			}
			if len(got) > tt.most || strings.Contains(got, text[:40]) != (tt.shown == engine.ShownPart) {
				t.Errorf("%d bytes are shown: %.300q", len(got), got)
			}
		})
	}
}

// TestPlacements is R000-13: what a Ready says of each output, also where what the rules
// did could not be stored.
func TestPlacements(t *testing.T) {
	t.Run("R001-3_R001-4_all_are_kept", func(t *testing.T) { placements(t, true) })
	t.Run("R000-13_those_that_are_cut_are", func(t *testing.T) { placements(t, false) })
}

func placements(t *testing.T, keep bool) {
	t.Helper()
	p, err := policy.Preset("balanced")
	must(t, err)
	c, err := configured(p, budget.Target{Provider: "a", Model: "gpt-4o", Window: budget.Window{Capacity: 60_000, OutputReserve: 1000}})
	must(t, err)
	c.KeepOutputs = keep
	h, err := newHost(c)
	must(t, err)
	var placed []engine.Placement
	h.ready = func(r engine.Ready, failed string) {
		if failed == "" {
			placed = append(placed, r.Placements...)
		}
	}
	ask(t, h, llm.Text{Text: "hello"})
	same, large, small := filler(4_000, "a"), filler(200_000, "b"), filler(400, "c")
	texts := []string{same, same, large, small}
	feed := func() {
		placed = nil
		call := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		all := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for i, text := range texts {
			id := string(rune('a' + i))
			call.Parts = append(call.Parts, llm.ToolCall{CallID: id, Name: "read", Args: "{}"})
			all.Parts = append(all.Parts, llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: text}}})
		}
		must(t, h.feed(engine.Append{Message: call}))
		must(t, h.feed(engine.Append{Message: all}))
	}
	check := func(want ...engine.Placement) {
		t.Helper()
		for i := range want {
			want[i].CallID, want[i].Part, want[i].Bytes, want[i].Lines = string(rune('a'+i)), i, len(texts[i]), edit.CountLines(texts[i])
			if want[i].Shown != engine.ShownWhole || keep && h.failBlobs == 0 {
				want[i].Ref = llm.RefOf([]byte(texts[i]))
			}
			if text, stored := h.blobs[want[i].Ref]; want[i].Ref != "" && (!stored || string(text) != texts[i]) {
				t.Errorf("output %d is not stored as it came", i)
			}
		}
		if diff := cmp.Diff(want, placed, cmpopts.IgnoreUnexported(engine.Placement{}), cmpopts.IgnoreFields(engine.Placement{}, "Message")); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	}
	whole := engine.Placement{Shown: engine.ShownWhole}
	h.failBlobs = -1
	feed()
	check(whole, whole, whole, whole)
	texts = []string{filler(4_000, "d"), filler(4_000, "d"), filler(200_000, "e"), filler(400, "f")}
	h.failBlobs = 0
	feed()
	check(whole, engine.Placement{Shown: engine.ShownPart, Reason: engine.CauseRepeated}, engine.Placement{Shown: engine.ShownPart, Reason: engine.CauseSizeCap}, whole)
}
