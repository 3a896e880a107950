package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// bodyIn returns the client's request in a dialect.
func (c *talk) bodyIn(d llm.Dialect, indented bool) ([]byte, error) {
	codec, _ := codecs.For(d)
	body, err := codec.EncodeRequest(llm.Request{
		Model: "scripted", MaxOutput: 500, Messages: c.history, Sections: []llm.Section{{Text: c.system}},
		Tools: []llm.Tool{{Name: "read", Description: "Does it.", Schema: `{"type":"object"}`}},
	})
	if err != nil || !indented {
		return body, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, body, "", "  ")
	return out.Bytes(), err
}

// dialects are all that there are.
func dialects() (all []llm.Dialect) {
	for _, c := range codecs.All() {
		all = append(all, c.Dialect())
	}
	return all
}

// TestReadsWhatIsNew: of a conversation that goes on only what is new is read, also behind
// a message in which several speak.
func TestReadsWhatIsNew(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d), func(t *testing.T) {
			g := begin(t, nil)
			c := newTalk(t, "Read them.").reads(300)
			before := 0
			for n := range 5 {
				if c.reads(20); n%2 == 1 { // beside the output, where the dialect has it so
					c.says(fmt.Sprintf("And mind %d.", n))
				}
				body, err := c.bodyIn(d, false)
				must(t, err)
				links, r, known, err := g.Read(t.Context(), gateway.Call{Provider: "p", Model: "scripted", Dialect: d, Body: body})
				must(t, err)
				if known != before || known+len(r.Messages) != len(links) {
					t.Errorf("of %d messages %d were known and %d read, want %d known", len(links), known, len(r.Messages), before)
				}
				before = len(links)
			}
		})
	}
}

// TestReadsWhatIsNewWithin: so it is behind an output that has a person's words in it, as Claude
// Code puts them there.
func TestReadsWhatIsNewWithin(t *testing.T) {
	const typed = `\n\n<system-reminder>\nThe user sent a new message while you were working:\nMind it.\n</system-reminder>`
	g := begin(t, nil)
	c := newTalk(t, "Read them.").reads(300)
	before := 0
	for n := range 4 {
		c.reads(20)
		body, err := c.bodyIn(anthropic.Dialect, false)
		must(t, err)
		first := gjson.GetBytes(body, "messages.2.content.0.content")
		body = slices.Concat(body[:first.Index+len(first.Raw)-1], []byte(typed), body[first.Index+len(first.Raw)-1:])
		links, r, known, err := g.Read(t.Context(), gateway.Call{Provider: "p", Dialect: anthropic.Dialect, Body: body})
		must(t, err)
		if known != before || known+len(r.Messages) != len(links) || len(links) != 2*(n+2)+2 {
			t.Errorf("of %d messages %d were known and %d read, want %d known", len(links), known, len(r.Messages), before)
		}
		before = len(links)
	}
}

// TestReadTheSame: whatever a client does with its history, and whatever was read before, a
// request is read as it is by who sees it first.
func TestReadTheSame(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				g := begin(t, nil)
				c := &fickle{talk: newTalk(t, "Read them.").reads(300)}
				indented := rapid.Bool().Draw(rt, "indented")
				for range rapid.IntRange(1, 12).Draw(rt, "requests") {
					c.change(rt)
					body, err := c.bodyIn(d, indented)
					must(t, err)
					if c.marks && d == anthropic.Dialect {
						body = marked(t, body, len(gjson.GetBytes(body, "messages").Array())-1)
					}
					sameReading(rt, g, begin(t, nil), gateway.Call{Provider: "p", Model: "scripted", Dialect: d, Body: body})
				}
			})
		})
	}
}

// TestReadLateResult: a result without an id, of a call that another request has brought.
func TestReadLateResult(t *testing.T) {
	begun := `{"model":"m","messages":[{"role":"user","content":"` + output(1, 300) + `"},` +
		`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"1.txt"}}}]},{"role":"user","content":"Well?"}`
	begun = strings.ReplaceAll(begun, "\n", " ")
	g := begin(t, nil)
	for _, more := range []string{"", `,{"role":"assistant","content":"A moment."},{"role":"tool","tool_name":"read","content":"one"}`} {
		c := gateway.Call{Provider: "p", Dialect: "ollama", Body: []byte(begun + more + "]}")}
		got, _, _, err := g.Read(t.Context(), c)
		must(t, err)
		want, _, _, err := begin(t, nil).Read(t.Context(), c)
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: was read as another request", more)
		}
	}
}

// TestReadAtOnce: requests that go on from the same one in different ways are read at the
// same time.
func TestReadAtOnce(t *testing.T) {
	g := begin(t, nil)
	c := newTalk(t, "Read them.").reads(300).reads(2)
	_, _, _, err := g.Read(t.Context(), c.call())
	must(t, err)
	one, other := c.other().reads(1).call(), c.other().reads(2).call()
	got := g.ReadAtOnce(one, other)
	for i, call := range []gateway.Call{one, other} {
		want, _, _, err := begin(t, nil).Read(t.Context(), call)
		must(t, err)
		if !slices.Equal(got[i], want) {
			t.Errorf("request %d was read as another one", i)
		}
	}
}

// sameReading fails unless g reads a call as one does that has read nothing.
func sameReading(t *rapid.T, g, blank *gateway.Gateway, c gateway.Call) {
	links, r, known, err := g.Read(t.Context(), c)
	want, all, _, wantErr := blank.Read(t.Context(), c)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(links, want) {
		t.Fatalf("want %d messages and error %v, got %d and %v", len(want), wantErr, len(links), err)
	}
	if err != nil {
		return
	}
	told := func(r llm.Request, from int) string {
		r.Messages, r.Frame = r.Messages[from:], llm.Frame{}
		return fmt.Sprintf("%+v", r)
	}
	if got, want := told(r, 0), told(all, known); got != want {
		t.Fatalf("from message %d on: want %s\ngot %s", known, want, got)
	}
}

// A fickle client does all sorts of things to its history.
type fickle struct {
	*talk
	marks bool         // it marks the end of each request for the cache
	late  *llm.Message // results that it brings with its next request
}

// change is something that it does before its next request.
func (c *fickle) change(t *rapid.T) {
	if c.late != nil && rapid.Bool().Draw(t, "brings the results") {
		if rapid.Bool().Draw(t, "after an answer") {
			c.answered("One moment.")
		}
		c.history, c.late = append(c.history, *c.late), nil
	}
	n := len(c.history)
	switch rapid.SampledFrom([]string{"round", "round", "two calls", "answer", "says", "again", "late", "back", "other", "mark"}).Draw(t, "change") {
	case "round":
		c.reads(rapid.IntRange(1, 40).Draw(t, "lines"))
	case "two calls":
		c.reads(2).reads(3)
		calls, results := c.history[n], c.history[n+1]
		calls.Parts = append(slices.Clone(calls.Parts), c.history[n+2].Parts...)
		results.Parts = append(slices.Clone(results.Parts), c.history[n+3].Parts...)
		c.history = append(c.history[:n], calls, results)
	case "answer":
		c.answered("So it is.").says("And what of this?")
	case "says":
		c.says("Wait.")
	case "late":
		c.reads(2)
		c.late, c.history = &c.history[n+1], c.history[:n+1:n+1]
	case "back":
		c.back(min(n-3, rapid.IntRange(1, 4).Draw(t, "messages")))
	case "other":
		c.history[rapid.IntRange(0, n-1).Draw(t, "message")] = newTalk(c.t, "Rather this.").history[0]
	case "mark":
		c.marks = !c.marks
	}
}
