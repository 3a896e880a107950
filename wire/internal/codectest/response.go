package codectest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// UntouchedReply is [Laws.Untouched] of a reply that was not streamed.
func (l Laws) UntouchedReply(t T, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	got, err := l.EncodeResponse(Reply(t, l, body))
	if err != nil || !bytes.Equal(got, before) {
		t.Fatalf("want %s\ngot  %s, %v", before, got, err)
	}
	if &got[0] != &body[0] {
		t.Error("want the body itself, got a copy")
	}
}

// EachReplyEdit is [Laws.EachEdit] of a reply that was not streamed.
func (l Laws) EachReplyEdit(t T, body []byte) {
	t.Helper()
	r := Reply(t, l, body)
	for j, p := range r.Message.Parts {
		var edit func(llm.Part) llm.Part
		switch p := p.(type) {
		case llm.Text:
			edit = Retold("short\n")
		case llm.ToolCall:
			if p.Hosted {
				continue
			}
			edit = Rearmed(`{"y":1}`)
		default:
			continue
		}
		edited := r
		edited.Message = With(r.Message, j, edit)
		got, err := l.EncodeResponse(edited)
		if err != nil || !json.Valid(got) {
			t.Fatalf("%v in %s", err, got)
		}
		if !within(body, got, p) {
			t.Fatalf("part %d: other bytes changed in %s", j, got)
		}
		for k, q := range Reply(t, l, got).Message.Parts {
			text, isText := q.(llm.Text)
			call, isCall := q.(llm.ToolCall)
			if k == j && !(isText && text.Text == "short\n") && !(isCall && call.Args == `{"y":1}`) {
				t.Errorf("part %d: got %+v", j, q)
			}
			if k != j && !bytes.Equal(q.Bytes(), r.Message.Parts[k].Bytes()) {
				t.Errorf("part %d changed with part %d", k, j)
			}
		}
	}
}

// within reports whether got is body but for bytes of part p of it. A part that goes back in
// other bytes than it came in, such as a call without arguments, has no place in body: then
// what has changed is something that it says.
func within(body, got []byte, p llm.Part) bool {
	if at, ok := place(body, p.Bytes()); ok {
		return alone(body, got, at)
	}
	head, tail := 0, 0
	for head < min(len(body), len(got)) && body[head] == got[head] {
		head++
	}
	for tail < min(len(body), len(got))-head && body[len(body)-1-tail] == got[len(got)-1-tail] {
		tail++
	}
	return bytes.Contains(p.Bytes(), body[head:len(body)-tail])
}

// A Change is an edit of a reply, and what it replaces in the body.
type Change struct {
	Name     string
	Edit     func(*llm.Response)
	Old, New string
}

// EachChange holds that a change of a reply replaces what it has to and nothing else.
func (l Laws) EachChange(t *testing.T, body string, changes []Change) {
	for _, x := range changes {
		t.Run(x.Name, func(t *testing.T) {
			r := Reply(t, l, []byte(body))
			x.Edit(&r)
			want := strings.Replace(body, x.Old, x.New, 1)
			if got, err := l.EncodeResponse(r); err != nil || string(got) != want {
				t.Errorf("want %s\ngot  %s, %v", want, got, err)
			}
		})
	}
}

// GoesBack holds law 4 for a reply that is appended to a conversation, whose body so far is
// given: it goes back in the bytes that it came in.
func (l Laws) GoesBack(t T, conversation string, reply []byte) {
	t.Helper()
	m, next := Reply(t, l, reply).Message, Decoded(t, l, []byte(conversation))
	next.Messages = append(next.Messages, m)
	got, err := l.EncodeRequest(next)
	if err != nil {
		t.Fatal(err)
	}
	again := Decoded(t, l, got)
	if len(m.Parts) > 0 && llm.DigestOf(again.Messages[len(again.Messages)-1]) != llm.DigestOf(m) {
		t.Errorf("want the same message and call ids, got %s", got)
	}
	for _, p := range m.Parts {
		if !bytes.Contains(got, p.Bytes()) {
			t.Errorf("want %s in %s", p.Bytes(), got)
		}
	}
}

// AnyReply is [Laws.AnyRequest] of what reads as a reply.
func (l Laws) AnyReply(t T, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	r, err := l.DecodeResponse(body)
	if err != nil {
		return
	}
	if got, err := l.EncodeResponse(r); err != nil || !bytes.Equal(got, before) {
		t.Fatalf("want %q, got %q, %v", before, got, err)
	}
	for v, x := range replyVariants(r) {
		got, err := l.EncodeResponse(x)
		if err != nil || !json.Valid(got) {
			t.Fatalf("variant %d: got %q, %v", v, got, err)
		}
		if _, err := l.DecodeResponse(got); err != nil {
			t.Fatalf("variant %d: %v in %q", v, err, got)
		}
	}
	if !bytes.Equal(body, before) {
		t.Fatal("the body was written to")
	}
}

// replyVariants returns r edited, shortened, with more before and behind it, without its bytes,
// as another dialect's, and with other figures.
func replyVariants(r llm.Response) []llm.Response {
	all := []llm.Response{r, r, r, r, r, r, r, r}
	for v := range all {
		all[v].Message.Parts = slices.Clone(r.Message.Parts)
	}
	for i, p := range r.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			all[0].Message.Parts[i] = Retold("x")(p)
		case llm.ToolCall:
			all[0].Message.Parts[i] = Rearmed(`{"y":1}`)(p)
		}
	}
	more := llm.Text{Text: "x"}
	all[1].Message.Parts = all[1].Message.Parts[len(r.Message.Parts)/2:]
	all[2].Raw = nil
	all[3].Dialect, all[3].Raw = "other", nil
	all[4].ID, all[4].Model, all[4].Usage, all[4].Stop, all[4].Reason = "i", "m", llm.Usage{Output: 1}, llm.StopLength, ""
	all[5].ID, all[5].Model, all[5].Usage.Output, all[5].Message.Parts = "new", "new", 77, append(all[5].Message.Parts, more)
	all[6].ID, all[6].Usage.Input, all[6].Message.Parts = "other", r.Usage.Input+1, append([]llm.Part{more}, all[6].Message.Parts...)
	all[7].Dialect, all[7].Message.Dialect = "other", "other"
	return all
}

// AnyError holds that whatever an error body is, what it says has figures that can be, it
// keeps its bytes, and without them it is written as JSON. It returns the status that goes with that.
func AnyError(t T, c wire.Refuser, status int, body []byte) int {
	t.Helper()
	e := c.DecodeError(status, body)
	if e == nil || e.Used < 0 || e.Window < 0 || e.RetryAfter < 0 || !bytes.Equal(e.Body, body) {
		t.Fatalf("got %+v", e)
	}
	e.Body = nil
	status, out := c.EncodeError(e)
	if !json.Valid(out) {
		t.Fatalf("got %d %q", status, out)
	}
	return status
}
