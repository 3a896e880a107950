package crosscheck

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A model is one that sessions can go to, and how its real provider is made.
type model struct {
	provider, name string
	dialect        llm.Dialect
	exact          bool // its tokenizer is one of those that the counter has
	old            bool // it is cl100k_base
	window         int  // by the catalogue
}

var models = []model{
	{"openai", "gpt-4o", "openai-chat", true, false, 128_000},
	{"openai", "gpt-5-mini", "openai-responses", true, false, 400_000},
	{"openai", "gpt-4", "openai-chat", true, true, 8_192},
	{"openai", "gpt-3.5-turbo", "openai-chat", true, true, 16_385},
	{"anthropic", "claude-sonnet-4-5", "anthropic", false, false, 200_000},
	{"anthropic", "claude-opus-5-5", "anthropic", false, false, 1_000_000},
	{"gemini", "gemini-2.5-flash", "gemini", false, false, 1_048_576},
	{"ollama", "qwen3-8b", "ollama", false, false, 131_072},
	{"acme", "foo-1", "openai-chat", false, false, 0},
}

// A place is a target, and the truth about it.
type place struct {
	model
	target budget.Target
	window int // that the provider really has
	bytes  int // that it really takes
	ratio  int // permille of its tokens over those that the counter counts

	// What has happened to it.
	heard   bool // it reported a usage
	lied    bool // it reported a usage that is wrong and can be believed
	learnt  int  // the smallest window that a refusal stated; 0: none did
	refused int  // times
	told    int  // the largest prompt that it reported, and no refusal was of less since
}

// limit is what the policy's document leaves of the window that the target states; 0: it does not state all of it.
func (p *place) limit(rule policy.WindowRule) int {
	w := p.target.Window
	if w.Capacity == 0 || w.Buffer == 0 || w.OutputReserve == 0 {
		return 0
	}
	n := w.Capacity
	if rule.Buffer > 0 {
		n -= max(0, w.Buffer)
	}
	if rule.ReserveOutput {
		n -= max(0, w.OutputReserve)
	}
	return n
}

// most is above every limit that the target can have.
func (p *place) most(rule policy.WindowRule) int {
	n := p.limit(rule)
	if n == 0 {
		n = p.target.Window.Capacity
	}
	if n == 0 {
		n = p.model.window
	}
	if n == 0 {
		n = 1 << 30
	}
	if p.learnt > 0 {
		n = min(n, p.learnt)
	}
	if w := p.target.Window.Capacity; w > 0 { // what a target states is no guess
		return max(n, min(p.told, w))
	}
	return max(n, p.told)
}

// newPlace makes a target of a model.
func newPlace(rng *rand.Rand, m model) *place {
	p := &place{model: m, target: budget.Target{Provider: m.provider, Model: m.name}, ratio: 1000}
	w := &p.target.Window
	w.Capacity = []int{3_000, 5_000, 8_000, 12_000, 20_000, 40_000}[rng.IntN(6)] + rng.IntN(2_000)
	if m.window == 0 && rng.IntN(4) == 0 || m.window > 0 && m.window < 20_000 && rng.IntN(3) == 0 {
		w.Capacity = 0
	}
	switch rng.IntN(4) {
	case 0:
		w.Buffer, w.OutputReserve = budget.None, budget.None
	case 1:
		w.Buffer, w.OutputReserve = 100+rng.IntN(300), 200+rng.IntN(800)
	case 2:
		w.Buffer, w.OutputReserve = budget.None, 100+rng.IntN(900)
	case 3: // the policy's own; a reserve that is larger than the window is an error of the host's
		w.OutputReserve = 200 + rng.IntN(800)
		w.Buffer = 1 + rng.IntN(200)
		if rng.IntN(2) == 0 {
			w.OutputReserve = 0
		}
	}
	if rng.IntN(6) == 0 {
		w.MaxBytes = 6_000 + rng.IntN(60_000)
	}
	if rng.IntN(6) == 0 {
		w.MaxImages = 1 + rng.IntN(4)
	}
	p.window = w.Capacity
	if p.window == 0 {
		p.window = max(m.window, 8_000)
	}
	switch rng.IntN(8) {
	case 0:
		p.window = p.window * (400 + rng.IntN(550)) / 1000
	case 1:
		p.window *= 2
	}
	p.bytes = 1 << 40
	if w.MaxBytes > 0 && rng.IntN(3) == 0 {
		p.bytes = w.MaxBytes * (600 + rng.IntN(600)) / 1000
	} else if rng.IntN(12) == 0 {
		p.bytes = 8_000 + rng.IntN(60_000)
	}
	if !m.exact {
		p.ratio = 850 + rng.IntN(500)
	}
	return p
}

