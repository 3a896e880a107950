package crosscheck

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// restart begins a twin that knows only what the store has, or, with a file, takes the session up from it.
func (r *run) restart() {
	if r.stale || r.main.st != nil && r.main.st.failPuts+r.main.st.failAdds > 0 {
		return
	}
	r.counts.restarts++
	before := r.figures(r.main) + bill(r.main)
	if r.file != nil {
		_ = r.main.s.Close()
		s, err := plimsoll.Open(r.ctx, r.options(r.main))
		if err != nil {
			r.fail("law 4", "open again: %v", err)
		}
		r.main.s = s
		r.forget()
		r.note("restart from a file")
	} else {
		if len(r.twins) > 0 {
			return
		}
		st, err := r.main.st.at(r.ctx, r.main.st.length())
		if err != nil {
			r.t.Fatal(err)
		}
		a := &actor{id: r.main.id, st: st, kind: "restart", left: 1 + r.rng.IntN(30)}
		r.twin(a)
		before = r.figures(r.main) + bill(r.main)
		r.note("restart, to be compared for %d things", a.left)
		if after := r.figures(a) + bill(a); after != before {
			r.fail("law 4", "figures after a restart: %s", difference(after, before))
		}
		return
	}
	if after := r.figures(r.main) + bill(r.main); after != before {
		r.fail("law 4", "figures after a restart: %s", difference(after, before))
	}
}

// twin opens a twin's session.
func (r *run) twin(a *actor) {
	s, err := plimsoll.Open(r.ctx, r.options(a))
	if err != nil {
		r.fail("law 4", "open again: %v", err)
	}
	a.s = s
	r.twins = append(r.twins, a)
}

// forkHere begins a twin that is a fork at the end.
func (r *run) forkHere() {
	if r.stale || len(r.twins) > 0 || len(r.said) == 0 || r.main.st != nil && r.main.st.failPuts+r.main.st.failAdds > 0 {
		return
	}
	r.counts.forks++
	a := &actor{id: fmt.Sprintf("fork-%d", r.counts.forks), st: r.main.st, kind: "fork here", left: 1 + r.rng.IntN(20)}
	s, err := r.main.s.Fork(r.ctx, a.id, plimsoll.Here)
	if err != nil {
		r.fail("law 4", "fork: %v", err)
	}
	a.s = s
	r.twins = append(r.twins, a)
	r.note("fork here, to be compared for %d things", a.left)
}

// forkBack forks at an earlier message, and holds it against a session that is taken up from the store as it was then.
func (r *run) forkBack() {
	if r.main.st == nil || len(r.twins) > 0 || len(r.said) < 3 || r.pulled {
		return
	}
	n := 1 + r.rng.IntN(len(r.said)-1)
	at, ok := r.marks[n]
	if !ok {
		return
	}
	r.counts.forks++
	id := fmt.Sprintf("fork-%d", r.counts.forks)
	child, err := r.main.s.Fork(r.ctx, id, llm.MessageID(n))
	if err != nil {
		r.fail("law 4", "fork at %d: %v", n, err)
	}
	st, err := r.main.st.at(r.ctx, at.stored)
	if err != nil {
		r.t.Fatal(err)
	}
	past := &actor{id: r.main.id, st: st, kind: "past"}
	s, err := plimsoll.Open(r.ctx, r.options(past))
	if err != nil {
		r.fail("law 4", "open the past: %v", err)
	}
	past.s = s
	// From here on the run is about the two. What the parent said since is forgotten.
	old := r.main.s
	defer old.Close()
	r.note("fork at message %d of %d, against the store as it was after %d things", n, len(r.said), at.stored)
	r.main = &actor{id: id, st: r.main.st, kind: "fork", s: child}
	past.kind, past.left = "fork further back", 1+r.rng.IntN(20)
	r.twins = append(r.twins, past)
	r.forget()
	for _, p := range r.places {
		p.heard = false // what it reported may lie behind the fork
	}
	r.said = slices.Clone(r.said[:n])
	r.marks, r.edits, r.inherited = map[int]mark{}, 0, map[edit.ID]bool{}
	for _, e := range child.Edits() {
		r.inherited[e.ID] = true
	}
	if r.sent != nil {
		r.sent = r.sent.until(llm.MessageID(n), child.Edits(), old.Edits())
	}
	if got := len(child.Messages()); got != n {
		r.fail("law 4", "a fork at %d has %d messages", n, got)
	}
	if at.rejections != r.counts.rejections || fmt.Sprint(ids(child.Edits())) != fmt.Sprint(ids(past.s.Edits())) {
		// What was made since about messages before the fork holds in it, too (law 5), and so does what refusals taught.
		r.twins = nil
		_ = past.s.Close()
	}
	r.setSections()
	r.setTools()
	r.say(r.human()) // what the parent has sent may have taken out all that was before
}

// until returns what of a request a fork shows, which has the messages up to one and the edits given of those of its parent.
func (v *sight) until(last llm.MessageID, edits, parents []edit.Edit) *sight {
	has := map[edit.ID]bool{}
	for _, e := range edits {
		has[e.ID] = true
	}
	u, send := *v, *v.send
	u.send, u.back = &send, map[edit.ID]bool{}
	for _, e := range parents {
		for _, id := range e.Supersedes {
			u.back[id] = u.back[id] || e.Op == edit.Insert && !has[e.ID]
		}
	}
	send.Items = slices.DeleteFunc(slices.Clone(send.Items), func(it edit.Item) bool {
		return it.Before > last || slices.ContainsFunc(it.Edits, func(id edit.ID) bool { return !has[id] })
	})
	return &u
}

// bill returns the bill in JSON: what pointers in it lead to is compared, not where they lead.
func bill(a *actor) string {
	b := a.s.Bill()
	text, err := json.Marshal(b)
	return fmt.Sprintf(" %s %v", text, err)
}

func ids(edits []edit.Edit) []edit.ID {
	var all []edit.ID
	for _, e := range edits {
		all = append(all, e.ID)
	}
	return all
}
