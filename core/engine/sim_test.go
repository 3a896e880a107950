package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A sim is a random session: people, a model, its tools and a provider that do
// all that they do in life, in an order that makes sense to a host.
type sim struct {
	t     *rapid.T
	open  []string // calls without a result
	calls int
	texts []string // said before, to be repeated
	sent  int      // tokens of the request sent last, by the count
}

func (s *sim) draw(n int, what string) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

func (s *sim) maybe(percent int, what string) bool { return s.draw(100, what) < percent }

// text draws a text: short, long, empty, seen before, not ASCII.
func (s *sim) text(what string) string {
	if len(s.texts) > 0 && s.maybe(25, what+" again") {
		return s.texts[s.draw(len(s.texts), what+" which")]
	}
	size := []int{0, 20, 80, 80, 300, 300, 1500, 1500, 6000, 30000}[s.draw(10, what+" size")]
	text := filler(size, fmt.Sprintf("%s%d", what, s.draw(8, what+" word")))
	if s.maybe(10, what+" exotic") {
		text = strings.ReplaceAll(text, "and", "\u00e9\u4e2d\U0001f600")
	}
	s.texts = append(s.texts, text)
	return text
}

func (s *sim) human() llm.Message {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "please " + s.text("ask")}}}
	if s.maybe(10, "screenshot") {
		m.Parts = append(m.Parts, s.image())
	}
	return m
}

func (s *sim) image() llm.Media {
	size := []int{0, 800}[s.draw(2, "known size")]
	data := []byte(fmt.Sprintf("image %d", s.draw(1000, "image")))
	return llm.Media{Type: "image/png", Width: size, Height: size, Size: 60000, Raw: llm.Raw{Data: data}}
}

func (s *sim) note() llm.Message {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "note " + s.text("note")}}}
	if s.maybe(25, "rules") {
		m.Flags = llm.FlagRules
	}
	if s.maybe(25, "system") {
		m.Role = llm.RoleSystem
	}
	return m
}

// reply draws what a model says, with calls if it may make some.
func (s *sim) reply(calls bool) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	if s.maybe(40, "thinks") {
		m.Parts = append(m.Parts, llm.Thinking{Text: s.text("thought"), Signature: "signed"})
	}
	if !calls || s.maybe(50, "says") {
		m.Parts = append(m.Parts, llm.Text{Text: "so " + s.text("say")})
	}
	if !calls {
		return m
	}
	tools := []string{"read", "bash", "edit", "grep", "tool_output", "other"}
	for range 1 + s.draw(3, "parallel calls") {
		s.calls++
		id := fmt.Sprintf("c%d", s.calls)
		if s.maybe(30, "old id") {
			id = fmt.Sprintf("c%d", s.draw(3, "which id"))
		}
		m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: tools[s.draw(len(tools), "tool")], Args: s.text("args")})
		s.open = append(s.open, id)
	}
	if s.maybe(5, "hosted") {
		m.Parts = append(m.Parts, llm.ToolCall{CallID: "h", Name: "web", Hosted: true})
	}
	return m
}

func (s *sim) result(id string) llm.ToolResult {
	r := llm.ToolResult{CallID: id, IsError: s.maybe(10, "fails")}
	switch s.draw(12, "output") {
	case 0:
		r.Content = []llm.Part{s.image()}
	case 1:
		r.Content = []llm.Part{llm.Text{Text: s.text("out")}, s.image(), llm.Text{Text: s.text("out")}}
	case 2:
		r.Content = []llm.Part{llm.Text{Text: s.text("raw")}}
		r.Raw = llm.Raw{Data: []byte(fmt.Sprintf("{%q}", r.Text()))}
	default:
		r.Content = []llm.Part{llm.Text{Text: s.text("out")}}
	}
	return r
}

// results draws the messages that answer the open calls, together or one by one,
// the newest or the oldest first. Sometimes one is missing for ever.
func (s *sim) results() []engine.Input {
	var ins []engine.Input
	together := s.maybe(40, "together")
	var all llm.Message
	for len(s.open) > 0 {
		i := s.draw(len(s.open), "answers which")
		id := s.open[i]
		s.open = append(s.open[:i:i], s.open[i+1:]...)
		if s.maybe(4, "never") {
			continue
		}
		if s.maybe(6, "stored") {
			body := filler(20000, id)
			in := engine.Stored{CallID: id, Ref: llm.RefOf([]byte(body)), Bytes: len(body), Lines: 500, Head: body[:100]}
			if s.maybe(50, "read further") {
				in.Head, in.Tail, in.Tokens = body[:8000], body[15000:], 5000
			}
			ins = append(ins, in)
			continue
		}
		m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{s.result(id)}}
		if all.Parts = append(all.Parts, m.Parts...); !together {
			ins = append(ins, engine.Append{Message: m})
		}
	}
	if together && len(all.Parts) > 0 {
		all.Role, all.Origin = llm.RoleTool, llm.ToolRun
		ins = append(ins, engine.Append{Message: all})
	}
	return ins
}

