package codectest

import (
	"bytes"
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Untouched holds law 4 for a request that nobody edits: its body is the very bytes that it
// came as. It returns the request.
func (l Laws) Untouched(t T, body []byte) llm.Request {
	t.Helper()
	before := bytes.Clone(body)
	r := Decoded(t, l, body)
	got, err := l.EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, before) {
		t.Fatalf("want %s\ngot  %s", before, got)
	}
	if &got[0] != &body[0] {
		t.Error("want the body itself, got a copy")
	}
	return r
}

// EachEdit holds law 4 for every part of a request that can be edited: no other byte of the
// body changes, nobody else says something else, and the part says what it was changed to.
// also, if there is one, is told of each edited part as it was and as it came back.
func (l Laws) EachEdit(t T, body []byte, also func(was, is llm.Part)) {
	t.Helper()
	r := Decoded(t, l, body)
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			var edit func(llm.Part) llm.Part
			switch p := p.(type) {
			case llm.ToolResult:
				edit = Stubbed
			case llm.ToolCall:
				edit = Rearmed(`{"y":1}`)
			case llm.Text:
				if len(r.Frame.Pieces) > 0 && m.Envelope.Raw == nil && strings.TrimSpace(p.Text) == "" {
					continue // nobody's, until there is a word in it
				}
				edit = Retold(short(m))
			default:
				continue
			}
			edited := r
			edited.Messages = append([]llm.Message(nil), r.Messages...)
			edited.Messages[i] = With(m, j, edit)
			is := l.edited(t, r, edited, [2]int{i, j})
			if also != nil {
				also(p, is)
			}
		}
	}
}

// short is a text of whoever wrote m.
func short(m llm.Message) string {
	if m.Origin == llm.Note {
		return "<system-reminder>short\n</system-reminder>"
	}
	return "short\n"
}

// edited checks the request that r has become by an edit of the part in a message, and
// returns the part as it comes back.
func (l Laws) edited(t T, r, edited llm.Request, at [2]int) llm.Part {
	t.Helper()
	i, j := at[0], at[1]
	got, err := l.EncodeRequest(edited)
	if err != nil {
		t.Fatal(err)
	}
	was := r.Messages[i].Parts[j]
	own, ok := place(r.Frame.Raw, was.Bytes())
	if !ok {
		t.Fatalf("message %d part %d does not share the body's bytes", i, j)
	}
	if !alone(r.Frame.Raw, got, own) {
		t.Fatalf("message %d part %d: other bytes changed in %s", i, j, got)
	}
	again := Decoded(t, l, got)
	is := again.Messages[i].Parts[j]
	if _, call := was.(llm.ToolCall); !call || !l.NewIDs {
		whole := edited.Messages[i] // but for the part, which is another one by now
		edited.Messages[i] = With(whole, j, func(llm.Part) llm.Part { return is })
		for k, m := range again.Messages {
			if llm.DigestOf(m) != llm.DigestOf(edited.Messages[k]) {
				t.Errorf("message %d part %d: message %d says something else in %s", i, j, k, got)
			}
		}
		edited.Messages[i] = whole
	}
	switch p := is.(type) {
	case llm.ToolResult:
		if old := was.(llm.ToolResult); p.Text() != "see <r>" || p.CallID != old.CallID || p.IsError != old.IsError {
			t.Errorf("got %+v", p)
		}
	case llm.Text:
		if p.Text != short(r.Messages[i]) {
			t.Errorf("got %q", p.Text)
		}
	case llm.ToolCall:
		if p.Args != `{"y":1}` {
			t.Errorf("got %q", p.Args)
		}
	}
	return is
}

// A Cut is where both lists of a request can be cut in two: its messages, and the elements
// of the list in its body.
type Cut struct{ Message, Element int }

// Cuts are the cuts of a request of which each element is a message, or the pieces of one.
func Cuts(r llm.Request) []Cut {
	var all []Cut
	pieces, left := r.Frame.Pieces, 0 // of the element at hand that are still to come
	for i, m := range r.Messages {
		piece := m.Envelope.Raw == nil && len(r.Frame.Pieces) > 0
		if left == 0 {
			all = append(all, Cut{i, len(all)})
			if piece {
				pieces, left = pieces[1:], pieces[0]
			}
		}
		if piece {
			left--
		}
	}
	return append(all, Cut{len(r.Messages), len(all)})
}

