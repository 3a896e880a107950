package inspect

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A key names a part of a message in all segments that carry it.
type key struct {
	conversation, line, part int
	digest                   llm.Digest
}

func (g *segment) keyOf(at place) key {
	return key{g.conversation, g.Entries[at.entry].Line, at.part, g.digests[at.entry]}
}

// A carriage says how long a place of a segment was sent, from the Step that was
// sent it first. Copied Steps are another session's.
type carriage struct {
	first int // index of that Step; len(steps) if there is none
	steps int
	rate  int64 // picodollars a token, of all those Steps together
	known bool  // every one of them has a price
}

// carriages returns the carriage of every entry of a segment.
func (r *reading) carriages(g *segment) []carriage {
	out := make([]carriage, len(g.Entries))
	next := len(g.steps)
	c := carriage{first: next, known: true}
	for i := len(g.Entries); i >= 0; i-- {
		if i < len(g.Entries) {
			out[i] = c // what stands at i is sent by the Steps behind it
		}
		if next > 0 && g.steps[next-1].entry == i {
			next--
			if g.steps[next].copied() {
				c.first = next
				continue
			}
			rate, ok := r.rateOf(g, g.steps[next])
			c = carriage{next, c.steps + 1, c.rate + rate, c.known && ok}
		}
	}
	return out
}

// rateOf returns what a token of a Step's prompt cost on average, in picodollars.
func (r *reading) rateOf(g *segment, s step) (int64, bool) {
	if s.tokens == 0 || s.info.Unpriced != "" {
		return 0, false
	}
	u := s.charge.Usage
	u.Output, u.Reasoning = 0, 0
	cost := g.price(r.o, r.o.modelOf(s.info.Model, g.model), u)
	return cost.Pico / int64(s.tokens), cost.Known
}

// cost returns what so many tokens cost over all Steps of c.
func (c carriage) cost(tokens int) catalog.Money {
	if !c.known || c.steps == 0 || tokens > 0 && c.rate > math.MaxInt64/int64(tokens) {
		return catalog.Money{}
	}
	return catalog.Dollars(c.rate * int64(tokens))
}

// add books the carriage of tokens with an output.
func (o *Output) add(c carriage, tokens int) {
	cost := c.cost(tokens)
	if o.Steps == 0 {
		o.CostUSD = cost
	} else if c.steps > 0 {
		o.CostUSD = o.CostUSD.Add(cost)
	}
	o.Steps += c.steps
	o.Carried += c.steps * tokens
}

// outputs lists the largest outputs.
func (r *reading) outputs() {
	found := map[key]*Output{}
	var order []*Output
	for _, g := range r.segments {
		carried := r.carriages(g)
		g.eachResult(func(at place, res llm.ToolResult) {
			k := g.keyOf(at)
			o, ok := found[k]
			if !ok {
				o = g.output(at, res, carried[at.entry])
				found[k] = o
				order = append(order, o)
			}
			if !ok {
				o.Tokens = g.sizes[at.entry][at.part].Total()
			}
			o.add(carried[at.entry], o.Tokens)
		})
	}
	r.report.Totals.Outputs = len(order)
	slices.SortStableFunc(order, func(a, b *Output) int {
		return cmp.Or(cmp.Compare(known(b.CostUSD), known(a.CostUSD)), cmp.Compare(b.Carried, a.Carried), cmp.Compare(b.Tokens, a.Tokens))
	})
	for _, o := range order[:min(len(order), r.o.top())] {
		r.report.Largest = append(r.report.Largest, *o)
	}
	r.report.Tools = byTool(order)
}

// byTool sums up outputs by their tool.
func byTool(outputs []*Output) []ToolSum {
	at, out := map[string]int{}, []ToolSum{}
	for _, o := range outputs {
		i, ok := at[o.Tool]
		if !ok {
			i, at[o.Tool] = len(out), len(out)
			out = append(out, ToolSum{Tool: o.Tool, CostUSD: catalog.Dollars(0)})
		}
		out[i].Outputs, out[i].Tokens, out[i].Carried = out[i].Outputs+1, out[i].Tokens+o.Tokens, out[i].Carried+o.Carried
		if o.Steps > 0 {
			out[i].CostUSD = out[i].CostUSD.Add(o.CostUSD)
		}
	}
	slices.SortStableFunc(out, func(a, b ToolSum) int { return cmp.Compare(b.Carried, a.Carried) })
	return out
}

