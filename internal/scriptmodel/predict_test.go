package scriptmodel

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
)

// TestReadsAndWritesAsPredicted holds the model of a cache in core/cache, with the marks that the engine puts, against the server's own cache:
// sessions by seed, whose sections, tools and outputs change and whose provider forgets in between. 25 for each rule, 1,000 with PLIMSOLL_SIM=1000.
func TestReadsAndWritesAsPredicted(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	sessions := 25
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_SIM")); err == nil {
		sessions = n
	}
	for _, c := range []struct {
		model   string
		dialect llm.Dialect
		ages    bool // the rule's lifetimes are the server's
	}{
		{"claude-sonnet-5", messages, true},
		{"claude-opus-5", messages, true},
		{"gpt-5", chat, false},
		{"gpt-5", responses, false},
		{"gpt-5.6-luna", chat, false},
		{"gemini-2.5-pro", generate, false},
	} {
		t.Run(c.model+" "+string(c.dialect), func(t *testing.T) {
			rule, ok := known.CacheRuleOf(c.model)
			if !ok {
				t.Fatal("no rule")
			}
			if c.dialect == chat {
				rule.Step = 128 // the server rounds for all models that are asked so
			}
			r := start(t, c.dialect, fmt.Sprintf("count \"chars/4\"\ncache min %d\nreply always\n  text \"Aye.\"\n", rule.Minimum))
			var reads, breaks int
			for seed := range uint64(sessions) {
				p := predicted{t: t, rig: r, known: known, model: c.model, cache: cache.New(rule, cache.Options{}), rand: rand.New(rand.NewPCG(seed, 18)), ages: c.ages}
				p.session(seed)
				reads, breaks = reads+p.reads, breaks+p.breaks
			}
			if reads == 0 || breaks == 0 {
				t.Errorf("%d reads and %d breaks: the sessions try too little", reads, breaks)
			}
		})
	}
}

// predicted is one session of which each request's reads and writes are predicted.
type predicted struct {
	t             *testing.T
	rig           *rig
	known         catalog.Catalog
	model         string
	machine       *engine.Machine
	cache         *cache.Cache
	rand          *rand.Rand
	ages          bool
	said          int
	at            time.Duration
	reads, breaks int
}

