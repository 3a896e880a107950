package crosscheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A tooLong is how a provider of a run refuses a request.
type tooLong struct {
	window, used int
	bytes        bool
}

func (e *tooLong) Error() string { return fmt.Sprintf("too long: %+v", *e) }

// RefusedLength implements plimsoll.RefusedLength.
func (e *tooLong) RefusedLength() (window, used int, bytes, ok bool) {
	return e.window, e.used, e.bytes, true
}

// request prepares requests until a provider takes one. It reports false if nothing is to be sent.
func (r *run) request() bool {
	offer := r.places
	if len(offer) > 1 && r.odds(4) {
		offer = offer[:1+r.rng.IntN(len(offer)-1)]
	}
	send := r.prepare(slices.Clone(offer))
	for tries := 0; send != nil; tries++ {
		if r.odds(25) { // nothing came back: prepared again, with the same
			before := r.sent
			send = r.prepare(r.offer)
			if send != nil && r.sent.body != before.body && len(r.sent.journal) == len(before.journal) {
				r.fail("law 4", "prepared again, without an edit: %s", difference(r.sent.body, before.body))
			}
			continue
		}
		no := r.refuses()
		if no == nil || tries > 4 {
			return no == nil
		}
		send = r.rejected(no)
	}
	return false
}

// prepare asks for a request and looks at it.
func (r *run) prepare(offer []*place) *engine.Send {
	was := r.offer
	r.offer = offer
	return r.take("Prepare", was, func(a *actor) (*engine.Send, error) { return a.s.Prepare(r.ctx, targets(offer)...) })
}

// take gets a request from every session and looks at it.
func (r *run) take(what string, was []*place, f func(*actor) (*engine.Send, error)) *engine.Send {
	var send *engine.Send
	var failed error
	r.each(what, func(a *actor) string {
		s, err := f(a)
		if a == r.main {
			send, failed = s, err
		}
		if err != nil {
			return errText(err)
		}
		v := r.look(a, s)
		return fmt.Sprintf("%s %v of %d, out %d, final %q, over %t, drop %t, verdict %+v\n%s", s.Target.Name(), s.Count, s.Limit, s.MaxOutput, s.Final, s.StillOver, s.DropBrokenThinking, s.Verdict, v.body)
	})
	if failed != nil {
		if r.badWindow(failed) || len(r.main.s.Usage().Verdict.Entries) != len(r.offer) {
			r.offer = was // it was not taken, or not even reached: a late answer comes first, and the store may fail at that
		}
		r.refusal(failed)
		r.sent = nil
		return nil
	}
	r.refused = 0
	i := slices.IndexFunc(r.offer, func(p *place) bool { return p.target.Name() == send.Target.Name() })
	if i < 0 {
		r.fail("law 1", "a request to %s, which was not asked for", send.Target.Name())
	}
	r.now = r.offer[i]
	r.judge(r.look(r.main, send))
	return send
}

// truth is what the provider counts.
func (r *run) truth(v *sight) int {
	n := v.tokens*r.now.ratio/1000 + 4*len(v.messages) + 20
	return n + 700*v.images
}

// refuses is what the provider says to a request: nothing if it takes it.
func (r *run) refuses() *tooLong {
	v, p := r.sent, r.now
	n := r.truth(v)
	no := &tooLong{}
	switch {
	case len(v.body) > p.bytes:
		no.bytes = true
		return no
	case n > p.window:
		no.window, no.used = p.window, n
	case r.odds(70): // for no good reason
		no.window, no.used = n*(500+r.rng.IntN(480))/1000, n
	default:
		return nil
	}
	if r.odds(3) {
		no.window = 0
	}
	if r.odds(2) {
		no.used = 0
	}
	return no
}

// rejected tells of a refusal. What it teaches is about the target that refused.
func (r *run) rejected(no *tooLong) *engine.Send {
	r.counts.rejections++
	who, before, shown := r.now, r.sent, r.limits()
	if no.window > 0 {
		who.told = min(who.told, no.window)
	}
	if no.window > 0 && (who.learnt == 0 || no.window < who.learnt) {
		who.learnt = no.window
	}
	who.refused++
	send := r.take(fmt.Sprintf("Rejected by %s %+v", who.name, *no), r.offer, func(a *actor) (*engine.Send, error) { return a.s.Rejected(r.ctx, no) })
	for name, limit := range r.limits() {
		if name != who.target.Name() && shown[name] != 0 && shown[name] != limit {
			r.fail("law 1", "a refusal by %s changes the limit of %s from %d to %d", who.name, name, shown[name], limit)
		}
	}
	// What is sent although it is over, marked as that, may be what was refused: nothing else is left.
	if send != nil && r.now == who && r.sent.body == before.body && r.policy.Backstop && !send.StillOver && !r.pulled {
		r.fail("law 1", "the request that %s refused is sent again", who.name)
	}
	return send
}

