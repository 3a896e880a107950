package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/store"
)

func reserve(t *testing.T, s *plimsoll.Session, tokens int) plimsoll.Reservation {
	t.Helper()
	held, err := s.Budget().Reserve(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestReservationsEnd: what is reserved ends with the next request, of whatever kind, and
// one that has ended gives nothing back later, of which somebody else has the room.
func TestReservationsEnd(t *testing.T) {
	type session = *plimsoll.Session
	for _, c := range []struct {
		name, policy string
		end          func(s session) error
	}{
		{"R000-22_Prepare", "guard", func(s session) error { _, err := s.Prepare(t.Context()); return err }},
		{"R000-22_Feed", "guard", func(s session) error { return plimsoll.Feed(t.Context(), s, engine.Prepare{}) }},
		// Under guard a refusal leaves no room for tools.
		{"R000-22_Rejected", "off", func(s session) error { _, err := s.Rejected(t.Context(), &refusal{}); return err }},
		{"R000-22_Rejected_for_bytes", "off", func(s session) error {
			_, err := s.Rejected(t.Context(), &refusal{bytes: true})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, plimsoll.Options{Policy: preset(t, c.policy)})
			add(t, s, human(strings.Repeat("one ", 300)))
			prepare(t, s)
			old := reserve(t, s, 3_000)
			if err := c.end(s); err != nil {
				t.Fatal(err)
			}
			if n := s.Usage().Reserved; n != 0 {
				t.Errorf("reserved %d after the next request, want 0", n)
			}
			reserve(t, s, 2_000)
			s.Budget().Release(old)
			if n := s.Usage().Reserved; n != 2_000 {
				t.Errorf("reserved %d after an old one was released, want the 2,000 of the new one", n)
			}
		})
	}
}

// TestReservationsOfARefusedPrepare: a Prepare that is refused for its targets has not
// happened.
func TestReservationsOfARefusedPrepare(t *testing.T) {
	s := guarded(t)
	add(t, s, human("Read."))
	held := reserve(t, s, 3_000)
	if _, err := s.Prepare(t.Context(), budget.Target{Model: "m", Window: budget.Window{Capacity: -5}}); err == nil {
		t.Fatal("want an error about the window, got none")
	}
	if n := s.Usage().Reserved; n != 3_000 {
		t.Errorf("R000-22 reserved %d, want 3,000 as before", n)
	}
	s.Budget().Release(held)
	if n := s.Usage().Reserved; n != 0 {
		t.Errorf("R000-22 reserved %d after the release, want 0", n)
	}
}

// A watched store counts the blobs that come to it.
type watched struct {
	store.Memory
	blobs int
}

func (w *watched) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	w.blobs += len(blobs)
	return w.Memory.Put(ctx, session, blobs)
}

func (w *watched) PutFrom(ctx context.Context, session string, r io.Reader) (llm.Ref, int64, error) {
	w.blobs++
	return w.Memory.PutFrom(ctx, session, r)
}

// TestRefusedOutput: an output that is not taken leaves the room reserved for it, and
// nothing of it in the store.
func TestRefusedOutput(t *testing.T) {
	const room = 3_000
	begin := func(t *testing.T, st store.Store) (*plimsoll.Session, plimsoll.Reservation) {
		t.Helper()
		s := open(t, plimsoll.Options{Policy: preset(t, "guard"), Store: st})
		add(t, s, human("Read."), calls("read", 1))
		return s, reserve(t, s, room)
	}
	kept := func(t *testing.T, s *plimsoll.Session) {
		t.Helper()
		if n := s.Usage().Reserved; n != room {
			t.Errorf("R000-22 reserved %d, want %d as before", n, room)
		}
	}
	t.Run("R000-22_of_an_unknown_call", func(t *testing.T) {
		for _, size := range []int{10, 5 << 20} {
			st := &watched{}
			s, held := begin(t, st)
			_, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "typo", Body: strings.NewReader(output(size)), Reserved: held})
			var orphan *turn.OrphanError
			if !errors.As(err, &orphan) {
				t.Errorf("%d bytes: got %v, want an orphan", size, err)
			}
			kept(t, s)
			if st.blobs > 0 {
				t.Errorf("%d bytes: %d blobs in the store, want none", size, st.blobs)
			}
			result(t, s, "c1", "all is well")
		}
	})
	t.Run("R000-22_fed_as_it_stands", func(t *testing.T) {
		s, _ := begin(t, &watched{})
		_, orphan := round(7) // of a call that nobody made
		if err := plimsoll.Feed(t.Context(), s, engine.Append{Message: orphan, Reserved: room}); err == nil {
			t.Error("want an orphan refused, got no error")
		}
		kept(t, s)
	})
	t.Run("R000-22_that_breaks_off", func(t *testing.T) {
		s, held := begin(t, &watched{})
		if _, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Body: breaks{}, Reserved: held}); !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
		kept(t, s)
	})
	t.Run("R000-22_taken_once", func(t *testing.T) {
		s, held := begin(t, &watched{})
		text := output(1_000)
		if p, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Body: strings.NewReader(text), Reserved: held}); err != nil || p.Shown != plimsoll.ShownWhole {
			t.Fatalf("placed %+v, %v, want it whole", p, err)
		}
		s.Budget().Release(held)
		if n := s.Usage().Reserved; n != 0 {
			t.Errorf("reserved %d, want 0", n)
		}
	})
}

