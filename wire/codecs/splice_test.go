package codecs

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// ours reports whether a tool is none of the client's.
func ours(tool string) bool { return strings.HasPrefix(tool, "hidden_") }

func nobodys(string) bool { return false }

// finished is [codectest.Splice] and the end: as it is, or as an error, which the first Round alone
// can do without.
func finished(s wire.Splice, rounds [][]byte, cut func(n int) int) codectest.Spliced {
	got := codectest.Splice(s, rounds, cut)
	if told, ok := errors.AsType[*wire.Error](got.Err); ok && len(got.Replies) > 1 {
		got.Out = append(got.Out, s.Fail(told)...)
	} else {
		got.Out = append(got.Out, s.Finish()...)
	}
	return got
}

// gist is what a client reads of a reply: texts and thinking that stand beside each other
// are one, as most dialects have it. A dialect whose whole replies have one place for each
// has them sorted.
func gist(parts []llm.Part, sorted bool) (all []llm.Part) {
	var thinking, texts, calls []llm.Part
	join := func(list []llm.Part, p llm.Part) []llm.Part {
		if len(list) > 0 {
			switch last := list[len(list)-1].(type) {
			case llm.Text:
				if p, ok := p.(llm.Text); ok {
					list[len(list)-1] = llm.Text{Text: last.Text + p.Text}
					return list
				}
			case llm.Thinking:
				if p, ok := p.(llm.Thinking); ok {
					list[len(list)-1] = llm.Thinking{Text: last.Text + p.Text}
					return list
				}
			}
		}
		return append(list, p)
	}
	for _, p := range parts {
		list := &all
		switch x := p.(type) {
		case llm.Text:
			p, list = llm.Text{Text: x.Text}, &texts
		case llm.Thinking:
			p, list = llm.Thinking{Text: x.Text}, &thinking
		case llm.ToolCall:
			p, list = llm.ToolCall{Name: x.Name, Args: x.Args}, &calls
		}
		if !sorted {
			list = &all
		}
		*list = join(*list, p)
	}
	return append(append(append(all, thinking...), texts...), calls...)
}

// told returns the gist of a reply.
func told(r llm.Response, sorted bool) llm.Response {
	return llm.Response{Stop: r.Stop, Usage: r.Usage, Message: llm.Message{Parts: gist(r.Message.Parts, sorted)}}
}

// seen is what a client should read of some Rounds.
func seen(rounds []llm.Response, hidden func(tool string) bool, sorted bool) llm.Response {
	var want llm.Response
	var parts []llm.Part
	for _, r := range rounds {
		want.Usage = want.Usage.Add(r.Usage)
		want.Stop = r.Stop
		theirs := false
		for _, p := range r.Message.Parts {
			c, call := p.(llm.ToolCall)
			if call = call && !c.Hosted; call && hidden(c.Name) {
				continue
			}
			theirs = theirs || call
			parts = append(parts, p)
		}
		if r.Stop == llm.StopTool && !theirs {
			want.Stop = llm.StopEnd
		}
	}
	want.Message.Parts = gist(parts, sorted)
	return want
}

// genRounds draws replies of which all but the last call hidden tools alone.
func genRounds(t *rapid.T) []llm.Response {
	rounds := make([]llm.Response, rapid.IntRange(1, 3).Draw(t, "rounds"))
	id := 0
	for i := range rounds {
		r := llm.Response{
			ID: "id-" + string(rune('a'+i)), Model: "m", Stop: llm.StopEnd,
			Usage: llm.Usage{Input: rapid.IntRange(1, 1000).Draw(t, "in"), Output: rapid.IntRange(1, 1000).Draw(t, "out")},
		}
		last := i == len(rounds)-1
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			r.Message.Parts = append(r.Message.Parts, genPart(t, last, &id))
		}
		if !last || len(r.Message.Parts) == 0 {
			r.Message.Parts = append(r.Message.Parts, genCall("hidden_z", &id))
		}
		if len(r.Message.Calls()) > 0 {
			r.Stop = llm.StopTool
		}
		r.Message.Role, r.Message.Origin = llm.RoleAssistant, llm.Model
		rounds[i] = r
	}
	return rounds
}