// session runs one session.
func (p *predicted) session(seed uint64) {
	p.rig.header.Set("X-Api-Key", fmt.Sprint("key ", seed)) // nobody shares a cache
	p.rig.header.Set("Authorization", fmt.Sprint("Bearer key ", seed))
	p.rig.header.Set("X-Goog-Api-Key", fmt.Sprint("key ", seed))
	name := []string{"balanced", "layered", "cache-compact"}[p.rand.IntN(3)]
	pol, err := policy.Preset(name)
	if err != nil {
		p.t.Fatal(err)
	}
	pol.Prompt.Long = p.rand.IntN(2) == 0
	capacity := 12_000 + p.rand.IntN(40_000)
	p.machine, err = engine.New(engine.Config{
		Policy: pol, Catalog: p.known, Encodings: bpe.Load, Exactly: "chars/4",
		Targets: []budget.Target{{Model: p.model, Window: budget.Window{Capacity: capacity, OutputReserve: 1000}}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.feed(engine.SetTools{Tools: []llm.Tool{{Name: "look", Description: p.text(p.rand.IntN(900)), Schema: `{"type":"object"}`}}})
	sections := []prompt.Section{prompt.Base.Section(p.text(1 + p.rand.IntN(900))), prompt.Rules.Section(p.text(p.rand.IntN(900)))}
	for n := range 8 {
		if p.ages {
			d := time.Duration(p.rand.IntN(240)) * time.Second
			if p.rand.IntN(6) == 0 {
				d += time.Duration(p.rand.IntN(80)) * time.Minute
			}
			p.at += d
			p.rig.server.Advance(d)
		}
		if n > 0 && p.rand.IntN(5) == 0 {
			sections[1].Content = p.text(1 + p.rand.IntN(900))
		}
		p.feed(engine.SetPrompt{Sections: sections})
		p.feed(engine.Append{Message: llm.UserText(p.text(1 + p.rand.IntN(200)))})
		for range p.rand.IntN(30) { // more than a provider looks back over
			id := fmt.Sprint("c", p.said)
			p.feed(engine.Append{Message: llm.AssistantText(p.text(1), llm.ToolCall{CallID: id, Name: "look", Args: "{}"})})
			p.feed(engine.Append{Message: llm.ToolText(id, p.text(1+p.rand.IntN(120)))})
		}
		send := p.feed(engine.Prepare{})
		if send == nil {
			return // it cannot be made to fit: there is nothing to compare
		}
		p.compare(seed, n, send)
		p.feed(engine.Append{Message: llm.AssistantText("Aye.")})
	}
}

// text returns so many words that were not said before.
func (p *predicted) text(words int) string {
	var b strings.Builder
	for range words {
		p.said++
		fmt.Fprintf(&b, "word%d ", p.said)
	}
	return strings.TrimSpace(b.String())
}

// feed feeds an input, stores nothing, and returns what is to be sent.
func (p *predicted) feed(in engine.Input) (send *engine.Send) {
	if err := p.machine.Feed(in); err != nil {
		p.t.Fatal(err)
	}
	for p.machine.HasReady() {
		r := p.machine.Ready()
		if r.Send != nil {
			send = r.Send
		}
		p.machine.Advance(engine.Outcome{})
		if r.Ask != nil {
			if err := p.machine.Feed(engine.Answer{Ask: r.Ask.ID, Err: "nobody writes summaries here"}); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	return send
}

// compare sends a request and holds what the server says of its cache against the prediction.
func (p *predicted) compare(seed uint64, n int, send *engine.Send) {
	body, err := p.rig.codec.EncodeRequest(send.Request())
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.rig.codec.DecodeRequest(body)
	if err != nil {
		p.t.Fatal(err)
	}
	got := p.rig.ask(body, false).Usage
	want := p.cache.Send(p.request(r, send))
	if want.CacheRead > 0 {
		p.reads++
	}
	if want.Lost > 0 {
		p.breaks++
	}
	predictedUse := llm.Usage{Input: want.Input, CacheRead: want.CacheRead, CacheWrite5m: want.CacheWrite5m, CacheWrite1h: want.CacheWrite1h}
	got.Output, got.Reasoning = 0, 0
	if got != predictedUse {
		p.t.Fatalf("seed %d, request %d, marks %v: predicted %+v, the server says %+v", seed, n, send.Marks, predictedUse, got)
	}
}

// request lays a request out for the model of the cache: a block a tool, section and part, as long as the server counts it, with the marks that the
// engine has put. Their names are our own digests.
func (p *predicted) request(r llm.Request, send *engine.Send) cache.Request {
	counted := prefix.Of(r, p.rig.server.count, "")
	out := cache.Request{At: int64(p.at/time.Millisecond) + 1}
	var at llm.Digest
	add := func(name llm.Message, m llm.Mark) {
		if len(out.Blocks) >= len(counted) {
			p.t.Fatalf("more blocks than the server's %d", len(counted))
		}
		at = llm.Chain(at, llm.DigestOf(name))
		out.Blocks = append(out.Blocks, cache.Block{Prefix: at, Tokens: counted[len(out.Blocks)].Tokens, Positions: 1, Mark: m})
	}
	for i, tool := range send.Tools {
		add(llm.NoteText("tool "+tool.Name+tool.Description+tool.Schema), send.Marks.On(llm.OnTool, i))
	}
	if len(r.Sections) == 1 && len(send.Sections) > 1 || len(r.Sections) == 0 { // the dialect has one text for all
		for range len(r.Sections) {
			add(llm.NoteText(r.Sections[0].Text), llm.NoMark)
		}
	} else {
		for i, s := range send.Sections {
			add(llm.NoteText("section "+s.Text), send.Marks.On(llm.OnSection, i))
		}
	}
	if len(send.Marks) == 0 || p.rig.d != messages {
		for _, m := range r.Messages { // of which the system prompt may be one
			p.parts(m, llm.NoMark, add)
		}
		return out
	}
	for i, it := range send.Items {
		p.parts(it.Message, send.Marks.On(llm.OnMessage, i), add)
	}
	if len(out.Blocks) != len(counted) {
		p.t.Fatalf("%d blocks, the server has %d", len(out.Blocks), len(counted))
	}
	return out
}

// parts adds the parts of a message, with the mark on the last one.
func (p *predicted) parts(m llm.Message, mark llm.Mark, add func(llm.Message, llm.Mark)) {
	for i, part := range m.Parts {
		on := llm.NoMark
		if i == len(m.Parts)-1 {
			on = mark
		}
		one := m
		one.Parts = []llm.Part{part}
		add(one, on)
	}
}
