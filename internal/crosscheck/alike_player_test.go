package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A player has one session of a script.
type player struct {
	t      *testing.T
	script script
	way    string
	rng    *rand.Rand // of the way alone
	cat    *catalog.Catalog

	s       *plimsoll.Session
	id      string
	forks   int
	store   *alikeStore
	gate    *gate
	rules   string
	targets []budget.Target

	unsaid []piece        // of the system prompt: what no request has had
	open   []llm.ToolCall // without a result
	sent   bool           // a request waits for its reply
	last   *engine.Send
	bill   plimsoll.Bill // when it was looked at last
	edits  int

	told  [][]string // after each action
	lines []string   // since the last one
	moved []int
}

func newPlayer(t *testing.T, s script, way string, cat *catalog.Catalog) *player {
	t.Helper()
	p := &player{
		t: t, script: s, way: way, rng: rand.New(rand.NewPCG(s.seed, 99)), cat: cat, id: "S3SS10N", rules: t.TempDir(), targets: s.targets[0],
		store: &alikeStore{Memory: new(store.Memory), way: way},
		gate:  newGate(s.seed),
	}
	p.store.rng = rand.New(rand.NewPCG(s.seed, 98))
	return p
}

func (p *player) options() plimsoll.Options {
	o := plimsoll.Options{
		ID: p.id, Policy: p.script.policy, Targets: p.targets, Store: p.store, Summariser: p.gate, Catalog: p.cat,
		WithoutTools: p.script.bare, StoreLater: p.script.late, Effort: p.script.effort, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
		SummaryTimeout: time.Hour,
	}
	if p.script.prompt {
		o.Prompt = &plimsoll.Prompt{Base: "You look after ships.", Rules: p.rules, Memories: "The mate is called Ann."}
	}
	return o
}

// play plays all of the script.
func (p *player) play() {
	p.t.Helper()
	ctx := p.t.Context()
	var err error
	if p.s, err = plimsoll.Open(ctx, p.options()); err != nil {
		p.t.Fatal(err)
	}
	for i, a := range p.script.actions {
		if i > 2 && p.rng.IntN(3) == 0 {
			p.move(ctx, i)
		}
		p.settle(ctx)
		p.do(ctx, a)
		p.settle(ctx)
		p.look()
		p.told, p.lines = append(p.told, p.lines), nil
	}
	_ = p.s.Close()
}

// settle waits for the summaries that may be written now.
func (p *player) settle(ctx context.Context) {
	if !p.gate.open() {
		return
	}
	if err := p.s.AwaitSummary(ctx); err != nil {
		p.t.Fatal(err)
	}
}

// move takes the session from one process to another, or has a fork of it go on.
func (p *player) move(ctx context.Context, at int) {
	switch p.way {
	case goesOn, afterFailures:
		return
	case asFork:
		if len(p.s.Messages()) == 0 {
			return
		}
		p.forks++
		child, err := p.s.Fork(ctx, fmt.Sprintf("%s-here%d", p.id, p.forks), plimsoll.Here)
		if err != nil {
			p.t.Fatalf("seed %d: fork before action %d: %v", p.script.seed, at, err)
		}
		_ = p.s.Close()
		p.s, p.id, p.bill = child, child.ID(), plimsoll.Bill{}
	default:
		_ = p.s.Close()
		if p.way == withoutSnapshots {
			p.store.forget()
		}
		s, err := plimsoll.Open(ctx, p.options())
		if err != nil {
			p.t.Fatalf("seed %d: open before action %d: %v", p.script.seed, at, err)
		}
		p.s = s
	}
	p.moved = append(p.moved, at)
	p.again(ctx)
}

// again says once more of the system prompt what no request has had.
func (p *player) again(ctx context.Context) {
	unsaid := p.unsaid
	p.unsaid = nil
	for _, one := range unsaid {
		p.compose(ctx, one)
	}
}

// A piece of the system prompt is a skill, or without a name the scratchpad.
type piece struct{ name, text string }

