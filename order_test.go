package plimsoll_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// said is a message in one word: H and N are a person's and a note, T is a text of the
// model's, Cab are calls a and b, Ra is the result of call a.
func said(word string) llm.Message {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "go on"}}}
	switch word[0] {
	case 'N':
		m.Origin = llm.Note
	case 'T':
		m = reply("never mind")
	case 'C':
		m = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		for _, id := range word[1:] {
			m.Parts = append(m.Parts, llm.ToolCall{CallID: string(id), Name: "read", Args: "{}"})
		}
	case 'R':
		m = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, id := range word[1:] {
			m.Parts = append(m.Parts, llm.ToolResult{CallID: string(id), Content: []llm.Part{llm.Text{Text: "out " + string(id)}}})
		}
	}
	return m
}

// encodedFor returns a request as a provider of each dialect gets it.
func encodedFor(t testing.TB, known catalog.Catalog, r llm.Request) map[llm.Dialect][]byte {
	t.Helper()
	r.Model, r.MaxOutput, r.Tools = "some-model", 100, []llm.Tool{{Name: "read", Schema: `{"type":"object"}`}}
	bodies := map[llm.Dialect][]byte{}
	for _, c := range codecs.All() {
		d, _ := known.Dialect(c.Dialect())
		body, err := c.EncodeRequest(convert.Request(r, d, convert.Options{}).Request)
		if err != nil {
			t.Fatalf("%s: %v", c.Dialect(), err)
		}
		bodies[c.Dialect()] = body
	}
	return bodies
}

// fitsAll fails a test if a provider would refuse the request.
func fitsAll(t testing.TB, r llm.Request) {
	t.Helper()
	for d, body := range encodedFor(t, dialects(t), r) {
		if faults := check.Request(d, body); len(faults) > 0 {
			t.Errorf("%s refuses %s: %v", d, body, faults)
		}
	}
}

// TestOpenCalls is law 3 for what hosts append while calls are open: whatever it is, the
// request is one that every provider takes.
func TestOpenCalls(t *testing.T) {
	for _, shape := range []string{
		"H Ca T H", "H Ca T", "H Ca H T", "H Ca H T H", "H Ca N T H", "H Ca Cb Ra Rb", "H Ca Cb", "H Ca T Ra", "H Ca T H Ra",
		"H Cab Ra T", "H Cab Ra T Rb", "H Cab Ra Cc Rb Rc", "H Cab Ra H Rb", "H Ca Ca Ra Ra", "H Caa Ra", "H Ca H Ca", "H Ca H Ca Ra",
		"H Cab Ra T Ca Ra", "H Cab Rab Ca Ra",
	} {
		t.Run("law3_"+shape, func(t *testing.T) {
			s := open(t, plimsoll.Options{})
			for word := range strings.FieldsSeq(shape) {
				var orphan *turn.OrphanError
				if err := s.Append(t.Context(), said(word)); err != nil && (word[0] != 'R' || !errors.As(err, &orphan)) {
					t.Fatalf("%s: %v", word, err)
				}
			}
			add(t, s, said("H")) // Gemini wants a person's word at the end
			fitsAll(t, prepare(t, s).Request())
		})
	}
}

// TestOpenCallsAlways is TestOpenCalls for anything that a host may append, with requests
// and undone edits between.
func TestOpenCallsAlways(t *testing.T) {
	known := dialects(t)
	rapid.Check(t, func(rt *rapid.T) {
		s, err := plimsoll.Open(t.Context(), plimsoll.Options{Targets: []budget.Target{{Model: "gpt-4o", Window: budget.Window{Capacity: 3_000, OutputReserve: 500}}}})
		if err != nil {
			rt.Fatal(err)
		}
		words := []string{"H", "N", "T", "Ca", "Cb", "Cab", "Cba", "Caa", "Ra", "Rb", "Rab", "Rba", "P", "U"}
		history := []string{"H"}
		for range rapid.IntRange(1, 14).Draw(rt, "words") {
			history = append(history, rapid.SampledFrom(words).Draw(rt, "word"))
		}
		for _, word := range append(history, "P") {
			switch word {
			case "P":
				if err := s.Append(t.Context(), said("H")); err != nil { // Gemini wants it at the end
					rt.Fatal(err)
				}
				send, err := s.Prepare(t.Context())
				if errors.Is(err, plimsoll.ErrRefused) {
					return
				}
				if err != nil {
					rt.Fatalf("%v: %v", history, err)
				}
				for d, body := range encodedFor(t, known, send.Request()) {
					if faults := check.Request(d, body); len(faults) > 0 {
						rt.Fatalf("%v: %s refuses %s: %v", history, d, body, faults)
					}
				}
			case "U":
				for _, e := range s.Edits() {
					_ = s.Undo(t.Context(), e.ID) // those that hold no more are refused
				}
			default:
				m := said(word)
				for i, p := range m.Parts {
					if r, ok := p.(llm.ToolResult); ok { // so large that edits are due
						m.Parts[i] = r.WithContent(llm.Text{Text: numbered(1_500)})
					}
				}
				var orphan *turn.OrphanError
				if err := s.Append(t.Context(), m); err != nil && !errors.As(err, &orphan) {
					rt.Fatalf("%v: %v", history, err)
				}
			}
		}
	})
}

func dialects(t testing.TB) catalog.Catalog {
	t.Helper()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// torn is a store with a conversation as an earlier version recorded it, with a result
// behind a later reply.
func torn(t *testing.T) *store.Memory {
	t.Helper()
	var lines [][]byte
	for i, word := range strings.Fields("H Cab Ra T Rb H T H") {
		m := said(word)
		m.ID = llm.MessageID(i) + 1
		line, err := journal.Encode(journal.Record{Kind: journal.KindMessage, Message: m})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	st := &store.Memory{}
	if err := st.Append(t.Context(), "old", 0, lines); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestTornTranscript is law 3 for such a conversation: the Round is put away, and the
// request is one that every provider takes. Where nothing can be stored it does not leave.
func TestTornTranscript(t *testing.T) {
	t.Run("law3_the_round_is_put_away", func(t *testing.T) {
		s := open(t, plimsoll.Options{ID: "old", Store: torn(t)})
		send := prepare(t, s)
		fitsAll(t, send.Request())
		edits := s.Edits()
		if len(edits) != 1 || edits[0].Span != (edit.Span{From: 2, To: 6}) || len(send.Messages()) != 5 {
			t.Fatalf("want messages 2 to 5 in one archive, got %+v and %d messages", edits, len(send.Messages()))
		}
		if stored, err := s.Blob(t.Context(), edits[0].Refs[0]); err != nil || !strings.Contains(string(stored), "out b") {
			t.Errorf("stored: %s, %v", stored, err)
		}
		if again := prepare(t, s); len(s.Edits()) != 1 || len(again.Messages()) != 5 {
			t.Errorf("the next request: %d edits, %d messages", len(s.Edits()), len(again.Messages()))
		}
	})
	t.Run("law3_without_a_store_it_does_not_leave", func(t *testing.T) {
		s := open(t, plimsoll.Options{ID: "old", Store: noBlobs{torn(t)}})
		_, err := s.Prepare(t.Context())
		var fault *turn.TornError
		if !errors.As(err, &fault) || fault.CallID != "b" || fault.Reason != turn.ReasonUnanswered {
			t.Errorf("got %v, want a *turn.TornError about call b", err)
		}
	})
}

// noBlobs is a store that takes records only.
type noBlobs struct{ *store.Memory }

func (noBlobs) Put(context.Context, string, []edit.Blob) error { return errors.New("disk full") }
