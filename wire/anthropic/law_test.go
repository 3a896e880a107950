package anthropic

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// oddBodies are bodies as no encoder of ours would write them.
var oddBodies = []string{
	`{"messages":[]}`,
	" \r\n\t{ \"messages\" :\t[ { \"content\" : \"a\" ,\r\n\"role\":\"user\" } ,\n\n{\"role\" : \"assistant\", \"content\" : [ ] } ] , \"n\":1.0e+3 } \n",
	`{"model":"m","messages":[{"role":"user","content":"\ud800 \u00e4 \/ \ud83d\ude00"},{"role":"assistant","content":[{"type":"text","text":"\u0000\ud800"}]}],"temperature":1E-0}`,
	`{"messages":[1],"model":"no","messages":[{"role":"user","role":"user","content":5,"content":"yes"}],"model":"m","max_tokens":1.0e+3}`,
	`{"\u006dessages":[{"r\u006fle":"user","content":"x"}],"max_tokens":-5,"system":null,"tools":null}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"` + "\xff\xfe" + `"}]}],"system":"","tools":[]}`,
	`{"system":[ {"type":"text","text":"a"} , {"type":"other"} ],"tools":[ {"name":"f"} ,{"type":"x_20250101"}],"messages":[` +
		`{"role":"user","content":"go"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"t"},{"type":"tool_use","id":"a","name":"f","input":{"b":1,"a":1.0e+3}},{"type":"tool_use","id":"b","name":"f","input":{}},{"type":"server_tool_use","id":"h","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"h","content":[]}]} , ` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"}, {"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"two"},{"type":"tool_reference","tool_name":"g"}],"is_error":true},{"type":"text","text":"and"}]},` +
		`{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"tool_use","id":"c","name":"f","input":{}}]},` + "\n" +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]},` +
		`{"role":"system","content":"note"},{"role":"assistant","content":"done"}]}`,
	mixedBody,
}

// mixedBody has messages in which people, clients and tools speak, as clients send them and
// as none does.
const mixedBody = `{"messages":[ {"role":"user","content":"go"},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},` + "\n" +
	`{"x":[1.0],"content":[{"type":"tool_result","tool_use_id":"a","content":"one"} ,{"tool_use_id":"b","type":"tool_result","content":[{"type":"image","source":{"type":"url","url":"u"}}]},{"type":"image","source":{"type":"url","url":"v"}},` +
	` {"type":"text","text":"<system-reminder>t\u006fdo</system-reminder>"},{"type":"text","text":"leave it"},{"type":"image","source":{"type":"url","url":"w"},"cache_control":{"type":"ephemeral"}}],"content_":0,"role":"user" } ,` +
	`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}},{"type":"tool_use","id":"d","name":"f","input":{}}]},` +
	`{"role":"user","content":[{"type":"text","text":"before"},{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"between"},{"type":"text","text":" "},{"type":"tool_result","tool_use_id":"d","content":""},{"type":"other"},{"type":"text","text":""}]},` +
	`{"role":"user","content":[{"type":"text","text":"leave it"}]},` +
	`{"role":"assistant","content":[{"type":"tool_use","id":"e","name":"f","input":{}}]},` +
	`{"role":"user","content":5,"content":[{"type":"tool_result","tool_use_id":"e"},{"type":"text","text":"leave it","cache_control":null}]}]}`