// compose says a piece of the system prompt.
func (p *player) compose(ctx context.Context, one piece) {
	p.unsaid = append(slices.DeleteFunc(p.unsaid, func(old piece) bool { return old.name == one.name }), one)
	p.fails("compose", p.try(func() error {
		if one.name == "" {
			return p.s.SetScratchpad(ctx, one.text)
		}
		return p.s.SetSkill(ctx, one.name, one.text)
	}))
}

func (p *player) note(format string, args ...any) {
	p.lines = append(p.lines, strings.ReplaceAll(fmt.Sprintf(format, args...), p.id, "ID"))
}

// try does something, again where the store has failed.
func (p *player) try(f func() error) error {
	for {
		err := f()
		if err == nil || !errors.Is(err, errAlike) {
			return err
		}
	}
}

// do does an action.
func (p *player) do(ctx context.Context, a action) {
	rng := a.rng()
	switch a.do {
	case "human":
		p.say(ctx, llm.UserText(saidWords(rng, 5+rng.IntN(60))))
		p.sent = false
	case "prepare":
		p.prepare(ctx, rng)
	case "reply":
		p.reply(ctx, rng)
	case "outputs":
		p.outputs(ctx, rng)
	case "turn end":
		if len(p.open) == 0 {
			p.fails("turn end", p.try(func() error { return p.s.TurnEnd(ctx) }))
		}
	case "tools":
		tools := saidTools(rng)
		p.fails("tools", p.try(func() error { return p.s.SetTools(ctx, tools) }))
	case "offer":
		name := "sea_" + alikeWords[rng.IntN(8)]
		p.fails("offer", p.try(func() error { return p.s.OfferTools(ctx, name) }))
	case "skill", "pad", "rules", "sections":
		p.front(ctx, a.do, rng)
	case "compact":
		var c plimsoll.Compaction
		err := p.try(func() (err error) { c, err = p.s.Compact(ctx, ""); return err })
		p.fails("compact", err)
		p.note("compacted %d edits, %v to %v, %s", len(c.Edits), c.Before, c.After, c.Why)
	case "undo":
		p.undo(ctx, rng)
	case "finish":
		p.fails("finish", p.try(func() error { return p.s.Finish(ctx, engine.ReasonUserStop) }))
	case "fork back", "rewind":
		p.back(ctx, a.do, rng)
	}
}

func (p *player) fails(what string, err error) bool {
	if err != nil {
		p.note("%s: %v", what, err)
	}
	return err != nil
}

func (p *player) say(ctx context.Context, m llm.Message) {
	p.fails("append", p.try(func() error { return p.s.Append(ctx, m) }))
	p.open = p.calls()
}

// calls returns the calls without a result.
func (p *player) calls() (open []llm.ToolCall) {
	done := map[string]bool{}
	all := p.s.Messages()
	for _, m := range all {
		for _, r := range m.Results() {
			done[r.CallID] = true
		}
	}
	for _, m := range all {
		for _, c := range m.Calls() {
			if !done[c.CallID] {
				open = append(open, c)
			}
		}
	}
	return open
}

