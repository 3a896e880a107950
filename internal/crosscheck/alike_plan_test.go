package crosscheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A script is what happens in one conversation, whoever has it. What an action makes of the
// session's state it makes by numbers of its own, so that two sessions that are alike are told
// the same.
type script struct {
	seed    uint64
	policy  policy.Policy
	targets [][]budget.Target // lists that requests name, the first one to begin with
	prompt  bool              // the system prompt is built of sections
	late    bool              // outputs are stored when they leave
	bare    bool              // none of the policy's tools
	effort  string
	actions []action
}

// An action is one thing that happens.
type action struct {
	do   string
	seed uint64
}

func (a action) rng() *rand.Rand { return rand.New(rand.NewPCG(a.seed, 7)) }

// The actions, each with how often it comes.
var deeds = []struct {
	do   string
	odds int
}{
	{"prepare", 30},
	{"reply", 30},
	{"outputs", 30},
	{"human", 12},
	{"turn end", 8},
	{"tools", 3},
	{"skill", 3},
	{"pad", 2},
	{"rules", 2},
	{"sections", 3},
	{"offer", 2},
	{"compact", 2},
	{"undo", 3},
	{"finish", 1},
	{"fork back", 1},
	{"rewind", 1},
}

var alikeModels = []string{
	"anthropic/claude-sonnet-5", "anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-5", "openai/gpt-5", "openai/gpt-4o", "gemini/gemini-2.5-pro", "local/somebody",
}

// newScript writes what happens under a seed.
func newScript(seed uint64, presets []policy.Policy) script {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := script{seed: seed, policy: presets[rng.IntN(len(presets))], prompt: rng.IntN(2) == 0, late: rng.IntN(3) == 0, bare: rng.IntN(4) == 0}
	if rng.IntN(3) == 0 {
		s.effort = "medium"
	}
	s.vary(rng)
	window := 14_000 + rng.IntN(60_000)
	for range 3 {
		var list []budget.Target
		names := slices.Clone(alikeModels)
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(names))
			provider, model, _ := strings.Cut(names[i], "/")
			names = slices.Delete(names, i, i+1)
			t := budget.Target{Provider: provider, Model: model}
			t.Window.Capacity = window * (800 + rng.IntN(500)) / 1000
			t.Window.OutputReserve = t.Window.Capacity / (4 + rng.IntN(8))
			list = append(list, t)
		}
		s.targets = append(s.targets, list)
	}
	sum := 0
	for _, d := range deeds {
		sum += d.odds
	}
	s.actions = []action{{"tools", rng.Uint64()}, {"human", rng.Uint64()}}
	for n := 60 + rng.IntN(160); len(s.actions) < n; {
		at := rng.IntN(sum)
		for _, d := range deeds {
			if at -= d.odds; at < 0 {
				s.actions = append(s.actions, action{d.do, rng.Uint64()})
				break
			}
		}
	}
	return s
}

// vary makes another policy of a preset.
func (s *script) vary(rng *rand.Rand) {
	p := &s.policy
	if p.Name == "off" || rng.IntN(3) > 0 {
		return
	}
	switch rng.IntN(4) {
	case 0:
		if p.Deferral.Permille > 0 {
			p.Deferral.Until = policy.UntilTurn
		}
	case 1:
		p.Rules = slices.Clone(p.Rules)
		for i := range p.Rules {
			if r := p.Rules[i]; r.Do == policy.DoSummarise && !r.Forced && r.At != policy.AtRejected {
				p.Rules[i].Args.Background = !p.Rules[i].Args.Background
			}
		}
	case 2:
		p.Economy = policy.Economy{Horizon: 20, Write: 1250, Read: 100}
	case 3:
		p.OnSummaryError = []string{policy.SummaryKeep, policy.SummaryNext, policy.SummaryFallback}[rng.IntN(3)]
	}
	p.Name += "-varied"
}

// Words that texts are made of: with names that calls refer to.
var (
	alikeWords = strings.Fields("mast sail keel rope anchor harbour tide wind deck hull cabin rudder chart lantern cargo captain mate crew bell storm reef buoy knot shore pier")
	alikePaths = strings.Fields("src/mast.go src/sail.go lib/keel_test.go docs/rope.md cmd/anchor/main.go internal/tide/tide.go deck.py hull/plan.txt cargo.json logs/storm.log")
)

func saidWords(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch rng.IntN(12) {
		case 0:
			b.WriteString(alikePaths[rng.IntN(len(alikePaths))])
		case 1:
			fmt.Fprintf(&b, "%d", rng.IntN(10_000))
		default:
			b.WriteString(alikeWords[rng.IntN(len(alikeWords))])
		}
	}
	return b.String()
}

// saidLines is an output: lines, of which some are those of other outputs.
func saidLines(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		from := rng
		if rng.IntN(3) == 0 { // a passage that others have, too
			from = rand.New(rand.NewPCG(uint64(rng.IntN(12)), 3)) //nolint:gosec // small
		}
		for range 6 {
			b.WriteString(saidWords(from, 10) + " " + alikePaths[from.IntN(len(alikePaths))] + "\n")
		}
	}
	return b.String()
}

// saidTools is a tool list: some of the host's own, and more of servers and skills.
func saidTools(rng *rand.Rand) []llm.Tool {
	names := []string{"read", "bash", "grep", "edit"}
	out := make([]llm.Tool, 0, len(names))
	for _, n := range names {
		out = append(out, llm.Tool{Name: n, Description: "To " + n + " a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`})
	}
	for i := range rng.IntN(3) * rng.IntN(12) {
		kind := llm.ToolOfServer
		if i%3 == 0 {
			kind = llm.ToolOfSkill
		}
		w := alikeWords[i%len(alikeWords)]
		out = append(out, llm.Tool{Name: "sea_" + w, Description: "To look after the " + w + ": " + saidWords(rng, 30), Schema: `{"type":"object","properties":{"` + w + `":{"type":"string"}}}`, Kind: kind})
	}
	return out
}
