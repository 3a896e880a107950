package guardsim

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/engine"
)

// A class is what happened to the requests to models of one kind.
type class struct {
	requests   int
	ok         int // with the verdict ok
	skip       int // that went to a fallback
	final      int // of a forced final Step
	stillOver  int // sent although over, as the policy wants it
	rejected   int // refused as too long
	okRejected int // … with the verdict ok
	edge       int // ok, accepted, and by the count within edgeTokens of the limit
	percent    int // ok, accepted, and by the server's count within 1 % of it
	closest    int // the fewest tokens that the server had left up to the limit
}

// A tally adds up sessions.
type tally struct {
	sessions int
	failures int // calls that failed or broke off
	refused  int // requests that the engine did not send, since nothing could make them fit
	refs     int // that were looked up
	restarts int
	same     int // … after which a request was compared with the one without
	differ   int // … and was another one
	tooLarge int // requests refused for their bytes
	edits    int
	classes  [numKinds]class
	notes    []string // requests that were refused
}

// note writes a refusal down.
func (r *run) note(s *engine.Send) {
	m := r.models[r.place(s.Target)]
	r.tally.notes = append(r.tally.notes, fmt.Sprintf("seed %d, %s: request %d to %s, want room, got a count of %d to %d (%s) for %d tokens, limit %d, edited %t, %+v",
		r.seed, r.policy, s.Seq, s.Target.Name(), s.Count.Point, s.Count.Bound, s.Count.Kind, r.last.Prompt, s.Limit, s.Edited, m.weight))
}

func (c *class) add(o class) {
	c.requests, c.ok, c.skip, c.final = c.requests+o.requests, c.ok+o.ok, c.skip+o.skip, c.final+o.final
	c.percent, c.edge, c.closest = c.percent+o.percent, c.edge+o.edge, closer(c.closest, o.closest)
	c.stillOver, c.rejected, c.okRejected = c.stillOver+o.stillOver, c.rejected+o.rejected, c.okRejected+o.okRejected
}

func (t *tally) add(o *tally) {
	t.sessions, t.failures, t.refused = t.sessions+o.sessions, t.failures+o.failures, t.refused+o.refused
	t.restarts, t.same, t.differ = t.restarts+o.restarts, t.same+o.same, t.differ+o.differ
	t.tooLarge += o.tooLarge
	t.refs, t.edits = t.refs+o.refs, t.edits+o.edits
	for i := range t.classes {
		t.classes[i].add(o.classes[i])
	}
	t.notes = append(t.notes, o.notes...)
}

// sum adds the classes up.
func (t *tally) sum() (all class) {
	for _, c := range t.classes {
		all.add(c)
	}
	return all
}

// String returns the table of docs/benchmarks.md.
func (t *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions, %d edits, %d failed calls, %d Refs looked up, %d requests that nothing could make fit, %d restarts (%d compared, %d differ), %d requests refused for their bytes\n\n",
		t.sessions, t.edits, t.failures, t.refs, t.refused, t.restarts, t.same, t.differ, t.tooLarge)
	fmt.Fprintf(&b, "| what the engine knows | requests | ok | counted within %d tokens of the limit | truly within 1 %% | closest | to a fallback | of a final Step | sent over | refused as too long | of those that were ok |\n|---|---|---|---|---|---|---|---|---|---|---|\n", edgeTokens)
	for i, name := range [numKinds]string{"the tokenizer", "no tokenizer", "a window that is too large"} {
		c, share := t.classes[i], 0.0
		if c.ok > 0 {
			share = 100 * float64(c.okRejected) / float64(c.ok)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d (%.2f %%) |\n", name, c.requests, c.ok, c.edge, c.percent, c.closest, c.skip, c.final, c.stillOver, c.rejected, c.okRejected, share)
	}
	return b.String()
}
