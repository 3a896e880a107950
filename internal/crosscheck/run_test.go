package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// An actor is one session that is put through a run, with the store that it has.
type actor struct {
	id   string
	s    *plimsoll.Session
	st   *shelf // nil: a file
	held []plimsoll.Reservation
	kind string // of a twin: why it is one
	left int    // of a twin: things that it still has to do
}

// A run is one seed: sessions that are told the same, and what the checker knows about them.
type run struct {
	t    *testing.T
	w    *world
	seed uint64
	rng  *rand.Rand
	ctx  context.Context

	policy policy.Policy
	preset bool // it is one as it stands
	plain  bool // the model has no tools
	places []*place
	offer  []*place // that the last Prepare named
	now    *place   // that was sent to

	main      *actor
	listening sync.WaitGroup
	twins     []*actor
	file      store.Store

	said      []llm.Message      // the conversation, as it must be
	marks     map[int]mark       // number of messages, to how much had happened in the store then
	sections  []llm.Section      //
	tools     []llm.Tool         //
	sent      *sight             // the request that was sent last
	seen      map[llm.Ref][]byte // what was read back
	archives  map[llm.Ref]map[llm.MessageID]map[int][]stored
	anew      bool             // tools or sections were set since
	inherited map[edit.ID]bool // edits of a fork from its parent, which may lack the summary that one further on has
	edits     int              // that were looked at
	answered  bool             // usage was told of, and its reply is not there
	count     int              // of messages
	calls     int              // that the model has made
	refused   int              // Prepares in a row
	pulled    bool             // a store has failed
	stale     bool             // it has, and nothing has happened since
	log       []string
	counts    tally
}

// A mark is a time of the run.
type mark struct{ stored, rejections int }

// A tally is what happened in a run.
type tally struct {
	sends, edits, restarts, forks, refusals, rejections, undos, archives, summaries, images, lies int
}

func (t *tally) add(u tally) {
	t.sends += u.sends
	t.edits += u.edits
	t.restarts += u.restarts
	t.forks += u.forks
	t.refusals += u.refusals
	t.rejections += u.rejections
	t.undos += u.undos
	t.archives += u.archives
	t.summaries += u.summaries
	t.images += u.images
	t.lies += u.lies
}

// A fault ends a run.
type fault struct{ law, what string }

// fail ends the run with a fault.
func (r *run) fail(law, format string, args ...any) {
	panic(fault{law, fmt.Sprintf(format, args...)})
}

func (r *run) note(format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }

// odds reports true once in n.
func (r *run) odds(n int) bool { return r.rng.IntN(n) == 0 }