// front changes what stands before the messages.
func (p *player) front(ctx context.Context, what string, rng *rand.Rand) {
	text := ""
	if rng.IntN(5) > 0 {
		text = saidWords(rng, 10+rng.IntN(80))
	}
	switch {
	case what == "sections" && !p.script.prompt:
		sections := []llm.Section{llm.SystemText("You look after ships. " + text)}
		if rng.IntN(2) == 0 {
			sections = append(sections, llm.Section{Name: "more", Text: saidWords(rng, 40)})
		}
		p.fails("sections", p.try(func() error { return p.s.SetSections(ctx, sections) }))
	case !p.script.prompt:
	case what == "skill":
		p.compose(ctx, piece{alikeWords[rng.IntN(3)], text})
	case what == "pad":
		p.compose(ctx, piece{"", text})
		p.say(ctx, llm.UserText("Have a look.")) // it is that of the next Turn
	case what == "rules":
		name := filepath.Join(p.rules, "AGENTS.md")
		if text == "" {
			_ = os.Remove(name)
		} else if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// prepare asks for the next request, and has it refused now and then.
func (p *player) prepare(ctx context.Context, rng *rand.Rand) {
	if rng.IntN(4) == 0 { // here all answers that have come are used
		p.gate.turn(rng.IntN(3) > 0)
		p.settle(ctx)
	}
	var named []budget.Target
	if rng.IntN(6) == 0 {
		named = p.script.targets[rng.IntN(len(p.script.targets))]
		p.targets = named
	}
	if len(p.calls()) == 0 { // else there is no place for a note
		p.unsaid = nil
	}
	// What came before a restart is counted for the targets of then, which no record has; and an
	// answer that was not used yet is asked for again, and may come too late for this request.
	p.store.spare(named != nil || p.gate.answered())
	var send *engine.Send
	err := p.try(func() (err error) { send, err = p.s.Prepare(ctx, named...); return err })
	p.store.spare(false)
	p.request(send, err)
	for send != nil && rng.IntN(14) == 0 {
		no := &tooLong{}
		if rng.IntN(2) == 0 {
			no.window = max(send.Target.Window.Capacity*9/10, 3000)
		}
		if rng.IntN(3) == 0 {
			no.used = send.Count.Bound * 11 / 10
		}
		no.bytes = rng.IntN(5) == 0
		p.settle(ctx)
		err := p.try(func() (err error) { send, err = p.s.Rejected(ctx, no); return err })
		p.request(send, err)
	}
}

// request notes a request that leaves.
func (p *player) request(send *engine.Send, err error) {
	p.open = p.calls()
	p.sent = send != nil
	p.last = send
	p.fails("prepare", err)
	if send == nil {
		return
	}
	d := map[string]llm.Dialect{"anthropic": "anthropic", "openai": "openai-responses", "gemini": "gemini", "local": "openai-chat"}[send.Target.Provider]
	body, err := codecs.Body(send.Request(), d)
	if err != nil {
		p.t.Fatalf("seed %d: %v", p.script.seed, err)
	}
	p.note("sent to %s %s", send.Target.Name(), body.JSON)
	p.note("count %+v limit %d output %d edited %v final %q over %v drop %v stripped %v verdict %+v", send.Count, send.Limit, send.MaxOutput, send.Edited, send.Final, send.StillOver, send.DropBrokenThinking, send.LeftOut, send.Verdict)
}

// reply gives the reply to the last request, if one waits for it.
func (p *player) reply(ctx context.Context, rng *rand.Rand) {
	if !p.sent || rng.IntN(12) == 0 {
		return
	}
	p.sent = false
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	if rng.IntN(3) == 0 {
		m.Parts = append(m.Parts, llm.Thinking{Text: saidWords(rng, 30), Signature: fmt.Sprintf("sig%d", rng.Uint32())})
	}
	m.Parts = append(m.Parts, llm.Text{Text: saidWords(rng, 5+rng.IntN(50))})
	if rng.IntN(4) > 0 {
		for range 1 + rng.IntN(3) {
			m.Parts = append(m.Parts, p.call(rng))
		}
	}
	out := 0
	for _, part := range m.Parts {
		if c, ok := part.(llm.ToolCall); ok {
			out += 20 + len(c.Args)/4
		}
		if text, ok := part.(llm.Text); ok {
			out += len(text.Text) / 4
		}
		if thinking, ok := part.(llm.Thinking); ok {
			out += len(thinking.Text) / 4
		}
	}
	prompt := p.last.Count.Point * (950 + rng.IntN(100)) / 1000
	u := llm.Usage{Input: prompt / 3, CacheRead: prompt - prompt/3, Output: out}
	switch rng.IntN(16) {
	case 0:
		u = llm.Usage{}
	case 1:
		u.Output = 0
	case 2:
		u.CacheRead *= 40
	case 3:
		u.CacheRead, u.Input = 0, u.Input/8
	}
	p.fails("reply", p.replied(ctx, llm.Response{Message: m, Usage: u}))
	p.open = p.calls()
}

// replied does what Session.Reply does, a piece at a time, so that each may be done again where
// the store has failed.
func (p *player) replied(ctx context.Context, r llm.Response) error {
	if err := p.try(func() error { return p.s.Observe(ctx, r.Usage) }); err != nil {
		return err
	}
	return p.try(func() error { return p.s.Append(ctx, r.Message) })
}

func (p *player) call(rng *rand.Rand) llm.ToolCall {
	names := []string{"read", "bash", "grep", "edit"}
	if rng.IntN(8) == 0 {
		names = []string{"sea_" + alikeWords[rng.IntN(10)]}
	}
	c := llm.ToolCall{CallID: fmt.Sprintf("call%d", rng.Uint32()), Name: names[rng.IntN(len(names))]}
	c.Args = fmt.Sprintf(`{"path":%q,"why":%q}`, alikePaths[rng.IntN(len(alikePaths))], saidWords(rng, 4))
	if rng.IntN(10) > 0 {
		return c
	}
	for _, tool := range p.s.Tools() {
		if tool.Builtin {
			c.Name, c.Args = tool.Name, fmt.Sprintf(`{"query":%q}`, alikeWords[rng.IntN(10)])
			if rng.IntN(2) == 0 {
				break
			}
		}
	}
	return c
}

// outputs gives the open calls their results, most of the time all of them.
func (p *player) outputs(ctx context.Context, rng *rand.Rand) {
	for _, c := range p.calls() {
		if rng.IntN(25) == 0 {
			continue
		}
		p.store.spare(true) // one that compacts, and whose output is not kept, compacts twice
		served, err := p.s.Builtin(ctx, c)
		if p.store.spare(false); p.fails("builtin", err) || served {
			continue
		}
		n := 40 << rng.IntN(10)
		text := saidLines(rng, n/2+rng.IntN(n))
		if rng.IntN(6) == 0 { // all results of a reply in one message
			m := llm.ToolText(c.CallID, text)
			p.fails("append", p.try(func() error { return p.s.Append(ctx, m) }))
			continue
		}
		r := plimsoll.Result{CallID: c.CallID, IsError: rng.IntN(12) == 0}
		var at plimsoll.Placement
		err = p.try(func() (err error) { r.Body = strings.NewReader(text); at, err = p.s.ToolResult(ctx, r); return err })
		p.fails("result", err)
		p.note("placed %+v", at)
	}
	p.open = p.calls()
}

// undo takes back one of the edits.
func (p *player) undo(ctx context.Context, rng *rand.Rand) {
	all := edit.Holding(p.s.Edits())
	if len(all) == 0 {
		return
	}
	id := all[rng.IntN(len(all))].ID
	p.fails("undo", p.try(func() error { return p.s.Undo(ctx, id) }))
}

// back has the session go on from an earlier message: as a fork, or by itself.
func (p *player) back(ctx context.Context, how string, rng *rand.Rand) {
	n := p.s.Len()
	if n < 4 {
		return
	}
	at := llm.MessageID(n - rng.IntN(n/2))
	p.sent, p.edits = false, 0
	if how == "fork back" {
		p.forks++
		var child *plimsoll.Session
		if err := p.try(func() (err error) {
			child, err = p.s.Fork(ctx, fmt.Sprintf("%s-back%d", p.id, p.forks), at)
			return err
		}); p.fails("fork", err) {
			return
		}
		_ = p.s.Close()
		p.s, p.id, p.bill = child, child.ID(), plimsoll.Bill{}
		p.again(ctx)
		return
	}
	_ = p.s.Close()
	line, err := journal.Encode(journal.Record{Kind: journal.KindFork, Fork: journal.Fork{Parent: p.id, At: at}})
	if err != nil {
		p.t.Fatal(err)
	}
	records := 0
	for _, err := range p.store.Records(ctx, p.id, 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		records++
	}
	if err := p.store.Memory.Append(ctx, p.id, records, [][]byte{line}); err != nil {
		p.t.Fatal(err)
	}
	if p.s, err = plimsoll.Open(ctx, p.options()); err != nil {
		p.t.Fatalf("seed %d: rewind to %d: %v", p.script.seed, at, err)
	}
	p.again(ctx)
}
