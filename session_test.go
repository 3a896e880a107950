package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A session is taken up by its name: the store has all that is needed for the same
// request again.
func ExampleOpen() {
	ctx := context.Background()
	options := plimsoll.Options{
		ID:      "fix-the-build",
		Store:   &store.Memory{},
		Targets: []budget.Target{{Model: "gpt-5", Window: budget.Window{Capacity: 20_000}}},
	}
	session, err := plimsoll.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	question := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Why does the build fail?"}}}
	if err := session.Append(ctx, question); err != nil {
		log.Fatal(err)
	}

	// The program ends here, and is started again.
	session, err = plimsoll.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	request, err := session.Prepare(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Messages()[0].Text())
	// Output: Why does the build fail?
}

// target has room for a few outputs of say, with every preset's buffer and reserve.
func target() budget.Target {
	return budget.Target{Provider: "p", Model: "mystery", Window: budget.Window{Capacity: 20_000, OutputReserve: 2_000}}
}

// preset returns a preset or a policy of examples/policies.
func preset(t *testing.T, name string) policy.Policy {
	t.Helper()
	if !slices.Contains(policy.Presets(), name) {
		data, err := os.ReadFile(filepath.Join("examples", "policies", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p, err := policy.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t *testing.T, o plimsoll.Options) *plimsoll.Session {
	t.Helper()
	if o.Targets == nil {
		o.Targets = []budget.Target{target()}
	}
	s, err := plimsoll.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func human(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}
}

func reply(text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: text}}}
}

// round is a call and its output of some 3,000 tokens.
func round(n int) (call, result llm.Message) {
	id := fmt.Sprintf("c%d", n)
	var out strings.Builder
	for line := range 200 {
		fmt.Fprintf(&out, "file %d, line %d: nothing to see\n", n, line)
	}
	call = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.ToolCall{CallID: id, Name: "read", Args: "{}"}}}
	return call, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: out.String()}}},
	}}
}

// work appends rounds, with a request before each.
func work(t *testing.T, s *plimsoll.Session, from, to int) *engine.Send {
	t.Helper()
	var last *engine.Send
	for n := from; n < to; n++ {
		send, err := s.Prepare(t.Context())
		if err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		last = send
		call, result := round(n)
		add(t, s, call, result)
	}
	return last
}

