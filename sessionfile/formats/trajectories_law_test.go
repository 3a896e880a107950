package formats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// sayings returns what the messages of a segment say, in order: the system prompt,
// texts, calls by id, results by the id of the call.
func sayings(segment sessionfile.Segment) []string {
	var all []string
	for _, s := range segment.Sections {
		all = append(all, "system "+s.Text)
	}
	for _, e := range segment.Entries {
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case llm.Text:
				all = append(all, e.Message.Origin.String()+" "+p.Text)
			case llm.ToolCall:
				all = append(all, "call "+p.CallID)
			case llm.ToolResult:
				all = append(all, "result "+p.CallID)
			}
		}
	}
	return all
}

// TestAiderChats writes histories of chats and reads the same out of them.
func TestAiderChats(t *testing.T) {
	line := rapid.StringMatching(`[a-z][a-z #>/]{0,20}[a-z]`)
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		var want [][]string
		for chat := range rapid.IntRange(1, 4).Draw(rt, "chats") {
			fmt.Fprintf(&b, "\n# aider chat started at 2026-03-0%d 08:00:00\n\n> Aider v1  \n", chat+1)
			var said []string
			for range rapid.IntRange(0, 4).Draw(rt, "turns") {
				words := rapid.SliceOfN(line, 1, 3).Draw(rt, "words")
				fmt.Fprintf(&b, "\n#### %s  \n", strings.Join(words, "  \n#### "))
				said = append(said, "human "+strings.Join(words, "\n"))
				if rapid.Bool().Draw(rt, "interrupted") {
					b.WriteString("> ^C again to exit  \n")
					continue
				}
				reply := strings.Join(rapid.SliceOfN(line, 1, 3).Draw(rt, "reply"), "\n\n")
				fmt.Fprintf(&b, "\n%s\n\n> Tokens: 10 sent, 2 received. Cost: $0.01 message, $0.01 session.  \n", reply)
				said = append(said, "model "+reply)
			}
			if len(said) > 0 {
				want = append(want, said)
			}
		}
		s, err := Read("file", strings.NewReader(b.String()))
		if err != nil {
			rt.Fatal(err)
		}
		var got [][]string
		for _, segment := range s.Segments {
			got = append(got, sayings(segment))
		}
		if len(s.Problems) > 0 || !slices.EqualFunc(want, got, slices.Equal[[]string]) {
			rt.Fatalf("want %q, got %q with %v of\n%s", want, got, s.Problems, b.String())
		}
	})
}

// An openHands history that is drawn, and what is left of it.
type openHands struct {
	events    []map[string]any
	says      map[int]string // what each event says
	partner   map[int]int    // of an action its observation, and the other way round
	forgotten map[int]bool
	summary   string // the last one
}

func (h *openHands) add(says string, e map[string]any) int {
	id := len(h.events)
	e["id"], e["timestamp"] = id, "2026-03-01T08:00:00Z"
	h.events, h.says[id] = append(h.events, e), says
	return id
}

func (h *openHands) message(source, origin string, n int) {
	text := fmt.Sprintf("say %d", n)
	h.add(origin+" "+text, map[string]any{"source": source, "action": "message", "args": map[string]any{"content": text}})
}

func (h *openHands) call(n int) {
	call := fmt.Sprintf("c%d", n)
	reply := map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
		map[string]any{"id": call, "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}},
	}}
	response := map[string]any{"id": fmt.Sprintf("r%d", n), "choices": []any{map[string]any{"message": reply}}}
	action := h.add("call "+call, map[string]any{
		"source": "agent", "action": "run", "args": map[string]any{},
		"tool_call_metadata": map[string]any{"tool_call_id": call, "model_response": response},
	})
	observation := h.add("result "+call, map[string]any{
		"source": "agent", "cause": action, "observation": "run", "content": "x", "extras": map[string]any{},
		"tool_call_metadata": map[string]any{"tool_call_id": call},
	})
	h.partner[action], h.partner[observation] = observation, action
}

func (h *openHands) condense(t *rapid.T, n int) {
	var ids []int
	for id := range h.events {
		if rapid.IntRange(0, 2).Draw(t, "forget") > 0 {
			continue
		}
		ids = append(ids, id)
		h.forgotten[id] = true
		if p, ok := h.partner[id]; ok {
			h.forgotten[p] = true
		}
	}
	args := map[string]any{"forgotten_event_ids": ids}
	if rapid.Bool().Draw(t, "summary") {
		h.summary = fmt.Sprintf("summary %d", n)
		args["summary"], args["summary_offset"] = h.summary, rapid.IntRange(0, 5).Draw(t, "offset")
	}
	h.add("", map[string]any{"source": "environment", "action": "condensation", "args": args})
}

// left returns what the events say that were not forgotten.
func (h *openHands) left() []string {
	var all []string
	for id := range h.events {
		if h.says[id] != "" && !h.forgotten[id] {
			all = append(all, h.says[id])
		}
	}
	return all
}

func drawOpenHands(t *rapid.T) *openHands {
	h := &openHands{says: map[int]string{}, partner: map[int]int{}, forgotten: map[int]bool{}}
	h.message("user", "human", 0)
	for n := range rapid.IntRange(1, 12).Draw(t, "events") {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			h.message("user", "human", n+1)
		case 1:
			h.message("agent", "model", n+1)
		case 2:
			h.call(n + 1)
		case 3:
			h.condense(t, n+1)
		}
	}
	return h
}

// TestCondensationLaw forgets any events of any histories: what is left are the
// events that were not forgotten, in their order, calls and results only together,
// and the last summary once; nothing of it is a problem.
func TestCondensationLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := drawOpenHands(rt)
		text, err := json.Marshal(h.events)
		if err != nil {
			rt.Fatal(err)
		}
		s, err := Read("file", strings.NewReader(string(text)))
		if err != nil {
			rt.Fatal(err)
		}
		checkSession(t, s)
		want := h.left()
		if len(want) == 0 && h.summary == "" {
			return // a segment without messages is left out
		}
		got := sayings(s.Segments[len(s.Segments)-1])
		if h.summary != "" {
			at := slices.Index(got, "note "+h.summary)
			if at < 0 {
				rt.Fatalf("the summary %q is not in %q", h.summary, got)
			}
			got = slices.Delete(got, at, at+1)
		}
		if len(s.Problems) > 0 || !slices.Equal(want, got) {
			rt.Fatalf("want %q, got %q with %v of\n%s", want, got, s.Problems, text)
		}
	})
}