// TestMostOutput: a reply is never asked for more than its model can write, nor for more
// than the room that is reserved for it.
func TestMostOutput(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range policy.Presets() {
		t.Run("R000-7_R002-30_"+name, func(t *testing.T) {
			encodings := new(plimsoll.Encodings)
			for _, m := range known.Models() {
				if m.Window == 0 {
					continue
				}
				s, err := plimsoll.Open(t.Context(), plimsoll.Options{
					Policy: preset(t, name), Catalog: &known, Encodings: encodings.Load, Targets: []budget.Target{{Model: m.ID}},
				})
				var small *budget.ConfigError // what the document of a preset keeps free is more than there is
				if name != "balanced" && errors.As(err, &small) {
					continue
				}
				if err != nil {
					t.Errorf("%s, a window of %d: %v", m.ID, m.Window, err)
					continue
				}
				add(t, s, human("Hi."))
				send := prepare(t, s)
				if m.MaxOutput > 0 && send.MaxOutput > m.MaxOutput {
					t.Errorf("%s: at most %d tokens of output are asked for, want at most the %d that it can write", m.ID, send.MaxOutput, m.MaxOutput)
				}
				if w := send.Target.Window; w.OutputReserve > 0 && send.MaxOutput > w.OutputReserve {
					t.Errorf("%s: at most %d tokens of output are asked for, want at most the %d reserved", m.ID, send.MaxOutput, w.OutputReserve)
				}
				if got := send.Request().MaxOutput; got != send.MaxOutput {
					t.Errorf("%s: the request asks for %d tokens of output, want %d", m.ID, got, send.MaxOutput)
				}
			}
		})
	}
}

// TestStatedZero: a buffer or an output reserve of 0 can be stated.
func TestStatedZero(t *testing.T) {
	for _, name := range policy.Presets() {
		t.Run("R000-9_"+name, func(t *testing.T) {
			none := budget.Window{Capacity: 50_000, Buffer: budget.None, OutputReserve: budget.None}
			s := open(t, plimsoll.Options{Policy: preset(t, name), Targets: []budget.Target{{Model: "mystery", Window: none}}})
			u := s.Usage()
			if w := u.Target.Window; w.Buffer != 0 || w.OutputReserve != 0 || u.Limit != 50_000 {
				t.Errorf("window %+v, limit %d, want all of it for the prompt", w, u.Limit)
			}
			add(t, s, human("Hi."))
			if got := prepare(t, s).MaxOutput; got != 0 {
				t.Errorf("at most %d tokens of output are asked for, want no figure, for none is known", got)
			}
		})
	}
}

// TestSmallWindows: the buffer is for windows of a usual size. Under balanced it leaves
// room in a small one.
func TestSmallWindows(t *testing.T) {
	for _, capacity := range []int{2_048, 4_096, 8_192, 16_384, 32_768} {
		t.Run(fmt.Sprintf("R000-9_%d", capacity), func(t *testing.T) {
			s := open(t, plimsoll.Options{Targets: []budget.Target{{Model: "mystery", Window: budget.Window{Capacity: capacity}}}})
			u := s.Usage()
			if least := capacity / 4; u.Limit < least {
				t.Errorf("limit %d of %d, want at least %d", u.Limit, capacity, least)
			}
			add(t, s, human("Hi."))
			if send := prepare(t, s); send.Final != engine.ReasonNone || send.Count.Bound > send.Limit {
				t.Errorf("final %q, %d of %d tokens, want an ordinary request", send.Final, send.Count.Bound, send.Limit)
			}
		})
	}
}

// TestFinalKeepsWords: what a person asked first and last is in the guard's final
// request word for word, whatever else the backstop takes out of it.
func TestFinalKeepsWords(t *testing.T) {
	s := guarded(t)
	first, last := "First of all: why does the build fail?", "And, most of all, who broke it?"
	add(t, s, human(first))
	for n := range 4 {
		call, out := round(n)
		add(t, s, call, out, reply(strings.Repeat("so it goes ", 700)), human(strings.Repeat("well, go on ", 300)))
	}
	add(t, s, human(last))
	send := prepare(t, s)
	if send.Final != engine.ReasonContext || !send.Edited {
		t.Fatalf("final %q, edited %v, want a final request that had to be reduced", send.Final, send.Edited)
	}
	var texts []string
	for _, m := range send.Messages() {
		texts = append(texts, m.Text())
	}
	for _, words := range []string{first, last} {
		if !strings.Contains(strings.Join(texts, "\n"), words) {
			t.Errorf("R000-14 %q is not in the final request", words)
		}
	}
	if send.StillOver || send.Count.Bound > send.Limit {
		t.Errorf("law 1: %d of %d tokens, still over %v", send.Count.Bound, send.Limit, send.StillOver)
	}
}

// TestFreshOutputsAreNotReserved: an output without a reservation asks for room all the
// same, and does not take what others have reserved.
func TestFreshOutputsAreNotReserved(t *testing.T) {
	s := withCalls(t, 2)
	before, limit := used(s)
	held, err := s.Budget().Reserve(t.Context(), limit-before-200)
	if err != nil {
		t.Fatal(err)
	}
	if p := result(t, s, "c2", output(4_000)); p.Shown == plimsoll.ShownWhole {
		t.Errorf("R000-13: an output of 1,000 tokens beside a reservation of all but 200 is placed %+v", p)
	}
	if _, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Body: strings.NewReader(output(1_000)), Reserved: held}); err != nil {
		t.Fatal(err)
	}
	if got := outputs(s); got[1] != output(1_000) {
		t.Errorf("R000-22: the output that was reserved for is shown as %q", got[1])
	}
	observe(t, s, llm.Usage{}) // a failed call changes nothing
	if now, _ := used(s); now > limit {
		t.Errorf("%d tokens of %d", now, limit)
	}
}