// newPolicy draws a preset, or a policy derived from one.
func newPolicy(rng *rand.Rand) (policy.Policy, error) {
	names := []string{"balanced", "balanced", "balanced", "guard", "cache-compact", "layered", "turn-budget", "lean", "quality", "off"}
	p, err := policy.Preset(names[rng.IntN(len(names))])
	if err != nil || rng.IntN(3) > 0 {
		return p, err
	}
	q := p
	q.Name = fmt.Sprintf("own-%s", p.Name)
	q.Rules, q.Templates = slices.Clone(p.Rules), map[string]string{}
	maps.Copy(q.Templates, p.Templates)
	for range 1 + rng.IntN(4) {
		vary(rng, &q)
	}
	if policy.Validate(q) == nil {
		return q, nil
	}
	return p, nil // what was drawn makes no sense
}

// vary changes one thing of a policy.
func vary(rng *rand.Rand, p *policy.Policy) {
	switch rng.IntN(17) {
	case 0:
		p.LowWater = 200 + rng.IntN(600)
	case 1:
		p.Tail = policy.Tail{Unit: []string{policy.TailTurns, policy.TailRounds, policy.TailMessages}[rng.IntN(3)], N: 1 + rng.IntN(5)}
	case 2:
		p.SummarySlot = []string{policy.SlotSection, policy.SlotUserMessages, policy.SlotNote}[rng.IntN(3)]
	case 3:
		p.OnSummaryError = []string{policy.SummaryKeep, policy.SummaryNext, policy.SummaryFallback}[rng.IntN(3)]
	case 4:
		p.OnFloor = []string{policy.FloorError, policy.FloorSend}[rng.IntN(2)]
	case 5:
		p.Estimator = []string{"count", "chars/4", "bytes/4", "max(model,chars/4)", "runes*2/5"}[rng.IntN(5)]
	case 6:
		p.MinimumGain = policy.Gain{Tokens: 1 + rng.IntN(200), Permille: rng.IntN(300)}
	case 7:
		p.Pins = [][]string{nil, {policy.PinFirstHuman}, {policy.PinFirstHuman, policy.PinLastHuman, policy.PinRules}}[rng.IntN(3)]
	case 8, 9:
		if len(p.Rules) > 0 {
			r := &p.Rules[rng.IntN(len(p.Rules))]
			if r.When.Permille > 0 {
				r.When.Permille = 400 + rng.IntN(600)
			}
		}
	case 10:
		if len(p.Rules) > 1 {
			i := rng.IntN(len(p.Rules))
			p.Rules = append(p.Rules[:i:i], p.Rules[i+1:]...)
		}
	case 11:
		if len(p.Rules) > 0 {
			p.Rules[rng.IntN(len(p.Rules))].Forced = rng.IntN(2) == 0
		}
	case 12:
		byReference(rng, p)
	case 13, 14:
		p.Economy = policy.Economy{Horizon: []int{1, 3, 30, 1000}[rng.IntN(4)], Write: []int{0, 1000, 1250}[rng.IntN(3)], Read: []int{100, 250, 1000}[rng.IntN(3)]}
		if rng.IntN(3) > 0 {
			early(rng, p)
		}
	case 15:
		p.PinPermille = []int{0, 20, 100, 300}[rng.IntN(4)]
	case 16:
		p.References = policy.References{Permille: []int{0, 50, 200}[rng.IntN(3)], Most: []int{50, 400, 6000}[rng.IntN(3)]}
	}
}

// byReference lets batches take out what calls refer to least, or no longer do so.
func byReference(rng *rand.Rand, p *policy.Policy) {
	if p.Order == policy.OrderReference {
		p.Order, p.References = policy.OrderArrival, policy.References{}
		return
	}
	p.Order = policy.OrderReference
	p.Templates[policy.TemplateReferences] = "[Names that left:]"
	p.References = policy.References{Permille: rng.IntN(300), Most: 100 + rng.IntN(2_000)}
}

// early adds a rule that shortens old outputs where that pays.
func early(rng *rand.Rand, p *policy.Policy) {
	p.Templates[policy.TemplateCap] = "\n[in part: {bytes} bytes, ref={ref}]"
	r := policy.Rule{Name: "early", At: policy.AtPrepare, Do: policy.DoPreview, Args: policy.Args{
		Template: policy.TemplateCap, Permille: 50 + rng.IntN(500), Bytes: 100 + rng.IntN(900), Min: 1 + rng.IntN(8),
	}}
	p.Rules = slices.Insert(p.Rules, rng.IntN(len(p.Rules)+1), r)
}

// A world is what all seeds share.
type world struct {
	texts   *library
	count   *counter
	known   catalog.Catalog
	presets map[string]bool
}

func newWorld() (*world, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	w := &world{texts: newLibrary(), count: newCounter(), known: known, presets: map[string]bool{}}
	for _, n := range []string{"balanced", "guard", "cache-compact", "layered", "turn-budget", "off"} {
		w.presets[n] = true
	}
	return w, nil
}
