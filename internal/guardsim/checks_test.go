package guardsim

import (
	"context"
	"fmt"
	"regexp"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

type clients = map[string]*client.Client

// A direction says what counters may do.
type direction bool

const (
	grows direction = false // they grow, unless something was taken out
	falls direction = true
)

// A watch remembers the counters.
type watch struct {
	seen counters
	same []byte // the body that the next request must have; nil: any
}

func (r *run) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(fmt.Sprintf("call %d: ", r.calls)+format, args...))
}

// check holds the counters against law 10 after something happened.
func (r *run) check(what string, may direction) {
	now, was := r.counters(), r.seen
	edits, took := r.edits(r.tally.edits)
	r.tally.edits, r.seen = edits, now
	if may == falls || took {
		return
	}
	fewer := now.final != was.final // a final Step offers fewer tools, which the guard's sum keeps
	if now.guard < was.guard || now.view < was.view && !fewer {
		r.fault("law 10 (R000-5): after %s, without an edit, the counters fell from %+v to %+v", what, was, now)
	}
}

// tooLong reports whether the server refused the last request for its length.
func (r *run) tooLong() bool { return r.last.Error != nil && r.last.Error.Class == wire.TooLong }

// tooLarge reports whether the server refused the last request for its bytes.
func (r *run) tooLarge() bool { return r.last.Error != nil && r.last.Error.Class == wire.TooLarge }

// place returns which of the targets t is, whatever its window is taken for by now.
func (r *run) place(t budget.Target) int {
	for i := range r.targets {
		if r.targets[i].Name() == t.Name() {
			return i
		}
	}
	return 0
}

// kindOf returns what is known of a target before a request to it leaves.
func (r *run) kindOf(t budget.Target) kind {
	i := r.place(t)
	if r.lies[i] && !r.told[i] {
		return lied
	}
	return r.models[i].kind
}

// decision returns the verdict on the target that a request goes to.
func (r *run) decision(s *engine.Send) budget.Decision {
	for _, e := range s.Verdict.Entries {
		if e.Target.Name() == s.Target.Name() {
			return e.Decision
		}
	}
	return budget.Final
}

// ref finds what looks like a Ref: r and 26 characters of base32.
var ref = regexp.MustCompile(`r[a-z2-7]{26}`)

// resolve looks up each Ref of the last request once.
func (r *run) resolve(ctx context.Context) {
	for _, found := range ref.FindAllString(string(r.caller.cable.body), -1) {
		if r.refs[found] {
			continue
		}
		r.refs[found] = true
		r.tally.refs++
		body, err := r.blob(ctx, llm.Ref(found))
		if err != nil {
			r.fault("law 2: a request names %s: %w", found, err)
		} else if got := llm.RefOf(body); got != llm.Ref(found) {
			r.fault("law 2: %s, want what has that Ref, got what has %s", found, got)
		}
	}
}