// bodies calls f for every odd body and, where the corpus is there, for every body in it.
func bodies(t *testing.T, f func(t *testing.T, body []byte)) {
	for _, body := range oddBodies {
		t.Run("odd", func(t *testing.T) { f(t, []byte(body)) })
	}
	root := os.Getenv("PLIMSOLL_CORPUS")
	if root == "" {
		t.Log("PLIMSOLL_CORPUS is not set: only the bodies of this file are tested")
		return
	}
	found := 0
	err := filepath.WalkDir(filepath.Join(root, "request-bodies-anthropic"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		found++
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t.Run("corpus", func(t *testing.T) { f(t, body) })
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("corpus: %d bodies, %v", found, err)
	}
}

func mustDecode(t *testing.T, body []byte) llm.Request {
	t.Helper()
	r, err := DecodeRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r := mustDecode(t, body)
		got, err := EncodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, before) {
			t.Fatalf("want %s\ngot  %s", before, got)
		}
		if &got[0] != &body[0] {
			t.Error("want the body itself, got a copy")
		}
		for i, m := range r.Messages {
			if one, err := EncodeMessage(m); m.Envelope.Raw != nil && (err != nil || !bytes.Equal(one, m.Envelope.Raw)) {
				t.Errorf("message %d: got %s, %v", i, one, err)
			}
		}
	})
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) {
		r := mustDecode(t, body)
		for i, m := range r.Messages {
			for j, p := range m.Parts {
				var edit func(llm.Part) llm.Part
				switch p := p.(type) {
				case llm.ToolResult:
					edit = stubbed
				case llm.Text:
					if m.Envelope.Raw == nil && strings.TrimSpace(p.Text) == "" {
						continue // nobody's, until there is a word in it
					}
					edit = retold(short(m))
				default:
					continue
				}
				edited := r
				edited.Messages = append([]llm.Message(nil), r.Messages...)
				edited.Messages[i] = with(m, j, edit)
				checkOnlyPart(t, r, edited, i, j)
			}
		}
	})
}

// checkOnlyPart checks that the body of edited is that of r but for part j of message i.
func checkOnlyPart(t *testing.T, r, edited llm.Request, i, j int) {
	t.Helper()
	got, err := EncodeRequest(edited)
	if err != nil {
		t.Fatal(err)
	}
	start := bytesAt(t, r.Frame.Raw, r.Messages[i].Parts[j].Bytes())
	end := start + len(r.Messages[i].Parts[j].Bytes())
	tail := len(r.Frame.Raw) - end
	if len(got) < start+tail || !bytes.Equal(got[:start], r.Frame.Raw[:start]) || !bytes.Equal(got[len(got)-tail:], r.Frame.Raw[end:]) {
		t.Fatalf("message %d part %d: other bytes changed in %s", i, j, got)
	}
	again := mustDecode(t, got)
	for k, m := range again.Messages {
		if want := llm.DigestOf(edited.Messages[k]); k != i && llm.DigestOf(m) != want {
			t.Errorf("message %d changed", k)
		}
	}
	switch p := again.Messages[i].Parts[j].(type) {
	case llm.ToolResult:
		old := r.Messages[i].Parts[j].(llm.ToolResult)
		if p.Text() != "see <r>" || p.CallID != old.CallID || p.IsError != old.IsError {
			t.Errorf("got %+v", p)
		}
	case llm.Text:
		if p.Text != short(edited.Messages[i]) {
			t.Errorf("got %q", p.Text)
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

// bytesAt returns where the bytes data lie in body, whose memory they share.
func bytesAt(t *testing.T, body, data []byte) int {
	t.Helper()
	for i := range body {
		if len(data) > 0 && &body[i] == &data[0] {
			return i
		}
	}
	t.Fatal("the part does not share the body's bytes")
	return 0
}

// begins returns where in r.Messages each wire message begins, and their end.
func begins(r llm.Request) []int {
	var at []int
	pieces, left := r.Frame.Pieces, 0 // of the message at hand that are still to come
	for i, m := range r.Messages {
		if left == 0 {
			at = append(at, i)
			if m.Envelope.Raw == nil {
				pieces, left = pieces[1:], pieces[0]
			}
		}
		if m.Envelope.Raw == nil {
			left--
		}
	}
	return append(at, len(r.Messages))
}

// without returns r without the wire messages [from, to) and the bytes its body must then be.
func without(r llm.Request, from, to int) (llm.Request, []byte) {
	at := begins(r)
	body, each := r.Frame.Raw, r.Frame.Each
	var want []byte
	switch {
	case from > 0:
		want = append(append(want, body[:each[from-1].End]...), body[each[to-1].End:]...)
	case to < len(each):
		want = append(append(want, body[:each[0].Start]...), body[each[to].Start:]...)
	default:
		want = append(append(want, body[:each[0].Start]...), body[each[to-1].End:]...)
	}
	r.Messages = append(append([]llm.Message(nil), r.Messages[:at[from]]...), r.Messages[at[to]:]...)
	return r, want
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) {
		r := mustDecode(t, body)
		for from := range r.Frame.Each {
			for to := from + 1; to <= len(r.Frame.Each); to++ {
				less, want := without(r, from, to)
				if rest := less.Messages; len(rest) > 0 && rest[0].Role == llm.RoleAssistant && from == 0 {
					continue // gets a user message in front
				}
				got, err := EncodeRequest(less)
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(got) || !bytes.Equal(got, want) {
					t.Fatalf("without [%d,%d): want %s\ngot  %s", from, to, want, got)
				}
			}
		}
	})
}

// Any mix of edits, removals and additions gives JSON that decodes to what was meant,
// with every untouched message in its own bytes, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(rapid.SampledFrom(oddBodies).Draw(t, "body"))
		r, err := DecodeRequest(body)
		if err != nil {
			t.Fatal(err)
		}
		var msgs []llm.Message
		var kept, pieces [][]byte
		for _, m := range r.Messages {
			if m.Envelope.Raw == nil {
				for _, p := range m.Parts {
					pieces = append(pieces, p.Bytes())
				}
			}
			switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit", "first part only"}).Draw(t, "what") {
			case "keep":
				kept = append(kept, m.Envelope.Raw)
				msgs = append(msgs, m)
			case "insert":
				note := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: rapid.String().Draw(t, "note")}}}
				kept = append(kept, m.Envelope.Raw)
				msgs = append(msgs, m, note)
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
		got, err := EncodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeRequest(got)
		if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if twice, err := EncodeRequest(r); err != nil || !bytes.Equal(twice, got) {
			t.Fatalf("want the same bytes again, got %s, %v", twice, err)
		}
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" {
					continue
				}
				if !bytes.Contains(got, p.Bytes()) {
					t.Fatalf("%s is not in %s", p.Bytes(), got)
				}
			}
		}
		if !roundsWhole(r.Messages) {
			return // results were moved next to their calls, so messages are not kept
		}
		at := r.Frame.Messages.Start
		for _, wire := range kept {
			k := bytes.Index(got[at:], wire)
			if k < 0 {
				t.Fatalf("%s is not in %s", wire, got)
			}
			at += k + len(wire)
		}
		for _, m := range again.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" && !bytes.Contains(bytes.Join(append(kept, pieces...), nil), p.Bytes()) {
					t.Fatalf("empty text in %s", got)
				}
			}
		}
	})
}