// limits returns the limit of each target as the session shows them.
func (r *run) limits() map[string]int {
	all := map[string]int{}
	for _, e := range r.main.s.Usage().Verdict.Entries {
		all[e.Target.Name()] = e.Limit
	}
	return all
}

// report tells what the call took: the truth, nothing, or something else.
func (r *run) report(reply llm.Message) {
	n := r.truth(r.sent)
	u := llm.Usage{Input: n, Output: r.w.count.message(r.now.old, reply)*r.now.ratio/1000 + 10*len(reply.Parts) + 300*(len(reply.Parts)-len(spoken(reply.Parts)))}
	if r.odds(2) {
		u.Input, u.CacheRead, u.CacheWrite5m = n/10, n*8/10, n-n/10-n*8/10
	}
	switch r.rng.IntN(15) {
	case 14: // what a stream says at its start
		u.Output = 1 + r.rng.IntN(10)
		r.now.lied = true
		r.counts.lies++
	case 0:
		return
	case 1:
		u = llm.Usage{}
	case 2: // what was cached is missing
		share := 10 + r.rng.IntN(150)
		if r.odds(3) {
			share = 250 + r.rng.IntN(600)
		}
		u = llm.Usage{Input: n * share / 1000, Output: u.Output}
		if 4*u.Input >= r.sent.tokens*8/10-2_000 { // it can be believed: of little content any figure can, and what is sure is less
			r.now.lied = true
			r.counts.lies++
		}
	case 3: // the sum of several calls
		u = llm.Usage{Input: n * (2 + r.rng.IntN(8)), Output: u.Output * 3}
		r.now.lied = true
		r.counts.lies++
	case 4:
		u.Output = 0
	case 5: // the count itself comes back
		u = llm.Usage{Input: r.sent.send.Count.Point, Output: u.Output}
	}
	r.answered = true
	r.now.heard = r.now.heard || u.Input > 0
	r.now.told = max(r.now.told, u.Prompt())
	r.act(fmt.Sprintf("Observe %+v", u), func(a *actor) error { return a.s.Observe(r.ctx, u) })
}

// needed fails if a refusal was not: a target has an exact tokenizer, nobody lied to it, and a generous sum of what must stay is within it.
func (r *run) needed(err error) {
	if len(r.said) == 0 || !errors.Is(err, plimsoll.ErrRefused) {
		return
	}
	for _, p := range r.offer {
		limit := p.limit(r.policy.Window)
		if !p.exact || p.lied || p.refused > 0 || limit == 0 || p.target.Window.MaxBytes > 0 || p.target.Window.MaxImages > 0 {
			continue
		}
		n, ok := r.floor(p)
		if !p.heard { // the bound before any report: 15 % of what is new, 20 % of everything, 600 tokens
			n = n*135/100 + 600
		}
		if ok && n <= limit {
			r.fail("law 1", "refused, but a generous floor of %d fits %s, whose limit is %d: %v", n, p.name, limit, err)
		}
	}
}

// floor is more than what no edit can take out: system prompt, tools, pins and what the model has not answered, its outputs as lines.
func (r *run) floor(p *place) (tokens int, ok bool) {
	n := 300
	for _, s := range r.sections {
		n += r.w.count.text(p.old, s.Text) + 10
	}
	for _, t := range r.tools {
		n += r.w.count.text(p.old, t.Name+t.Description+t.Schema) + 20
	}
	n *= 2 // some policies count tools twice
	tail := r.unanswered()
	for i, m := range r.said {
		pinned := m.Origin == llm.Human || m.Flags.Has(llm.FlagRules)
		if !pinned && i < tail {
			continue
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llm.Media:
				return 0, false
			case llm.ToolResult:
				n += 120
				for _, c := range part.Content {
					if _, media := c.(llm.Media); media {
						return 0, false
					}
				}
			case llm.Thinking:
				return 0, false
			default:
				n += r.w.count.part(p.old, part)*11/10 + 20
			}
		}
	}
	return n + 60*len(r.said), true
}

// unanswered is where that begins which the model has not answered: behind its last reply, or at the reply whose calls have just come back.
func (r *run) unanswered() int {
	for i := len(r.said) - 1; i >= 0; i-- {
		if r.said[i].Role == llm.RoleAssistant {
			if len(r.said[i].Calls()) == 0 {
				return i + 1
			}
			for i > 0 && r.said[i-1].Role == llm.RoleAssistant {
				i--
			}
			return i
		}
	}
	return 0
}