// known is a cost in picodollars, 0 if nobody knows it.
func known(m catalog.Money) int64 {
	if !m.Known {
		return 0
	}
	return m.Pico
}

// output describes a result.
func (g *segment) output(at place, res llm.ToolResult, c carriage) *Output {
	call := g.callOf(at)
	return &Output{
		StepRef: StepRef{g.number, min(c.first+1, len(g.steps))}, Tool: call.Name, CallID: res.CallID,
		Arguments: firstLine(call.Args), Line: g.Entries[at.entry].Line,
	}
}

// callOf returns the call that a result answers: the newest one with its id, which a
// client may use again.
func (g *segment) callOf(at place) llm.ToolCall {
	if g.calls != nil {
		return g.calls[at]
	}
	g.calls = map[place]llm.ToolCall{}
	newest := map[string]llm.ToolCall{}
	for i, e := range g.Entries {
		for k, p := range e.Message.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				newest[p.CallID] = p
			case llm.ToolResult:
				g.calls[place{i, k}] = newest[p.CallID]
			}
		}
	}
	return g.calls[at]
}

// An open is a call that may wait for its result.
type open struct {
	Call
	key
	answered bool
}

// unanswered lists the calls that never got a result.
func (r *reading) unanswered() {
	type id struct {
		conversation int
		call         string
	}
	var order []*open
	newest, seen := map[id]*open{}, map[key]*open{}
	for _, g := range r.segments {
		for i, e := range g.Entries {
			for k, p := range e.Message.Parts {
				c, ok := p.(llm.ToolCall)
				if !ok || c.Hosted {
					continue
				}
				o, carried := seen[g.keyOf(place{i, k})]
				if !carried {
					o = g.open(place{i, k}, c)
					order = append(order, o)
					seen[o.key] = o
				}
				newest[id{g.conversation, c.CallID}] = o
			}
			for _, res := range e.Message.Results() {
				if o, ok := newest[id{g.conversation, res.CallID}]; ok {
					o.answer(e.Message)
				}
			}
		}
	}
	for _, o := range order {
		if !o.answered {
			r.report.Unanswered = append(r.report.Unanswered, o.Call)
		}
	}
}

func (g *segment) open(at place, c llm.ToolCall) *open {
	return &open{
		Call: Call{
			StepRef: StepRef{g.number, g.stepOf(at.entry)}, Tool: c.Name, CallID: c.CallID,
			Arguments: firstLine(c.Args), Line: g.Entries[at.entry].Line, Why: "open",
		},
		key: g.keyOf(at),
	}
}

// answer books the message with a call's result, which may be a stated one.
func (o *open) answer(m llm.Message) {
	if m.Flags.Has(llm.FlagInterrupted) {
		o.Why = "interrupted"
		return
	}
	o.answered = true
}

// stepOf returns the number of the Step whose reply an entry is, else of the one
// that was sent it first.
func (g *segment) stepOf(entry int) int {
	i, _ := slices.BinarySearchFunc(g.steps, entry, func(s step, n int) int { return cmp.Compare(s.entry, n) })
	return min(i+1, len(g.steps))
}

// thinking says what became of the thinking of each segment.
func (r *reading) thinking() {
	for _, g := range r.segments {
		out := Thinking{Segment: g.number, Turns: g.thought.turns, Dropped: g.thought.gone, Carried: "unknown"}
		for i, e := range g.Entries {
			for _, p := range e.Message.Parts {
				t, ok := p.(llm.Thinking)
				if !ok {
					continue
				}
				out.Blocks++
				if t.Signature != "" {
					out.Signed++
				}
				if t.Redacted || t.Text == "" {
					out.Hidden++
				}
			}
			out.Tokens += totalOf(g.sizes[i])[token.ContentThinking]
		}
		switch {
		case out.Blocks == 0:
			continue
		case g.thought.gone > 0:
			out.Carried = "dropped"
		case g.thought.turns > 0:
			out.Carried = "kept"
		}
		r.report.Thinking = append(r.report.Thinking, out)
	}
}