// roundsWhole reports whether no inserted message stands between a call and its result.
func roundsWhole(msgs []llm.Message) bool {
	for i := 1; i+1 < len(msgs); i++ {
		if len(msgs[i-1].Calls()) > 0 && msgs[i].Dialect == "" {
			return false
		}
	}
	return true
}

func FuzzRequest(f *testing.F) {
	for _, body := range oddBodies {
		f.Add([]byte(body))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":` + strings.Repeat("[", 50)))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := DecodeRequest(body)
		if err != nil {
			return
		}
		got, err := EncodeRequest(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		fuzzEdited(t, r)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

// fuzzEdited encodes r in every other way there is: edited, without its frame, without
// its envelopes, as another dialect's.
func fuzzEdited(t *testing.T, r llm.Request) {
	variants := []llm.Request{r, r, r, r}
	for v := range variants {
		variants[v].Messages = append([]llm.Message(nil), r.Messages...)
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			switch p.(type) {
			case llm.ToolResult:
				variants[0].Messages[i] = with(variants[0].Messages[i], j, stubbed)
			case llm.Text:
				variants[0].Messages[i] = with(variants[0].Messages[i], j, retold("x"))
			}
		}
		variants[1].Messages[i].Envelope = llm.Envelope{}
		variants[2].Messages[i].Dialect = "other"
	}
	variants[2].Dialect = "other"
	variants[3].Frame = llm.Frame{}
	variants[3].Messages = append(variants[3].Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}})
	for v, r := range variants {
		got, err := EncodeRequest(r)
		if err != nil || !json.Valid(got) {
			t.Fatalf("variant %d: got %q, %v", v, got, err)
		}
		if _, err := DecodeRequest(got); err != nil {
			t.Fatalf("variant %d: %v in %q", v, err, got)
		}
	}
}

func BenchmarkUntouched(b *testing.B) {
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"` + strings.Repeat(`func f() { return \"x\" }\n`, 160) + `"}]}`
	body := []byte(`{"model":"m","messages":[` + strings.Repeat(message+",", 24) + message + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := DecodeRequest(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := EncodeRequest(r); err != nil {
			b.Fatal(err)
		}
	}
}
