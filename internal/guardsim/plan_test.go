package guardsim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// A model is one that a session may talk to.
type model struct {
	provider string // of package client
	name     string
	kind     kind
	weight   weight
}

// A kind of model is what the engine knows of how it counts.
type kind int

const (
	exact kind = iota // its tokenizer
	bound             // no tokenizer
	lied              // any model whose window was stated too large, until a refusal says so
	numKinds
)

// models are those that sessions choose from. The weights of the models whose tokenizer
// nobody knows are drawn by each session.
func models() []model {
	return []model{
		{"openai", "gpt-5", exact, published("o200k")},
		{"openai-chat", "gpt-4o", exact, published("o200k")},
		{"openai-chat", "gpt-4-turbo", exact, published("cl100k")},
		{"openai-chat", "gpt-4", exact, published("cl100k")},
		{"ollama", "gpt-oss:20b", exact, published("o200k")},
		{"anthropic", "claude-sonnet-4-5", bound, weight{}},
		{"anthropic", "claude-opus-5", bound, weight{}},
		{"gemini", "gemini-2.5-flash", bound, weight{}},
		{"openai-compatible", "some-model-7b", bound, weight{}},
		{"ollama", "other-model:8b", bound, weight{}},
	}
}

// policies rotate by seed.
var policies = [...]string{"guard", "balanced", "layered", "turn-budget", "cache-compact"}

// A plan is a session before it begins: everything that the seed decides at once. The rest
// of the seed's randomness goes on in rng, which follows the calls in their order.
type plan struct {
	seed     uint64
	rng      *rand.Rand
	policy   string
	models   []model
	targets  []budget.Target
	lies     []bool // whether a target's window is smaller than it is stated
	script   *scriptmodel.Script
	steps    int // calls of the model that the session may make
	unit     int // size class that most outputs have
	stream   bool
	filling  bool // people type as much as there is room for
	racing   bool // results arrive from goroutines
	pictured bool // tools return pictures, and the server takes few bytes, which nobody is told
	joined   bool // results of one Round come as one message
}

func newPlan(seed uint64, policy string) *plan {
	p := &plan{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), policy: policy}
	if policy == "" {
		p.policy = policies[seed%uint64(len(policies))]
	}
	p.steps = 8 + p.rng.IntN(20)
	p.stream, p.joined = p.maybe(50), p.maybe(40)
	p.pictured = seed%6 == 4
	p.racing = seed%8 == 7 && !p.joined && !p.pictured
	p.filling = p.policy == "guard" && p.maybe(60)
	p.drawTargets()
	p.writeScript()
	return p
}

func (p *plan) maybe(percent int) bool { return p.rng.IntN(100) < percent }

// text draws a text whose size is about that class.
func (p *plan) text(size int) string {
	size = min(max(size-1+p.rng.IntN(3), 0), len(sizes)-1)
	return pooledText(textKey{p.rng.IntN(numTexts), size, p.rng.IntN(variants)})
}

// drawTargets draws one to three models and their windows. Buffers are small, so that what
// keeps the requests in is the count and not the buffer.
func (p *plan) drawTargets() {
	all := models()
	if p.filling {
		all = slices.DeleteFunc(all, func(m model) bool { return m.kind != exact })
	}
	p.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	capacity := pick(p.rng, []int{8192, 8192, 12_000, 12_000, 16_384, 16_384, 24_000, 32_768, 65_536})
	if p.filling {
		capacity = pick(p.rng, []int{16_384, 65_536, 131_072, 131_072}) // of which 600 tokens are less than 1 %
	}
	p.unit = map[bool]int{true: 3, false: 4}[capacity <= 16_384]
	for _, m := range all[:1+p.rng.IntN(3)] {
		if m.kind == bound {
			m.weight = p.unknown()
		}
		w := budget.Window{Capacity: capacity, OutputReserve: capacity / pick(p.rng, []int{4, 8, 16})}
		w.Buffer = pick(p.rng, []int{1, 1, 256, capacity / 16})
		p.models = append(p.models, m)
		p.targets = append(p.targets, budget.Target{Provider: m.provider, Model: m.name, Window: w})
		p.lies = append(p.lies, p.maybe(8) && !p.filling)
		capacity = pick(p.rng, []int{capacity, capacity * 3 / 2, capacity * 2, capacity / 2, 8192})
		capacity = min(max(capacity, 8192), 65_536)
	}
}

