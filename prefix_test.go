package plimsoll_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// marks are the cache marks in a body. No provider compares them when it looks for a prefix.
var marks = regexp.MustCompile(`,"(cache_control|prompt_cache_breakpoint)":\{[^{}]*\}`)

// upToLastMark returns a body without marks up to the end of the message that its last one stands on, which has the text last.
func upToLastMark(t interface{ Fatalf(string, ...any) }, body []byte, last string) []byte {
	body = marks.ReplaceAll(body, nil)
	at := bytes.LastIndex(body, []byte(last))
	if at < 0 {
		t.Fatalf("%s is not in %s", last, body)
	}
	return body[:at+len(last)]
}

// TestPrefixOfTheNext: where no edit is made between two requests and no section changes, the earlier one's bytes up to its last mark begin the
// later one, in every dialect, and the later one has a mark where that was, if it was
// answered, so that the provider finds what it wrote.
func TestPrefixOfTheNext(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		policy := preset(t, rapid.SampledFrom([]string{"balanced", "layered", "guard", "turn-budget"}).Draw(rt, "policy"))
		policy.Prompt.Long = rapid.Bool().Draw(rt, "long")
		s := open(t, plimsoll.Options{
			Policy: policy, Targets: []budget.Target{{Model: rapid.SampledFrom([]string{"claude-sonnet-5", "gpt-5.6-luna", "gemini-2.5-pro"}).Draw(rt, "model")}},
			Prompt: &plimsoll.Prompt{Base: "You look after ships.", Memories: rapid.SampledFrom([]string{"", "The mate is called Ann."}).Draw(rt, "memories")},
		})
		said := 0
		says := func() string { // digits end where the next one does not begin
			said++
			return fmt.Sprintf("say %d.", said)
		}
		append1 := func(m llm.Message) {
			if err := s.Append(t.Context(), m); err != nil {
				rt.Fatal(err)
			}
		}
		var before *engine.Send
		var earlier map[llm.Dialect][]byte
		var last string
		replied := false
		for range rapid.IntRange(2, 8).Draw(rt, "requests") {
			made := len(s.Edits())
			text := says()
			rounds := rapid.IntRange(0, 2).Draw(rt, "rounds") // that nobody was asked for: of a history that was taken over
			for range rounds {
				id := says()
				call := llm.AssistantText(says(), llm.ToolCall{CallID: id, Name: "look", Args: "{}"})
				if rapid.Bool().Draw(rt, "thinks") {
					call.Parts = append([]llm.Part{llm.Thinking{Text: "hm", Signature: "c2ln"}}, call.Parts...)
				}
				append1(llm.UserText(text))
				append1(call)
				text = says()
				append1(llm.ToolText(id, text))
				if rapid.Bool().Draw(rt, "answered") {
					append1(llm.AssistantText(says()))
				}
				text = says()
			}
			if rapid.Bool().Draw(rt, "note") {
				append1(llm.NoteText(says()))
			}
			append1(llm.UserText(text))
			send, err := s.Prepare(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			bodies := map[llm.Dialect][]byte{}
			for _, c := range codecs.All() {
				body, err := codecs.Body(send.Request(), c.Dialect())
				if err != nil {
					rt.Fatal(err)
				}
				bodies[c.Dialect()] = body.JSON
				if faults := check.Request(c.Dialect(), body.JSON); len(faults) > 0 {
					rt.Fatalf("%s refuses %s: %v", c.Dialect(), body.JSON, faults)
				}
				if before == nil || made != len(s.Edits()) {
					continue
				}
				if want, got := upToLastMark(rt, earlier[c.Dialect()], last), marks.ReplaceAll(body.JSON, nil); !bytes.HasPrefix(got, want) {
					rt.Fatalf("%s: the request before is no prefix:\n%s\n%s", c.Dialect(), want, got)
				}
			}
			if replied && rounds == 0 && made == len(s.Edits()) && len(before.Marks) > 0 {
				if want := before.Marks[len(before.Marks)-1]; !slices.Contains(send.Marks, want) {
					rt.Fatalf("marks %v, want one at %v too, where the request before had its last", send.Marks, want)
				}
			}
			before, earlier, last = send, bodies, text
			if replied = rapid.Bool().Draw(rt, "a reply"); replied {
				append1(llm.AssistantText(says()))
			}
		}
	})
}