// usage draws what is reported about the request sent last: the truth, nothing,
// half of it, or nonsense.
func (s *sim) usage() engine.Usage {
	u := engine.Usage{Reported: s.maybe(70, "reported"), OutputUnknown: s.maybe(30, "output unknown")}
	prompt := s.sent * (90 + s.draw(20, "percent")) / 100
	switch s.draw(12, "usage") {
	case 0:
		return engine.Usage{}
	case 1:
		prompt /= 4
	case 2:
		prompt *= 3
	case 3:
		prompt = 0
	}
	u.Usage = llm.Usage{Input: prompt / 3, CacheRead: prompt - prompt/3, Output: []int{0, 5, 200, 3000}[s.draw(4, "output tokens")]}
	return u
}

// named returns a preset or a policy of examples/policies.
func named(name string) (policy.Policy, error) {
	if slices.Contains(policy.Presets(), name) {
		return policy.Preset(name)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "policies", name+".json"))
	if err != nil {
		return policy.Policy{}, err
	}
	return policy.Parse(data)
}

// drawPolicy draws a preset or a policy of random rules.
func drawPolicy(t *rapid.T) policy.Policy {
	names := append(policy.Presets(), "summary-ahead")
	if i := rapid.IntRange(0, len(names)+2).Draw(t, "policy"); i < len(names) {
		p, err := named(names[i])
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := policy.Default()
	p.Name = "mine"
	p.Estimator = rapid.SampledFrom([]string{"count", "bytes/4", "runes*2/5", "bytes/4+10", "model"}).Draw(t, "estimator")
	p.LowWater = rapid.IntRange(100, 500).Draw(t, "low water")
	p.MinimumGain = policy.Gain{Tokens: rapid.IntRange(1, 100).Draw(t, "gain"), Permille: rapid.IntRange(0, 200).Draw(t, "gain permille")}
	p.OnFloor = rapid.SampledFrom([]string{policy.FloorError, policy.FloorSend}).Draw(t, "floor")
	p.SummarySlot = rapid.SampledFrom([]string{policy.SlotNote, policy.SlotSection, policy.SlotUserMessages}).Draw(t, "slot")
	p.OnSummaryError = rapid.SampledFrom([]string{policy.SummaryKeep, policy.SummaryNext, policy.SummaryFallback}).Draw(t, "error")
	if rapid.Bool().Draw(t, "reckons") {
		p.Economy = policy.Economy{Horizon: rapid.IntRange(1, 40).Draw(t, "horizon"), Write: rapid.SampledFrom([]int{0, 1000, 1250}).Draw(t, "write"), Read: 100}
	}
	p.Tools = []string{policy.ToolSearch}
	if rapid.Bool().Draw(t, "defers") {
		p.Deferral = policy.Deferral{Permille: rapid.SampledFrom([]int{1, 10, 100}).Draw(t, "tools"), Until: rapid.SampledFrom([]string{policy.UntilTurn, policy.UntilEnd}).Draw(t, "until")}
	}
	p.Tail = drawTail(t)
	p.Pins = []string{policy.PinFirstHuman, policy.PinLastHuman, policy.PinRules}[:rapid.IntRange(0, 3).Draw(t, "pins")]
	p.Templates = map[string]string{
		"cap": "\n[{bytes} bytes, {lines} lines: {ref}]", "offload": "{preview}\n[{tool}, {bytes} bytes: {ref}]", "trim": "[{tool}: {ref}]",
		"clear": "[was {bytes} bytes: {ref}]", "drop": "[{n} messages: {ref}]", "summary": "[{n} messages, {ref}]",
		"status": "[{used}% used]", "final": "[last step, {used}%]", "dedup": "[{lines} lines of {source}, here {ref}]", "retain": "[kept]",
		"deferred": "[{n} tools left out, see {tool_search}]",
	}
	for i := range rapid.IntRange(1, 7).Draw(t, "rules") {
		r := drawRule(t)
		r.Name = fmt.Sprintf("r%d", i)
		p.Rules = append(p.Rules, r)
		if policy.Validate(p) != nil {
			p.Rules = p.Rules[:len(p.Rules)-1]
		}
	}
	return p
}

func drawTail(t *rapid.T) policy.Tail {
	unit := rapid.SampledFrom([]string{"", policy.TailTurns, policy.TailRounds, policy.TailMessages}).Draw(t, "tail")
	if unit == "" {
		return policy.Tail{}
	}
	return policy.Tail{Unit: unit, N: rapid.IntRange(1, 4).Draw(t, "tail n")}
}

func drawRule(t *rapid.T) policy.Rule {
	share := func(measure policy.Measure) policy.Condition {
		return policy.Condition{
			Measure: measure, Op: rapid.SampledFrom([]string{">", ">="}).Draw(t, "op"),
			Permille: rapid.IntRange(300, 1000).Draw(t, "permille"), Of: rapid.SampledFrom([]policy.Base{policy.OfLimit, policy.OfCapacity}).Draw(t, "of"),
		}
	}
	moment := rapid.SampledFrom([]policy.Moment{policy.AtPrepare, policy.AtPrepare, policy.AtUsage, policy.AtRejected, policy.AtTurnEnd}).Draw(t, "at")
	when := share(rapid.SampledFrom([]policy.Measure{policy.MeasureView, policy.MeasureHistory, policy.MeasureOutputs}).Draw(t, "measure"))
	some := func(name string, values ...int) int { return rapid.SampledFrom(values).Draw(t, name) }
	r := policy.Rule{At: moment, When: when}
	switch rapid.IntRange(0, 12).Draw(t, "do") {
	case 0:
		r.Do, r.Args = policy.DoTrim, policy.Args{Template: "trim", To: some("to", 0, 500)}
	case 1:
		r.Do, r.Args = policy.DoClear, policy.Args{Template: "clear", Permille: 500, Bytes: some("least", 0, 1000), Errors: true}
	case 2:
		r.Do, r.Args = policy.DoDemote, policy.Args{Permille: some("preview", 0, 150)}
	case 3, 4:
		r.Do, r.Args = policy.DoSummarise, policy.Args{
			Template: "summary", Permille: some("share", 0, 600), Min: some("least", 0, 5), Background: rapid.Bool().Draw(t, "background"),
			Retain: rapid.Bool().Draw(t, "retain"), Keep: drawTail(t),
		}
	case 5:
		r.Do, r.Args = policy.DoTruncate, policy.Args{Template: "drop", Min: some("fewest", 0, 2), To: some("to", 0, 700)}
		if rapid.Bool().Draw(t, "messages") {
			r.When = policy.Condition{Measure: policy.MeasureMessages, Op: ">", Value: 12}
		}
	case 6:
		r.Do, r.Args = policy.DoDropTurns, policy.Args{Template: "drop", Permille: 500}
	case 7:
		r.Do, r.Args = policy.DoNote, policy.Args{Template: "status"}
		r.At = rapid.SampledFrom([]policy.Moment{policy.AtAppend, policy.AtPrepare, policy.AtUsage, policy.AtTurnEnd}).Draw(t, "note at")
	case 8:
		r.Do, r.Args = policy.DoFinal, policy.Args{Template: "final"}
		r.At = rapid.SampledFrom([]policy.Moment{policy.AtTool, policy.AtPrepare, policy.AtRejected}).Draw(t, "final at")
	case 9:
		r.At, r.Do, r.When, r.Args = policy.AtAppend, policy.DoDedup, policy.Condition{}, policy.Args{Template: "dedup", Lines: some("run", 1, 4), Chars: 60}
	case 10:
		r.At, r.Do, r.When, r.Args = policy.AtTool, policy.DoCap, policy.Condition{}, policy.Args{Template: "cap", LineLength: some("line", 0, 30), Bytes: some("bytes", 0, 4000), Permille: some("cap", 0, 100)}
		if rapid.Bool().Draw(t, "ends") {
			r.Args.Show = policy.ShowEnds
		}
	case 11:
		r.At, r.Do, r.Args = policy.AtTool, policy.DoOffload, policy.Args{Template: "offload", Bytes: 50}
		r.When = policy.Condition{Measure: policy.MeasureBytes, Op: ">", Value: some("big", 200, 4000)}
	case 12:
		r.At, r.Do, r.When, r.Args = policy.AtPrepare, policy.DoPreview, policy.Condition{}, policy.Args{Template: "cap", Permille: 150, Bytes: some("least", 0, 400), Min: some("old", 1, 4)}
	}
	if rapid.IntRange(0, 3).Draw(t, "forced") == 0 {
		r.Forced = true
	}
	return r
}

// drawTargets draws one or two targets that a policy can work with.
func drawTargets(t *rapid.T, p policy.Policy) []budget.Target {
	model := rapid.SampledFrom([]string{"mystery", "claude-opus-4-5"}).Draw(t, "model")
	var out []budget.Target
	for i := range rapid.IntRange(1, 2).Draw(t, "targets") {
		limit := rapid.SampledFrom([]int{1500, 3000, 6000, 15000, 50000}).Draw(t, "limit")
		w := budget.Window{Capacity: limit + p.Window.Buffer}
		if p.Window.ReserveOutput {
			w.OutputReserve = 1000
			w.Capacity += 1000
		}
		if rapid.IntRange(0, 4).Draw(t, "bytes limited") == 0 {
			w.MaxBytes = rapid.SampledFrom([]int{8000, 40000, 150000}).Draw(t, "bytes")
		}
		if rapid.IntRange(0, 4).Draw(t, "images limited") == 0 {
			w.MaxImages = rapid.IntRange(1, 3).Draw(t, "images")
		}
		out = append(out, budget.Target{Provider: fmt.Sprintf("p%d", i), Model: model, Window: w})
	}
	return out
}