// unknown draws how a server counts whose tokenizer nobody knows: 0.9 to 1.6 times the
// tokens of a vocabulary that everybody knows, and what no request shows.
func (p *plan) unknown() weight {
	return weight{
		encoding: pick(p.rng, []string{"o200k", "o200k", "cl100k"}), permille: 900 + p.rng.IntN(701), hidden: pick(p.rng, []int{0, 20, 350}),
		message: 2 + p.rng.IntN(8), call: 4 + p.rng.IntN(20), result: 4 + p.rng.IntN(30),
	}
}

// writeScript writes what the model says: Rounds of calls, now and then an answer, and
// failures of all kinds in between. A forced final Step gets its report.
func (p *plan) writeScript() {
	s := &scriptmodel.Script{Count: "approximate", Cache: p.maybe(50), CacheMin: 1024, Strict: p.policy != "cache-compact" && p.maybe(50), Bytes: 32 << 20}
	if p.pictured {
		s.Bytes = 40_000 + p.rng.IntN(80_000)
	}
	for i, m := range p.models {
		window := p.serverWindow(s.Strict, i)
		if p.lies[i] {
			window = window * (600 + p.rng.IntN(350)) / 1000
		}
		s.Models = append(s.Models, scriptmodel.Rule{Model: m.name, Window: window})
	}
	s.Replies = append(s.Replies, scriptmodel.Block{
		When:  []scriptmodel.Condition{{Kind: scriptmodel.WhenTool, Text: "agent__final_report"}, {Kind: scriptmodel.WhenTool, Text: "read_file", Not: true}},
		Reply: scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: "Report: " + p.text(1)}}},
	})
	for range p.steps {
		s.Replies = append(s.Replies, p.failures()...)
		s.Replies = append(s.Replies, scriptmodel.Block{Times: 1, Reply: p.reply()})
	}
	s.Replies = append(s.Replies, scriptmodel.Block{Reply: scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: "Done."}}}})
	p.script = s
}

// serverWindow is the window of a target on the server. Where its dialect looks at the prompt
// alone, half of the sessions take the reserve off, so that the limit is as tight as where
// prompt and output have to fit together.
func (p *plan) serverWindow(strict bool, i int) int {
	w, provider := p.targets[i].Window, p.models[i].provider
	sums := provider == "openai-chat" || provider == "openai-compatible" || strict && provider == "anthropic"
	if sums || p.policy == "cache-compact" || !p.filling && p.maybe(50) {
		return w.Capacity
	}
	return w.Capacity - w.OutputReserve
}

// failures draws what goes wrong before a reply: mostly nothing.
func (p *plan) failures() []scriptmodel.Block {
	var out []scriptmodel.Block
	for p.maybe(9) && len(out) < 3 {
		r := scriptmodel.Reply{Status: pick(p.rng, []int{500, 429, 529})}
		if p.maybe(30) {
			r = scriptmodel.Reply{
				Parts:  []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: p.text(1)}},
				Faults: []scriptmodel.Fault{{Kind: scriptmodel.FaultCut, After: 3, Events: p.stream}},
			}
		}
		out = append(out, scriptmodel.Block{Times: 1, Reply: r})
	}
	return out
}