func genPart(t *rapid.T, last bool, id *int) llm.Part {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \"\\\n{}[]é🚢")), 1, 12, -1)
	kinds := []string{"text", "thinking", "hidden_f", "hidden_g"}
	if last {
		kinds = append(kinds, "f", "g")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "text":
		return llm.Text{Text: "t" + text.Draw(t, "text")}
	case "thinking":
		return llm.Thinking{Text: "t" + text.Draw(t, "thinking"), Signature: "c2ln"}
	default:
		return genCall(kind, id)
	}
}

func genCall(name string, id *int) llm.Part {
	*id++
	return llm.ToolCall{CallID: "call_" + string(rune('a'+*id%26)) + strings.Repeat("x", *id/26), Name: name, Args: `{"a":"b\\"}`}
}

// encodedRounds returns the bytes of replies.
func encodedRounds(t codectest.T, c Full, rounds []llm.Response, streamed bool) (all [][]byte) {
	for _, r := range rounds {
		if !streamed {
			body, err := c.EncodeResponse(r)
			if err != nil {
				t.Fatalf("%v", err)
			}
			all = append(all, body)
			continue
		}
		all = append(all, codectest.Encoded(t, c, wire.Events(r)))
	}
	return all
}

// readReply reads what a client got.
func readReply(c Full, b []byte, streamed bool) (llm.Response, error) {
	if !streamed {
		return c.DecodeResponse(b)
	}
	return heard(c, b, max(len(b), 1))
}

// judged are the faults of what a client got.
func judged(c Full, b []byte, streamed bool) []check.Fault {
	if streamed {
		return check.Stream(c.Dialect(), b)
	}
	return check.Response(c.Dialect(), b)
}

// eachForm runs a test for the two forms of replies of every dialect.
func eachForm(t *testing.T, f func(t *testing.T, c Full, streamed bool)) {
	each(t, func(t *testing.T, c Full, _ llm.Dialect) {
		t.Run("streamed", func(t *testing.T) { f(t, c, true) })
		t.Run("whole", func(t *testing.T) { f(t, c, false) })
	})
}