func add(t *testing.T, s *plimsoll.Session, messages ...llm.Message) {
	t.Helper()
	for _, m := range messages {
		if err := s.Append(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResume is law 4 across a restart: the view is the same, and what was taken
// out of it is still there.
func TestResume(t *testing.T) {
	st := &store.Memory{}
	o := plimsoll.Options{ID: "a", Store: st, Policy: preset(t, "balanced")}
	s := open(t, o)
	add(t, s, human("Read all files."))
	work(t, s, 0, 8)
	first, err := s.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !first.Edited {
		t.Fatal("want a view that was edited, got one that was not")
	}
	again, err := open(t, o).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Messages(), again.Messages()); diff != "" {
		t.Errorf("- before, + after the restart\n%s", diff)
	}
	edits := s.Edits()
	resumed := open(t, o)
	for _, e := range edits {
		for _, ref := range e.Refs {
			if _, err := resumed.Blob(t.Context(), ref); err != nil {
				t.Errorf("edit %d: %v", e.ID, err)
			}
		}
	}
	t.Run("sessions are apart", func(t *testing.T) {
		o.ID = "b"
		other := open(t, o)
		if n := len(other.Messages()); n != 0 {
			t.Errorf("a new session has %d messages, want none", n)
		}
		if _, err := other.Blob(t.Context(), edits[0].Refs[0]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another session's blob: %v, want %v", err, store.ErrNotFound)
		}
	})
}

// TestConcurrentUse has many at a session at once; run it with -race.
func TestConcurrentUse(t *testing.T) {
	s := open(t, plimsoll.Options{Policy: preset(t, "layered")})
	add(t, s, human("Go."))
	var wg sync.WaitGroup
	const each = 20
	run := func(f func(i int) error) {
		wg.Go(func() {
			for i := range each {
				if err := f(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	run(func(i int) error { return s.Append(t.Context(), human(fmt.Sprint("a", i))) })
	run(func(i int) error { return s.Append(t.Context(), reply(strings.Repeat("b", 300))) })
	run(func(int) error { _, err := s.Prepare(t.Context()); return err })
	run(func(i int) error {
		return s.Observe(t.Context(), llm.Usage{Input: 100 + i, Output: 5})
	})
	run(func(int) error { s.Edits(); s.Usage(); s.Bill(); return nil })
	run(func(int) error { _ = s.View().Messages(); return nil })
	run(func(i int) error { return s.SetTools(t.Context(), []llm.Tool{{Name: fmt.Sprint("t", i)}}) })
	wg.Wait()
	if n := len(s.Messages()); n != 1+2*each {
		t.Errorf("%d messages, want %d", n, 1+2*each)
	}
}

// A summariser that answers as it is told.
type summariser struct {
	text string
	err  error
	asks []engine.Ask
}

// ByCode implements plimsoll.ByCode: it answers at once.
func (s *summariser) ByCode() {}

func (s *summariser) Summarise(_ context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	s.asks = append(s.asks, ask)
	return plimsoll.Summary{Text: s.text}, s.err
}

// atEighty brings a cache-compact session to where a summary is due.
func atEighty(t *testing.T, s *plimsoll.Session) *engine.Send {
	t.Helper()
	add(t, s, human(strings.Repeat("please ", 500)), reply(strings.Repeat("so ", 500)), human("And now?"))
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Observe(t.Context(), llm.Usage{Input: 16_000}); err != nil {
		t.Fatal(err)
	}
	send, err := s.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return send
}

func TestSummariser(t *testing.T) {
	t.Run("R001-15_answers", func(t *testing.T) {
		sum := &summariser{text: "<retain>x</retain><summary>They talked. One said please many times, and the other said so as often; nothing was decided.</summary>"}
		send := atEighty(t, open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Summariser: sum}))
		if len(sum.asks) != 1 || len(send.Items) != 3 || !strings.Contains(send.Messages()[1].Text(), "They talked.") {
			t.Errorf("asked %d times, sent %v", len(sum.asks), send.Messages())
		}
	})
	t.Run("R001-15_fails", func(t *testing.T) {
		s := open(t, plimsoll.Options{Policy: preset(t, "cache-compact"), Summariser: &summariser{err: errors.New("overloaded")}})
		if send := atEighty(t, s); len(send.Items) != 3 || send.Edited {
			t.Errorf("sent %v, want the history as it was", send.Messages())
		}
		events := notices(t, s)
		if len(events) != 1 || events[0].Kind != engine.EventAnswer || !strings.Contains(events[0].Text, "overloaded") {
			t.Errorf("events %v, want one about the answer", events)
		}
	})
	t.Run("R003-7_in_the_background", func(t *testing.T) {
		s := open(t, plimsoll.Options{Policy: preset(t, "turn-budget")})
		for range 12 {
			add(t, s, human(strings.Repeat("please ", 50)), reply(strings.Repeat("so ", 50)))
		}
		if err := s.TurnEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		add(t, s, human("and this came meanwhile"))
		send, err := s.Prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(send.Sections) != 1 || send.Messages()[len(send.Items)-1].Text() != "and this came meanwhile" {
			t.Errorf("sections %v, messages %v", send.Sections, send.Messages())
		}
	})
}

// A flaky store fails when it is told to.
type flaky struct {
	store.Memory
	puts, appends bool
}

var errDisk = errors.New("disk full")

func (f *flaky) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	if f.puts {
		return errDisk
	}
	return f.Memory.Put(ctx, session, blobs)
}

func (f *flaky) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	if f.appends {
		return errDisk
	}
	return f.Memory.Append(ctx, session, seq, records)
}

// TestStoreFails is law 12: without a place for what is taken out, the call goes
// out as it is, as long as it fits; and nothing is lost when records cannot be
// written.
func TestStoreFails(t *testing.T) {
	t.Run("R002-26_blobs", func(t *testing.T) {
		st := &flaky{puts: true}
		s := open(t, plimsoll.Options{Policy: preset(t, "layered"), Store: st})
		add(t, s, human("Read."))
		send := work(t, s, 0, 3)
		if send.Edited || len(send.Items) != 5 {
			t.Errorf("sent %d messages, edited %v, want all as they came", len(send.Items), send.Edited)
		}
		for n := 3; n < 7; n++ {
			call, result := round(n)
			add(t, s, call, result)
		}
		_, err := s.Prepare(t.Context())
		var over *budget.OverError
		if !errors.Is(err, plimsoll.ErrRefused) || !errors.As(err, &over) || over.Irreducible() {
			t.Fatalf("got %v, want a refusal of what could be reduced if it could be stored", err)
		}
		st.puts = false
		if send, err := s.Prepare(t.Context()); err != nil || send.Count.Bound > send.Limit {
			t.Errorf("with the store back: %v, %v", send, err)
		}
	})
	t.Run("records", func(t *testing.T) {
		st := &flaky{}
		s := open(t, plimsoll.Options{Store: st})
		add(t, s, human("One."))
		st.appends = true
		if err := s.Append(t.Context(), reply("lost")); !errors.Is(err, errDisk) {
			t.Fatalf("got %v, want %v", err, errDisk)
		}
		if _, err := s.Prepare(t.Context()); err == nil {
			// A Prepare that writes nothing needs no store; the lost message is not in it.
			if n := len(s.Messages()); n != 1 {
				t.Errorf("%d messages after one was lost, want 1", n)
			}
		}
		st.appends = false
		add(t, s, reply("Two."), human("Three."))
		send, err := s.Prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range send.Messages() {
			texts = append(texts, m.Text())
		}
		if diff := cmp.Diff([]string{"One.", "Two.", "Three."}, texts); diff != "" {
			t.Errorf("- want, + got\n%s", diff)
		}
	})
	t.Run("a call that was given up stops nothing", func(t *testing.T) {
		s := open(t, plimsoll.Options{})
		add(t, s, human("One."))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Append(gone, reply("lost")); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
		add(t, s, reply("Two."))
	})
	t.Run("somebody else writes", func(t *testing.T) {
		o := plimsoll.Options{ID: "shared", Store: &store.Memory{}}
		a, b := open(t, o), open(t, o)
		add(t, a, human("by a"))
		if err := b.Append(t.Context(), human("by b")); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("got %v, want %v", err, store.ErrConflict)
		}
		add(t, b, reply("by b, who has read it"))
		if got := b.Messages(); len(got) != 2 || got[0].Text() != "by a" {
			t.Errorf("b has %v", got)
		}
	})
}

// TestRefused is law 1: what cannot be made to fit is an error with the figures.
func TestRefused(t *testing.T) {
	s := open(t, plimsoll.Options{
		Policy: preset(t, "summary-ahead"), Targets: []budget.Target{{Model: "mystery", Window: budget.Window{Capacity: 12_000, OutputReserve: 1_000}}},
	})
	add(t, s, human(strings.Repeat("please do this ", 2_000)))
	_, err := s.Prepare(t.Context())
	var over *budget.OverError
	if !errors.Is(err, plimsoll.ErrRefused) || !errors.As(err, &over) || !over.Irreducible() {
		t.Fatalf("got %v, want a refusal that no edit helps", err)
	}
	send, err := s.Prepare(t.Context(), budget.Target{Model: "mystery", Window: budget.Window{Capacity: 100_000, OutputReserve: 1_000}})
	if err != nil || send.Target.Window.Capacity != 100_000 {
		t.Errorf("to a larger window: %v, %v", send, err)
	}
}

// TestRejected teaches the session the real window.
func TestRejected(t *testing.T) {
	s := open(t, plimsoll.Options{Targets: []budget.Target{{Model: "mystery", Window: budget.Window{Capacity: 60_000, OutputReserve: 2_000}}}})
	add(t, s, human("Read."))
	work(t, s, 0, 10)
	before, err := s.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Rejected(t.Context(), fmt.Errorf("call: %w", &refusal{window: 30_000}))
	if err != nil {
		t.Fatal(err)
	}
	if after.Count.Bound > 30_000 || after.Count.Bound >= before.Count.Bound {
		t.Errorf("sent at most %d tokens after %d were rejected", after.Count.Bound, before.Count.Bound)
	}
	if got := s.View().Targets[0].Window.Capacity; got != 30_000 {
		t.Errorf("window %d, want 30,000", got)
	}
}

// A refusal is a provider's, about the length of a request.
type refusal struct {
	window, used int
	bytes, other bool
}

func (r *refusal) Error() string { return "refused" }

func (r *refusal) RefusedLength() (window, used int, bytes, ok bool) {
	return r.window, r.used, r.bytes, !r.other
}

// notices closes a session and returns what the engine told.
func notices(t *testing.T, s *plimsoll.Session) []engine.Event {
	t.Helper()
	var out []engine.Event
	for _, e := range events(t, s) {
		if e.Kind == plimsoll.EventNotice {
			out = append(out, *e.Notice)
		}
	}
	return out
}

// events closes a session and returns what happened in it.
func events(t *testing.T, s *plimsoll.Session) []plimsoll.Event {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(s.Events(t.Context()))
}

// TestToolsChangedInPlace is law 1 for a list of tools that its owner changes and sets
// again: it is counted, so that a request that does not fit is refused.
func TestToolsChangedInPlace(t *testing.T) {
	s := open(t, plimsoll.Options{})
	add(t, s, human("go"))
	tools := []llm.Tool{{Name: "a", Description: "short"}}
	for range 2 {
		if err := s.SetTools(t.Context(), tools); err != nil {
			t.Fatal(err)
		}
		tools[0].Description = strings.Repeat("a long description of a tool ", 10_000)
	}
	if send, err := s.Prepare(t.Context()); !errors.Is(err, plimsoll.ErrRefused) {
		t.Errorf("got %v and a request with %d bytes of tools, want it refused", err, len(send.Tools[0].Description))
	}
}
