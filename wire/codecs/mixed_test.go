package codecs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// mixed is a conversation in the dialects that have results and text in one wire message.
// Its last message has, beside the result of the call c, the texts that follow.
var mixed = map[llm.Dialect]struct{ before, text, after string }{
	"anthropic": {
		`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
			`{"role":"user","content":[ {"type":"tool_result","tool_use_id":"c","content":"out"}`,
		` ,{"type":"text","text":%q}`, ` ]}]}`,
	},
	"gemini": {
		`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}}}]},` +
			`{"role":"user","parts":[ {"functionResponse":{"id":"c","name":"f","response":{"output":"out"}}}`,
		` ,{"text":%q}`, ` ]}]}`,
	},
}

func mixedBody(d llm.Dialect, texts ...string) string {
	m := mixed[d]
	body := m.before
	for _, text := range texts {
		body += fmt.Sprintf(m.text, text)
	}
	return body + m.after
}

const (
	reminder = "<system-reminder>The file has changed.</system-reminder>"
	steered  = "<system-reminder>\nThe user sent the following message:\nStop.\n</system-reminder>"
)

// What stands beside results is a person's or a client's, not a tool's: law 8 pins a person's
// words, and only they open a Turn.
func TestWhoSpeaksBesideResults(t *testing.T) {
	for d := range mixed {
		for _, tt := range []struct {
			name  string
			texts []string
			want  string // origins of the messages from the result on
			turns int
		}{
			{"nobody", nil, "tool", 1},
			{"a person", []string{"Stop."}, "tool human", 2},
			{"a client", []string{reminder}, "tool note", 1},
			{"a client, then a person", []string{reminder, reminder, "Stop.", "Now."}, "tool note human", 2},
			{"a person in a client's words", []string{steered, reminder}, "tool human note", 2},
			{"blank text", []string{" "}, "tool", 1},
		} {
			t.Run(string(d)+"/"+tt.name, func(t *testing.T) {
				r := decoded(t, d, mixedBody(d, tt.texts...))
				var x turn.Index
				var origins []string
				for i, m := range r.Messages {
					if err := x.Append(m); err != nil {
						t.Fatal(err)
					}
					if i >= 2 {
						origins = append(origins, m.Origin.String())
					}
				}
				if got := strings.Join(origins, " "); got != tt.want || len(x.Turns()) != tt.turns {
					t.Errorf("got %s in %d Turns, want %s in %d", got, len(x.Turns()), tt.want, tt.turns)
				}
			})
		}
	}
}

// An image beside results is a tool's, but where results have images of their own one before a
// person's words is that person's: what takes the outputs of tools out leaves it.
func TestWhoseImageBesideResults(t *testing.T) {
	images := map[llm.Dialect]string{
		"anthropic": ` ,{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`,
		"gemini":    ` ,{"inlineData":{"mimeType":"image/png","data":"QUJD"}}`,
	}
	for d, m := range mixed {
		text := func(s string) string { return fmt.Sprintf(m.text, s) }
		for _, tt := range []struct{ name, beside, anthropic, gemini string }{ // parts of each message from the result on
			{"before words", images[d] + images[d] + text("As here."), "tool 1 human 3", "tool 3 human 1"},
			{"before a reminder", images[d] + text(reminder), "tool 2 note 1", "tool 2 note 1"},
			{"behind words", text("As here.") + images[d], "tool 1 human 2", "tool 1 human 2"},
			{"between", text(reminder) + images[d] + text("As here."), "tool 1 note 1 human 2", "tool 1 note 2 human 1"},
			{"alone", images[d], "tool 2", "tool 2"},
		} {
			t.Run(string(d)+"/"+tt.name, func(t *testing.T) {
				want := tt.anthropic
				if d == "gemini" {
					want = tt.gemini
				}
				body := m.before + tt.beside + m.after
				r := decoded(t, d, body)
				var got []string
				for _, m := range r.Messages[2:] {
					got = append(got, m.Origin.String(), fmt.Sprint(len(m.Parts)))
				}
				if got := strings.Join(got, " "); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if got := encoded(t, d, r); got != body {
					t.Errorf("untouched: got %s", got)
				}
			})
		}
	}
}

// What came in one wire message leaves in one, in its own bytes but for what was edited; and
// where a piece has gone the others leave without it, results first.
func TestPiecesOfOneWireMessage(t *testing.T) {
	note := llm.NoteText("Aside.")
	short := llm.Stub{Text: "short"}
	for d := range mixed {
		r := decoded(t, d, mixedBody(d, reminder, "Stop."))
		result, added, said := r.Messages[2], r.Messages[3], r.Messages[4]
		cleared := result.WithParts([]llm.Part{result.Results()[0].WithContent(short)})
		whole := mixedBody(d, reminder, "Stop.")
		tight := func(body string) string { // as a message is that was written here
			at := strings.LastIndex(body, "[ ")
			return body[:at] + strings.NewReplacer("[ ", "[", " ]", "]", " ,", ",").Replace(body[at:])
		}
		for _, tt := range []struct {
			name string
			msgs []llm.Message
			want string
		}{
			{"untouched", []llm.Message{result, added, said}, whole},
			{"an output is short", []llm.Message{cleared, added, said}, strings.Replace(whole, `"out"`, `"short"`, 1)},
			{"a note behind", []llm.Message{result, added, said, note}, ""},
			{"the reminder has gone", []llm.Message{result, said}, tight(mixedBody(d, "Stop."))},
			{"the words have gone", []llm.Message{result, added}, tight(mixedBody(d, reminder))},
			{"only the result", []llm.Message{result}, tight(mixedBody(d))},
			{"a note between", []llm.Message{cleared, note, said}, tight(strings.Replace(mixedBody(d, "Aside.", "Stop."), `"out"`, `"short"`, 1))},
			{"turned round", []llm.Message{said, added, result}, tight(mixedBody(d, "Stop.", reminder))},
		} {
			t.Run(string(d)+"/"+tt.name, func(t *testing.T) {
				edited := r
				edited.Messages = append(r.Messages[:2:2], tt.msgs...)
				got := encoded(t, d, edited)
				if tt.want != "" && got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				if tt.want == "" && !strings.HasPrefix(got, strings.TrimSuffix(whole, "]}")+",") {
					t.Errorf("got %s, want what came as it came, and more", got)
				}
				edited.Frame = llm.Frame{}
				if again := decoded(t, d, encoded(t, d, edited)); len(again.Frame.Each) != 3 {
					t.Errorf("without the frame: %d wire messages, want 3: all that the user's side says is one", len(again.Frame.Each))
				}
			})
		}
	}
}

// A speech draws wire messages of one dialect.
type speech struct {
	role                              string // of the model
	list, content                     string // names of members
	text, image, thinking, call, done string // with %[1]s for the id of a call or the text, as JSON
	within                            string // done with a person's words in it; empty: nobody puts them there
}

var speeches = map[llm.Dialect]speech{
	"anthropic": {
		role: "assistant", list: "messages", content: "content",
		text: `{"type":"text","text":%[1]s}`, image: `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`,
		thinking: `{"type":"thinking","thinking":"hm","signature":"c2ln"}`,
		call:     `{"type":"tool_use","id":%[1]s,"name":"f","input":{}}`, done: `{"type":"tool_result","tool_use_id":%[1]s,"content":"out"}`,
		within: `{"type":"tool_result", "tool_use_id":%[1]s,"content":"out\n` + wordsWithin + `"}`,
	},
	"gemini": {
		role: "model", list: "contents", content: "parts",
		text: `{"text":%[1]s}`, image: `{"inlineData":{"mimeType":"image/png","data":"QUJD"}}`,
		thinking: `{"text":"hm","thought":true}`,
		call:     `{"functionCall":{"id":%[1]s,"name":"f","args":{}},"thoughtSignature":"c2ln"}`, done: `{"functionResponse":{"id":%[1]s,"name":"f","response":{"output":"out"}}}`,
	},
}

// draw returns a body in which results, people, clients and images share wire messages.
func (s speech) draw(t *rapid.T) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n "}).Draw(t, "space") }
	message := func(role string, blocks []string) string {
		return `{"role":"` + role + `",` + space() + `"` + s.content + `":[` + space() + strings.Join(blocks, space()+","+space()) + space() + "]}"
	}
	say := func(text string) string { return fmt.Sprintf(s.text, strconv.Quote(text)) }
	all := []string{message("user", []string{say("go")})}
	for n := range rapid.IntRange(1, 4).Draw(t, "rounds") {
		var calls, answers []string
		if rapid.Bool().Draw(t, "thinks") {
			calls = append(calls, s.thinking)
		}
		for i := range rapid.IntRange(1, 2).Draw(t, "calls") {
			id := fmt.Sprintf(`"c%d_%d"`, n, i)
			done := s.done
			if s.within != "" && rapid.Bool().Draw(t, "within") {
				done = s.within
			}
			calls, answers = append(calls, fmt.Sprintf(s.call, id)), append(answers, fmt.Sprintf(done, id))
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "beside") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				answers = append(answers, s.image)
			case 1:
				answers = append(answers, say(reminder))
			case 2:
				answers = append(answers, say("The same."))
			case 3:
				answers = append(answers, say(fmt.Sprintf("Words %d.%d.", n, i)))
			}
		}
		all = append(all, message(s.role, calls), message("user", answers))
	}
	return `{"model":"m","max_tokens":9,"` + s.list + `":[` + space() + strings.Join(all, space()+","+space()) + space() + "]}"
}

// TestLaw4MixedMessages: whatever stands in one wire message, an untouched request is the
// very body; and whatever an engine does to its pieces, the same bytes leave each time, with
// every part that stays and nothing that a provider refuses, and no piece leaves alone.
func TestLaw4MixedMessages(t *testing.T) {
	for d, s := range speeches {
		t.Run(string(d), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				codec, _ := For(d)
				body := []byte(s.draw(t))
				r, err := codec.DecodeRequest(body)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := codec.EncodeRequest(r); err != nil || &got[0] != &body[0] || len(got) != len(body) {
					t.Fatalf("want the body itself, got %s, %v", got, err)
				}
				wires := len(r.Frame.Each)
				var notes int
				r.Messages, notes = handled(t, r.Messages)
				got, err := codec.EncodeRequest(r)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := codec.EncodeRequest(r); err != nil || string(again) != string(got) {
					t.Fatalf("want the same again, got %s, %v", again, err)
				}
				unlike := r
				unlike.Frame = llm.Frame{}
				fresh, err := codec.EncodeRequest(unlike)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range [][]byte{got, fresh} {
					if faults := check.Request(d, b); len(faults) > 0 {
						t.Fatalf("%v in %s", faults, b)
					}
					for _, m := range r.Messages {
						for _, p := range m.Parts {
							if bytes.Contains(body, p.Bytes()) && !bytes.Contains(b, p.Bytes()) { // else it was cut out
								t.Fatalf("%s is not in %s", p.Bytes(), b)
							}
						}
					}
					if read, err := codec.DecodeRequest(b); err != nil || len(read.Frame.Each) < wires || len(read.Frame.Each) > wires+notes {
						t.Fatalf("%d wire messages, %v, want %d and at most %d notes: %s", len(read.Frame.Each), err, wires, notes, b)
					}
				}
			})
		})
	}
}

// handled returns messages with what an engine may do to them: outputs cleared, texts of
// people and clients taken out, notes put in behind results.
func handled(t *rapid.T, msgs []llm.Message) (out []llm.Message, notes int) {
	for i, m := range msgs {
		what := rapid.IntRange(0, 3).Draw(t, "fate")
		switch {
		case i == 0 || m.Origin == llm.Model || what == 0:
			out = append(out, m)
		case m.Origin != llm.ToolRun && what == 1: // gone
		case m.Origin == llm.ToolRun && what == 1:
			parts := slices.Clone(m.Parts)
			for k, p := range parts {
				if r, ok := p.(llm.ToolResult); ok {
					parts[k] = r.WithContent(llm.Stub{Text: "short"})
				}
			}
			out = append(out, m.WithParts(parts))
		case what == 2:
			out, notes = append(out, m, llm.NoteText("Aside.")), notes+1
		default:
			out = append(out, m)
		}
	}
	return out, notes
}