// The replies of several Rounds become one that the dialect's rules allow: it says what is
// the client's of them, in their order, with the usage of all, however they arrive.
func TestSpliceMakesOneReply(t *testing.T) {
	eachForm(t, func(t *testing.T, c Full, streamed bool) {
		rapid.Check(t, func(t *rapid.T) {
			rounds := genRounds(t)
			bodies := encodedRounds(t, c, rounds, streamed)
			var decoded []llm.Response // as the dialect has them
			for _, b := range bodies {
				r, err := readReply(c, b, streamed)
				if err != nil {
					t.Fatalf("%v in %s", err, b)
				}
				decoded = append(decoded, r)
			}
			got := finished(c.NewSplice(ours, streamed), bodies, codectest.AtOnce)
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if faults := judged(c, got.Out, streamed); len(faults) > 0 {
				t.Fatalf("%v\n%s", faults, got.Out)
			}
			r, err := readReply(c, got.Out, streamed)
			if d := cmp.Diff(seen(decoded, ours, !streamed), told(r, !streamed)); err != nil || d != "" {
				t.Fatalf("%v (-want +got)\n%s\n%s", err, d, got.Out)
			}
			if want := decoded[0].ID; r.ID != want {
				t.Fatalf("want the id of the first Round, %s, got %s", want, r.ID)
			}
			for i := range decoded {
				if d := cmp.Diff(told(decoded[i], false), told(got.Replies[i], false)); d != "" {
					t.Fatalf("Round %d for the host (-want +got)\n%s", i, d)
				}
			}
			again := finished(c.NewSplice(ours, streamed), bodies, func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") })
			if !bytes.Equal(got.Out, again.Out) {
				t.Fatalf("cut into pieces it is another reply\n%s\n%s", got.Out, again.Out)
			}
		})
	})
}

// A reply that calls nothing hidden passes byte for byte, and at once but for its end;
// whatever was cut off or changed on the way passes, too.
func TestSpliceLeavesTheFirstReplyAlone(t *testing.T) {
	eachForm(t, func(t *testing.T, c Full, streamed bool) {
		rapid.Check(t, func(t *rapid.T) {
			body := encodedRounds(t, c, genRounds(t)[:1], streamed)[0]
			switch rapid.IntRange(0, 3).Draw(t, "harm") {
			case 1:
				body = body[:rapid.IntRange(0, len(body)).Draw(t, "cut off")]
			case 2:
				body[rapid.IntRange(0, len(body)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
			case 3:
				body = append(body, rapid.SampledFrom([]string{"\r", "data: {", "x", ": comment\n\n", "[DONE]", "\n\n\n"}).Draw(t, "more")...)
			}
			got := finished(c.NewSplice(nobodys, streamed), [][]byte{body}, func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") })
			if !bytes.Equal(got.Out, body) {
				t.Fatalf("want\n%q\ngot\n%q", body, got.Out)
			}
			_, err := readReply(c, body, streamed)
			if (err == nil) != (got.Err == nil) && !errors.Is(got.Err, wire.ErrUnspliced) {
				t.Fatalf("want the error %v, got %v", err, got.Err)
			}
		})
	})
}

// What is the client's is there as soon as the provider has written it.
func TestSpliceHoldsNothingBack(t *testing.T) {
	each(t, func(t *testing.T, c Full, _ llm.Dialect) {
		call := llm.Response{ID: "a", Model: "m", Stop: llm.StopTool, Message: llm.Message{Parts: []llm.Part{
			llm.Text{Text: "first"}, llm.ToolCall{CallID: "c1", Name: "hidden_f", Args: "{}"},
		}}}
		answer := llm.Response{ID: "b", Model: "m", Stop: llm.StopEnd, Message: llm.Message{Parts: []llm.Part{llm.Text{Text: "second"}, llm.ToolCall{CallID: "c2", Name: "f", Args: "{}"}}}}
		bodies := encodedRounds(t, c, []llm.Response{call, answer}, true)
		s := c.NewSplice(ours, true)
		// at returns the bytes up to the end of the frame that has a text.
		at := func(b []byte, text string) int {
			i := bytes.Index(b, []byte(text))
			return i + bytes.IndexByte(b[i:], '\n') + 2
		}
		feed := func(b []byte) string {
			out, err := s.Write(b)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		n := at(bodies[0], "first")
		contains(t, feed(bodies[0][:n]), "first")
		without(t, feed(bodies[0][n:]), "hidden_f")
		if _, err := s.EndRound(); err != nil {
			t.Fatal(err)
		}
		s.Next()
		n = at(bodies[1], "second")
		contains(t, feed(bodies[1][:n]), "second")
	})
}

// A Round that fails ends the reply with the dialect's own error.
func TestSpliceFails(t *testing.T) {
	eachForm(t, func(t *testing.T, c Full, streamed bool) {
		call := llm.Response{ID: "a", Model: "m", Stop: llm.StopTool, Usage: llm.Usage{Input: 1, Output: 1}, Message: llm.Message{Parts: []llm.Part{
			llm.Text{Text: "first"}, llm.ToolCall{CallID: "c1", Name: "hidden_f", Args: "{}"},
		}}}
		bodies := encodedRounds(t, c, []llm.Response{call}, streamed)
		overloaded := &wire.Error{Class: wire.Overloaded, Message: "busy"}
		refusal := c.NewEncoder().AppendError(nil, overloaded)
		if !streamed {
			_, refusal = c.EncodeError(overloaded)
		}
		s := c.NewSplice(ours, streamed)
		got := codectest.Splice(s, append(bodies, refusal), codectest.AtOnce)
		e, ok := errors.AsType[*wire.Error](got.Err)
		if !ok || e.Message != "busy" {
			t.Fatalf("want the provider's error, got %v", got.Err)
		}
		got.Out = append(got.Out, s.Fail(e)...)
		if streamed {
			contains(t, string(got.Out), "first", "busy")
			if faults := check.Stream(c.Dialect(), got.Out); len(faults) > 0 {
				t.Errorf("%v\n%s", faults, got.Out)
			}
		}
		without(t, string(got.Out), "hidden_f")
		_, err := readReply(c, got.Out, streamed)
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Message != "busy" {
			t.Errorf("want a client to read the error, got %v in %s", err, got.Out)
		}
	})
}

// A second Round that breaks off says so to the host, and nothing of a hidden call reaches
// the client.
func TestSpliceOfALaterRoundThatIsCut(t *testing.T) {
	eachForm(t, func(t *testing.T, c Full, streamed bool) {
		call := llm.Response{ID: "a", Model: "m", Stop: llm.StopTool, Message: llm.Message{Parts: []llm.Part{llm.ToolCall{CallID: "c1", Name: "hidden_f", Args: "{}"}}}}
		bodies := encodedRounds(t, c, []llm.Response{call, call}, streamed)
		for n := range bodies[1] {
			got := finished(c.NewSplice(ours, streamed), [][]byte{bodies[0], bodies[1][:n]}, codectest.AtOnce)
			_, err := readReply(c, bodies[1][:n], streamed)
			if (err == nil) != (got.Err == nil) || streamed && err != nil && !errors.Is(got.Err, wire.ErrCut) {
				t.Fatalf("cut at %d: want %v, got %v", n, err, got.Err)
			}
			without(t, string(got.Out), "hidden_f")
		}
	})
}

// fuzzSplice tries replies of one dialect.
func fuzzSplice(f *testing.F, d llm.Dialect) {
	c := codecOf(f, d)
	call := llm.Response{ID: "a", Model: "m", Stop: llm.StopTool, Usage: llm.Usage{Input: 5, Output: 6}, Message: llm.Message{Parts: []llm.Part{
		llm.Text{Text: "first"}, llm.ToolCall{CallID: "c1", Name: "hidden_f", Args: `{"a":1}`}, llm.ToolCall{CallID: "c2", Name: "f", Args: "{}"},
	}}}
	for _, streamed := range []bool{true, false} {
		bodies := encodedRounds(f, c, []llm.Response{call, reply}, streamed)
		f.Add(bodies[0], bodies[1], 7, streamed)
		f.Add(bodies[1], bodies[0], 1, streamed)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, size int, streamed bool) {
		pieces := func(n int) int { return min(n, max(size, 1)) }
		if got := finished(c.NewSplice(nobodys, streamed), [][]byte{first}, pieces); !bytes.Equal(got.Out, first) {
			t.Fatalf("want the first reply as it came, got\n%q", got.Out)
		}
		rounds := [][]byte{first, second}
		one, other := finished(c.NewSplice(ours, streamed), rounds, pieces), finished(c.NewSplice(ours, streamed), rounds, codectest.AtOnce)
		if !bytes.Equal(one.Out, other.Out) || (one.Err == nil) != (other.Err == nil) {
			t.Fatalf("in pieces of %d: %v\n%q\nat once: %v\n%q", size, one.Err, one.Out, other.Err, other.Out)
		}
		broken := c.NewSplice(ours, streamed)
		codectest.Splice(broken, rounds, pieces)
		broken.Fail(&wire.Error{Class: wire.Timeout})
	})
}

func FuzzSpliceAnthropic(f *testing.F) { fuzzSplice(f, "anthropic") }

func FuzzSpliceChat(f *testing.F) { fuzzSplice(f, "openai-chat") }

func FuzzSpliceResponses(f *testing.F) { fuzzSplice(f, "openai-responses") }

func FuzzSpliceGemini(f *testing.F) {
	array := `[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"hidden_f"}}]}}]},{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}]`
	f.Add([]byte(array), []byte(array), 3, true)
	fuzzSplice(f, "gemini")
}

func FuzzSpliceOllama(f *testing.F) { fuzzSplice(f, "ollama") }
