package sessionfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// session is two segments of three calls, one of them a copy, and what the file states.
func session(stated ...sessionfile.Stated) *sessionfile.Session {
	call := func(model string, in, out int) sessionfile.Entry {
		return sessionfile.Entry{Step: &sessionfile.Step{
			Model: model, Usage: llm.Usage{Input: in, Output: out}, Reported: true, OutputReported: true, Cost: int64(in),
		}}
	}
	copied, other := call("keel", 5000, 50), call("mast", 2000, 9)
	copied.Step.Copied, other.Step.OutputReported, other.Step.Cost = "elder", false, 0
	return &sessionfile.Session{
		Stated: stated,
		Segments: []sessionfile.Segment{
			{Entries: []sessionfile.Entry{{}, copied, call("keel", 1000, 20)}}, {Entries: []sessionfile.Entry{other}},
		},
	}
}

// TestCheck: what a file states is held against the session's own calls in its segments,
// within the width of its rounding.
func TestCheck(t *testing.T) {
	const prompt, output, cost = sessionfile.FigurePrompt, sessionfile.FigureOutput, sessionfile.FigureCost
	figure := func(name sessionfile.FigureName, value, round int64) []sessionfile.Figure {
		return []sessionfile.Figure{{Name: name, Value: value, Round: round}}
	}
	for _, c := range []struct {
		name   string
		stated sessionfile.Stated
		want   []string
	}{
		{"equal", sessionfile.Stated{To: 2, Figures: figure(prompt, 3000, 0)}, nil},
		{"one segment", sessionfile.Stated{From: 1, To: 2, Figures: figure(prompt, 2000, 0)}, nil},
		{"one model", sessionfile.Stated{Model: "keel", To: 2, Figures: figure(prompt, 1000, 0)}, nil},
		{"calls", sessionfile.Stated{To: 2, Figures: figure(sessionfile.FigureCalls, 2, 0)}, nil},
		{
			"with a copy",
			sessionfile.Stated{Line: 9, What: "total", To: 2, Figures: figure(prompt, 8000, 0)},
			[]string{"line 9: total: prompt: 8000 stated, 3000 read"},
		},
		{"rounded", sessionfile.Stated{To: 2, Figures: figure(prompt, 3500, 1000)}, nil},
		{
			"rounded too far",
			sessionfile.Stated{Line: 9, What: "total", To: 2, Figures: figure(prompt, 3501, 1000)},
			[]string{"line 9: total: prompt: 3501 stated, 3000 read"},
		},
		{
			"not final",
			sessionfile.Stated{Line: 9, What: "total", Model: "mast", To: 2, Figures: figure(output, 80, 0)},
			[]string{"line 9: total of mast: output: 80 stated, 9 read: the file has no final size of the output for 1 of 1 calls"},
		},
		{"cost that no call states", sessionfile.Stated{Model: "mast", To: 2, Figures: figure(cost, 7, 0)}, nil},
		{
			"cost that some state",
			sessionfile.Stated{Line: 9, What: "total", To: 2, Figures: figure(cost, 1007, 0)},
			[]string{"line 9: total: cost: 1007 stated, 1000 read: the file has no cost for 1 of 2 calls"},
		},
		{
			"beyond the end",
			sessionfile.Stated{Line: 9, What: "total", From: 2, To: 7, Figures: figure(prompt, 1, 0)},
			[]string{"line 9: total: prompt: 1 stated, 0 read"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range session(c.stated).Check() {
				got = append(got, d.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckNamesSubAgents: what a client states of all its calls may hold those of
// sub-agents that the file only lists.
func TestCheckNamesSubAgents(t *testing.T) {
	s := session(sessionfile.Stated{Line: 9, What: "total", To: 2, Figures: []sessionfile.Figure{{Name: sessionfile.FigureCalls, Value: 5}}})
	s.Abandoned = []sessionfile.Branch{{First: 3, Last: 4, Messages: 2, Why: sessionfile.WhySubAgent}}
	got := s.Check()
	if len(got) != 1 || got[0].Read != 2 || got[0].Why == "" {
		t.Errorf("want one difference, 2 calls read, and why, got %v", got)
	}
	s.Abandoned[0].Calls = make([]sessionfile.Step, 3)
	if got := s.Check(); len(got) != 1 || got[0].Why != "it is the sum with the calls of sub-agents in the file" {
		t.Errorf("want a difference that the three calls of sub-agents explain, got %v", got)
	}
}