// session plays a seed and returns its fault, if it has one.
func (w *world) session(t *testing.T, seed uint64) (counts tally, log []string, found *fault) {
	r := &run{
		t: t, w: w, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x5ec0)), ctx: t.Context(),
		marks: map[int]mark{},
	}
	defer func() {
		counts, log = r.counts, r.log
		switch p := recover().(type) {
		case nil:
		case fault:
			if p.law != "" {
				found = &p
			}
		default:
			found = &fault{"law 12", fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
		r.close()
	}()
	r.forget()
	r.begin()
	for range 8 + r.rng.IntN(45) {
		if r.refused > 3 {
			break
		}
		r.step()
	}
	return counts, log, nil
}

func (r *run) begin() {
	var err error
	if r.policy, err = newPolicy(r.rng); err != nil {
		r.t.Fatal(err)
	}
	r.preset, r.plain = r.w.presets[r.policy.Name], r.odds(6)
	for range 1 + r.rng.IntN(4) {
		m := models[r.rng.IntN(len(models))]
		if !slices.ContainsFunc(r.places, func(p *place) bool { return p.name == m.name }) {
			r.places = append(r.places, newPlace(r.rng, m))
		}
	}
	r.offer = r.places
	r.main = &actor{id: "main"}
	if r.odds(40) {
		st, err := sqlite.Open(r.ctx, filepath.Join(r.t.TempDir(), fmt.Sprintf("%d.db", r.seed)), sqlite.Options{})
		if err != nil {
			r.t.Fatal(err)
		}
		r.file = st
	} else {
		r.main.st = newShelf()
	}
	for _, p := range r.places {
		r.note("place %s %+v really %d tokens %d bytes ratio %d", p.name, p.target.Window, p.window, p.bytes, p.ratio)
	}
	r.note("policy %s %s", r.policy.Name, r.policy.JSON())
	s, err := plimsoll.Open(r.ctx, r.options(r.main))
	if err != nil {
		if r.badWindow(err) {
			panic(fault{law: ""})
		}
		r.fail("law 1", "open: %v", err)
	}
	r.main.s = s
	if r.odds(8) { // somebody listens, and holds nobody up
		r.listening.Go(func() {
			for range s.Events(r.ctx) {
			}
		})
	}
	if !r.odds(6) {
		r.setSections()
	}
	if !r.odds(4) {
		r.setTools()
	}
}

// badWindow reports whether err says, in figures that make sense, that a window leaves nothing or is not known.
func (r *run) badWindow(err error) bool {
	var c *budget.ConfigError
	if errors.As(err, &c) {
		w := c.Window
		return w.Limit() <= 0 || c.Got < 0
	}
	return errors.Is(err, budget.ErrUnknownWindow)
}

func (r *run) options(a *actor) plimsoll.Options {
	o := plimsoll.Options{ID: a.id, Policy: r.policy, Targets: targets(r.offer), Summariser: moody{r.seed}, Catalog: &r.w.known, WithoutTools: r.seed%3 == 0, StoreLater: r.seed%3 == 0}
	if r.seed%5 == 0 {
		o.Summariser = nil
	}
	if a.st != nil {
		o.Store = a.st
	} else {
		o.Store = r.file
	}
	return o
}

func targets(places []*place) []budget.Target {
	var all []budget.Target
	for _, p := range places {
		all = append(all, p.target)
	}
	return all
}

func (r *run) close() {
	for _, a := range append(r.twins, r.main) {
		if a != nil && a.s != nil {
			_ = a.s.Close()
		}
	}
	r.listening.Wait()
	if st, ok := r.file.(*sqlite.Store); ok {
		_ = st.Close()
	}
}

// each does the same with all sessions and fails if they do not answer the same.
func (r *run) each(what string, f func(*actor) string) string {
	r.settle()
	want := f(r.main)
	r.note("%s: %s", what, brief(before(want, ", verdict")))
	for _, a := range r.twins {
		if got := f(a); r.anonymous(a, got) != r.anonymous(r.main, want) {
			why := difference(r.anonymous(a, got), r.anonymous(r.main, want))
			if _, body, ok := strings.Cut(got, "\n"); ok {
				_, other, _ := strings.Cut(want, "\n")
				why += "\n  the bodies: " + difference(body, other)
			}
			r.fail("law 4", "%s after a %s: %s", what, a.kind, why)
		}
	}
	if r.stale = strings.Contains(want, errStore.Error()); r.stale {
		return want // what is only read may still show what has not happened
	}
	r.sync(what)
	for _, a := range r.twins {
		if a.kind == "restart" {
			r.equal(a, what)
		}
	}
	return want
}

// equal fails if a twin shows other figures.
func (r *run) equal(a *actor, what string) {
	got, want := r.figures(a)+bill(a), r.figures(r.main)+bill(r.main)
	if got != want {
		r.fail("law 4", "figures after a restart and %s: %s", what, difference(got, want))
	}
}

func (r *run) anonymous(a *actor, s string) string {
	return strings.ReplaceAll(s, fmt.Sprintf("%q", a.id), "ID")
}

// settle lets twins go that have done enough; now and then the run goes on with one of them.
func (r *run) settle() {
	for i := len(r.twins) - 1; i >= 0; i-- {
		a := r.twins[i]
		if a.left--; a.left > 0 {
			continue
		}
		// Edits that were taken back have used up numbers in one of the two only: what was sent is known by the main one's.
		same := fmt.Sprint(ids(a.s.Edits())) == fmt.Sprint(ids(r.main.s.Edits()))
		if a.kind == "restart" && same && r.odds(2) {
			r.main, a = a, r.main
			r.forget()
			// What the two stores have seen is the same to here, but for the twin's own beginning.
			r.marks = map[int]mark{}
		}
		_ = a.s.Close()
		r.twins = slices.Delete(r.twins, i, i+1)
	}
}

// sync compares the conversation of the session with what it was told.
func (r *run) sync(what string) {
	got := r.main.s.Messages()
	if len(got) < len(r.said) {
		r.fail("law 2", "%s: the conversation, want %d messages, got %d", what, len(r.said), len(got))
	}
	for i := len(r.said); i < len(got); i++ {
		m := got[i]
		if !m.Flags.Has(llm.FlagInterrupted) {
			r.fail("law 2", "%s: message %d, want what was appended, got %s %s %+v", what, i+1, m.Role, m.Origin, m.Parts)
		}
		for _, res := range m.Results() {
			if res.Text() != turn.InterruptedText {
				r.fail("law 3", "message %d, want the stated result, got %q", i+1, res.Text())
			}
		}
		r.said = append(r.said, m)
	}
	// A fork at a message is as it was before the usage that belongs to the next one.
	if r.main.st != nil && !(r.answered && r.count == len(got)) {
		r.marks[len(got)] = mark{r.main.st.length(), r.counts.rejections}
		r.answered = false
	}
	r.count = len(got)
}

// told notes a message that all sessions have taken.
func (r *run) told(m llm.Message) {
	got := r.main.s.Messages()
	n := len(r.said)
	for n < len(got) && got[n].Flags.Has(llm.FlagInterrupted) {
		r.said = append(r.said, got[n])
		n++
	}
	if n >= len(got) {
		r.fail("law 2", "message %d was taken and is not in the conversation", n+1)
	}
	m.ID = llm.MessageID(n + 1)
	if got[n].ID != m.ID || got[n].Origin != m.Origin || got[n].Role != m.Role || got[n].Flags != m.Flags {
		r.fail("law 2", "message %d, want %+v, got %+v", n+1, m, got[n])
	}
	if d := sameParts(m.Parts, got[n].Parts); d != "" {
		r.fail("law 2", "message %d as it was taken: %s", n+1, d)
	}
	r.said = append(r.said, m)
}

func errText(err error) string {
	if err == nil {
		return "ok"
	}
	return "error: " + err.Error()
}

func before(s, mark string) string {
	s, _, _ = strings.Cut(s, mark)
	return s
}

func brief(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// difference shows where two texts part.
func difference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-120)
	return fmt.Sprintf("differs at byte %d of %d and %d:\n  got  …%q\n  want …%q", i, len(got), len(want), cut(got, from, i+200), cut(want, from, i+200))
}