// reply draws what the model says: a Round of up to four calls, or an answer.
func (p *plan) reply() scriptmodel.Reply {
	var r scriptmodel.Reply
	say := func(size int) {
		r.Parts = append(r.Parts, scriptmodel.Saying{Kind: scriptmodel.SayText, Text: p.text(size)})
	}
	if p.maybe(1) {
		r.Usage = &llm.Usage{} // a provider that reports nothing
	}
	if p.maybe(18) || p.filling && p.maybe(60) {
		say(2)
		return r
	}
	if p.maybe(35) {
		say(1)
	}
	for range pick(p.rng, []int{1, 1, 1, 2, 3, 4}) {
		name := pick(p.rng, toolNames[:4])
		r.Parts = append(r.Parts, scriptmodel.Saying{Kind: scriptmodel.SayCall, Name: name, Text: p.args(name)})
	}
	return r
}

// args draws the arguments of a call; some write a whole file.
func (p *plan) args(name string) string {
	args := map[string]string{"path": fmt.Sprintf("%s/%s_%d.go", pick(p.rng, names), pick(p.rng, names), p.rng.IntN(100))}
	if name == "write_file" {
		args["content"] = p.text(2)
	}
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // a map of strings
	}
	return string(text)
}

// An output is what a tool returns.
type output struct {
	call, tool string
	text       string
	failed     bool
	pictures   []llm.Part
	reserves   bool // the tool asks for room first
	most       int  // that many tokens
}

// output draws one. A few are larger than any window.
func (p *plan) output(c llm.ToolCall) output {
	o := output{call: c.CallID, tool: c.Name, failed: p.maybe(10), reserves: p.maybe(30)}
	size := p.unit - 2 + p.rng.IntN(3)
	switch n := p.rng.IntN(100); {
	case n < 3:
		size = len(sizes) - 1
	case n < 15:
		size = p.unit + 2
	case n < 19:
		return o // nothing
	}
	for p.pictured && p.maybe(60) {
		o.pictures = append(o.pictures, p.picture())
	}
	o.text = p.text(size)
	o.most = len(o.text) / 3
	return o
}

// picture draws a screenshot as a client of the Messages API has it.
func (p *plan) picture() llm.Media {
	data := make([]byte, 1500+p.rng.IntN(12_000))
	for i := range data {
		data[i] = byte(p.rng.IntN(256))
	}
	text := base64.StdEncoding.EncodeToString(data)
	block := fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}`, text)
	return llm.Media{Type: "image/png", Width: 640, Height: 480, Size: len(text), Raw: llm.Raw{Data: []byte(block)}}
}

// toolNames are the tools of an agent; the model calls the first four.
var toolNames = [...]string{"read_file", "write_file", "run", "search", "fetch", "todo", "ask", "plan", "diff", "notes"}

// tools draws a tool list.
func (p *plan) tools() []llm.Tool {
	var out []llm.Tool
	for _, name := range toolNames[:4+p.rng.IntN(len(toolNames)-3)] {
		out = append(out, llm.Tool{
			Name: name, Description: join(p.rng, 8+p.rng.IntN(60), " ", common),
			Schema: fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string","description":%q},"content":{"type":"string"},`+
				`"mode":{"type":"string","enum":["fast","slow",%q]}},"required":["path"]}`, join(p.rng, 6, " ", common), pick(p.rng, names)),
		})
	}
	return append(out, llm.Tool{
		Name: "agent__final_report", Description: "Ends the work with a report.",
		Schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
	})
}

// sections draws a system prompt.
func (p *plan) sections() []llm.Section {
	out := []llm.Section{{Name: "base", Text: "You are a careful agent. " + p.text(p.rng.IntN(3))}}
	if p.maybe(40) {
		out = append(out, llm.Section{Name: "skills", Kind: llm.SectionSkills, Text: p.text(2)})
	}
	return out
}

// human draws what a person types. A few paste more than there may be room for.
func (p *plan) human() llm.Message {
	size := pick(p.rng, []int{0, 0, 1, 2})
	if p.maybe(2) {
		size = p.unit + 2
	}
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: p.text(size)}}}
}