// Removed holds law 4 for every row of messages that is taken out of a request: one comma
// goes with it, and no other byte of the body changes.
func (l Laws) Removed(t T, body []byte) {
	t.Helper()
	r := Decoded(t, l, body)
	cuts := Cuts
	if l.Cuts != nil {
		cuts = l.Cuts
	}
	at, each := cuts(r), r.Frame.Each
	for i, from := range at {
		for _, to := range at[i+1:] {
			less := r
			less.Messages = append(append([]llm.Message(nil), r.Messages[:from.Message]...), r.Messages[to.Message:]...)
			if l.Opens && i == 0 && len(less.Messages) > 0 && less.Messages[0].Role == llm.RoleAssistant {
				continue // gets a message in front
			}
			start, end := each[from.Element].Start, each[to.Element-1].End
			if from.Element > 0 {
				start = each[from.Element-1].End
			} else if to.Element < len(each) {
				end = each[to.Element].Start
			}
			want := append(append([]byte(nil), body[:start]...), body[end:]...)
			if got, err := l.EncodeRequest(less); err != nil || !json.Valid(got) || !bytes.Equal(got, want) {
				t.Fatalf("without [%d,%d): want %s\ngot  %s, %v", from.Element, to.Element, want, got, err)
			}
		}
	}
}

// An Edit is what came of a request that was changed in many places.
type Edit struct {
	Request llm.Request
	Kept    []llm.Message // those that nobody changed
	Body    []byte
	Again   llm.Request // of Body
}

// AnyEdit makes any mix of edits, removals and additions to one of the bodies. It gives a body
// that decodes again, and the same bytes again.
func (l Laws) AnyEdit(t *rapid.T, bodies []string) (e Edit) {
	t.Helper()
	r := Decoded(t, l, []byte(rapid.SampledFrom(bodies).Draw(t, "body")))
	var msgs []llm.Message
	for _, m := range r.Messages {
		switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit", "first part only"}).Draw(t, "what") {
		case "keep":
			e.Kept, msgs = append(e.Kept, m), append(msgs, m)
		case "insert":
			note := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: rapid.String().Draw(t, "note")}}}
			e.Kept, msgs = append(e.Kept, m), append(msgs, m, note)
		case "edit":
			parts := append([]llm.Part(nil), m.Parts...)
			for i, p := range parts {
				switch p := p.(type) {
				case llm.ToolResult:
					parts[i] = p.WithContent(llm.Stub{Text: rapid.String().Draw(t, "stub")})
				case llm.Text:
					parts[i] = llm.Text{Text: rapid.String().Draw(t, "text"), Raw: p.Edited()}
				}
			}
			msgs = append(msgs, m.WithParts(parts))
		case "first part only":
			msgs = append(msgs, m.WithParts(m.Parts[:min(1, len(m.Parts))]))
		}
	}
	r.Messages = msgs
	e.Request = r
	var err error
	if e.Body, err = l.EncodeRequest(r); err != nil {
		t.Fatal(err)
	}
	if e.Again, err = l.DecodeRequest(e.Body); err != nil {
		t.Fatalf("%v in %s", err, e.Body)
	}
	if twice, err := l.EncodeRequest(r); err != nil || !bytes.Equal(twice, e.Body) {
		t.Fatalf("want the same bytes again, got %s, %v", twice, err)
	}
	return e
}

// AnyRequest holds that whatever reads as a request is written back byte for byte, that it
// can be written in every other way there is, and that nobody writes to the body.
func (l Laws) AnyRequest(t T, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	r, err := l.DecodeRequest(body)
	if err != nil {
		return
	}
	if got, err := l.EncodeRequest(r); err != nil || !bytes.Equal(got, before) {
		t.Fatalf("want %q, got %q, %v", before, got, err)
	}
	for v, r := range variants(r) {
		got, err := l.EncodeRequest(r)
		if err != nil || !json.Valid(got) {
			t.Fatalf("variant %d: got %q, %v", v, got, err)
		}
		if _, err := l.DecodeRequest(got); err != nil {
			t.Fatalf("variant %d: %v in %q", v, err, got)
		}
	}
	if !bytes.Equal(body, before) {
		t.Fatal("the body was written to")
	}
}

// variants returns r edited, without its envelopes, as another dialect's, without its frame.
func variants(r llm.Request) []llm.Request {
	all := []llm.Request{r, r, r, r}
	for v := range all {
		all[v].Messages = append([]llm.Message(nil), r.Messages...)
		all[v].Tools = append([]llm.Tool(nil), r.Tools...)
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			switch p.(type) {
			case llm.ToolResult:
				all[0].Messages[i] = With(all[0].Messages[i], j, Stubbed)
			case llm.Text:
				all[0].Messages[i] = With(all[0].Messages[i], j, Retold("x"))
			case llm.ToolCall:
				all[0].Messages[i] = With(all[0].Messages[i], j, Rearmed(`{"y":1}`))
			}
		}
		all[1].Messages[i].Envelope = llm.Envelope{}
		all[2].Messages[i].Dialect = "other"
	}
	all[0].MaxOutput = 12345
	all[0].Settings.Choice = llm.Choice{Mode: llm.ChoiceNone}
	all[1].Tools = append(all[1].Tools, llm.Tool{Name: "n"})
	all[2].Dialect = "other"
	all[3].Frame = llm.Frame{}
	all[3].Messages = append(all[3].Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}})
	return all
}