func cut(s string, from, to int) string { return s[min(from, len(s)):min(to, len(s))] }

// figures is all that a session shows of itself, for comparing.
func (r *run) figures(a *actor) string {
	u := a.s.Usage()
	if u.Count.Bound < u.Count.Point || u.Percent < 0 || u.Percent > 100 {
		r.fail("law 9", "usage %+v", u)
	}
	if r.pulled { // what was taken back for the store's sake is fresh in the live one
		u.Guard.Fresh, u.Guard.Pending, u.Guard.Current = 0, 0, u.Guard.Total()
	}
	return fmt.Sprintf("%+v edits %d messages %d", u, len(a.s.Edits()), len(a.s.Messages()))
}

// refusal checks the error of a Prepare, and whether it was needed.
func (r *run) refusal(err error) {
	var over *budget.OverError
	switch {
	case errors.Is(err, errStore):
		return
	case r.badWindow(err):
		r.refused++
		return
	case !errors.Is(err, plimsoll.ErrRefused) || !errors.As(err, &over):
		r.fail("law 1", "prepare: want a typed refusal, got %v", err)
	}
	r.refused++
	r.counts.refusals++
	if over.Used <= over.Limit || over.Tokens < 0 || over.Limit < 0 {
		r.fail("law 1", "a refusal whose figures do not say why: %+v", over)
	}
	i := slices.IndexFunc(r.offer, func(p *place) bool { return p.target.Name() == over.Target.Name() })
	if i < 0 {
		r.fail("law 1", "a refusal names a target that was not asked for: %v", err)
	}
	if over.Quantity == budget.InTokens && over.Limit > r.offer[i].most(r.policy.Window) {
		r.fail("law 1", "a refusal by a limit of %d, want at most %d", over.Limit, r.offer[i].most(r.policy.Window))
	}
	if r.policy.Backstop && !over.Irreducible() && !r.pulled {
		r.fail("law 1", "refused although the floor fits: %v", err)
	}
	if r.policy.Backstop && over.Quantity == budget.InTokens && !r.pulled {
		r.needed(err)
	}
}

// reason is one that a host may give.
func (r *run) reason() engine.Reason {
	return []engine.Reason{engine.ReasonMaxTurns, engine.ReasonStatusCompleted, engine.ReasonStatusOnly, engine.ReasonTaskCompleted, engine.ReasonRetries, engine.ReasonUserStop}[r.rng.IntN(6)]
}
