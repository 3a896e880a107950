package openai

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A format is one of the two, with bodies as no encoder of ours would write them.
type format struct {
	name   string
	decode func([]byte) (llm.Request, error)
	encode func(llm.Request) ([]byte, error)
	odd    []string
}

func formats() []format {
	return []format{
		{"chat", DecodeChat, EncodeChat, []string{
			`{"messages":[]}`,
			" \r\n\t{ \"messages\" :\t[ { \"content\" : \"a\" ,\r\n\"role\":\"user\" } ,\n\n{\"role\" : \"assistant\", \"content\" : [ ] } ] , \"n\":1.0e+3 } \n",
			`{"messages":[{"role":"user","content":"\ud800 \/ \ud83d\ude00"},{"role":"assistant","content":null}],"temperature":1E-0,"max_completion_tokens":null,"max_tokens":10}`,
			`{"messages":[1],"messages":[{"role":"user","content":5,"content":"yes"}],"model":"a","model":"m","tools":null}`,
			`{"\u006dessages":[{"r\u006fle":"user","content":"` + "\xff\xfe" + `"}],"max_completion_tokens":-5,"tools":[]}`,
			`{"model":"m","messages":[{"role":"system","content":"s"}, {"role":"developer","content":[{"type":"text","text":""}]},` +
				`{"role":"user","content":[{"type":"text","text":"look"} , {"type":"image_url","image_url":{"url":"https://h/i"}}],"name":"n"},` +
				`{"role":"assistant","tool_calls":[ {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}} ,{"id":"b","type":"custom","custom":{"name":"p","input":"x"}}],"content":"t","reasoning_details":[{"type":"reasoning.text","text":"hm"}]},` +
				`{"role":"tool","tool_call_id":"a","content":"one"},` + "\n" + `{"tool_call_id":"b","content":[{"type":"text","text":"two"}],"role":"tool"},` +
				`{"role":"assistant","content":"","refusal":"no"},{"role":"user","content":"go on"}],"max_tokens":1.0e+1}`,
		}},
		{"responses", DecodeResponses, EncodeResponses, []string{
			`{}`,
			`{"input":null,"instructions":null,"tools":null}`,
			`{"input":""}`,
			"\n{\"input\" : \"a\\ud800\" , \"n\":1.0e+3}\t",
			`{"input":[1],"instructions":"a","input":[{"role":"user","role":"user","content":5,"content":"yes"}],"instructions":"b","max_output_tokens":-1}`,
			`{"\u0069nput":[{"ty\u0070e":"message","role":"user","content":[]},{"role":"assistant","content":""},{"k":"` + "\xff" + `"}],"tools":[]}`,
			itemsBody,
		}},
	}
}

// eachBody calls f for every odd body and, where the corpus is there, for every body in it.
func eachBody(t *testing.T, f func(t *testing.T, x format, body []byte)) {
	for _, x := range formats() {
		for _, body := range x.odd {
			t.Run(x.name+"/odd", func(t *testing.T) { f(t, x, []byte(body)) })
		}
		root := os.Getenv("PLIMSOLL_CORPUS")
		if root == "" {
			t.Log("PLIMSOLL_CORPUS is not set: only the bodies of this file are tested")
			continue
		}
		found := 0
		err := filepath.WalkDir(filepath.Join(root, "request-bodies-openai-"+x.name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
				return err
			}
			found++
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			t.Run(x.name+"/corpus", func(t *testing.T) { f(t, x, body) })
			return nil
		})
		if err != nil || found == 0 {
			t.Fatalf("corpus: %d bodies, %v", found, err)
		}
	}
}

func mustDecode(t *testing.T, x format, body []byte) llm.Request {
	t.Helper()
	r, err := x.decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) {
		before := bytes.Clone(body)
		got, err := x.encode(mustDecode(t, x, body))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, before) {
			t.Fatalf("want %s\ngot  %s", before, got)
		}
		if &got[0] != &body[0] {
			t.Error("want the body itself, got a copy")
		}
	})
}

// partPlace returns where the bytes of part j of message i lie in the body of r. The
// parts share the memory of the body, so their place is where their first byte is.
func partPlace(r llm.Request, p llm.Part) (llm.Span, bool) {
	data := p.Bytes()
	for i := range r.Frame.Raw {
		if len(data) > 0 && &r.Frame.Raw[i] == &data[0] {
			return llm.Span{Start: i, End: i + len(data)}, true
		}
	}
	return llm.Span{}, false
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) {
		r := mustDecode(t, x, body)
		for i, m := range r.Messages {
			for j, p := range m.Parts {
				var edit func(llm.Part) llm.Part
				switch p.(type) {
				case llm.ToolResult:
					edit = stubbed
				case llm.Text:
					edit = retold("short\n")
				default:
					continue
				}
				edited := r
				edited.Messages = append([]llm.Message(nil), r.Messages...)
				edited.Messages[i] = with(m, j, edit)
				checkOnlyPart(t, x, r, edited, i, j)
			}
		}
	})
}

func checkOnlyPart(t *testing.T, x format, r, edited llm.Request, i, j int) {
	t.Helper()
	got, err := x.encode(edited)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := partPlace(r, r.Messages[i].Parts[j])
	if !ok {
		t.Fatal("the part does not share the body's bytes")
	}
	body := r.Frame.Raw
	tail := len(body) - at.End
	if len(got) < at.Start+tail || !bytes.Equal(got[:at.Start], body[:at.Start]) || !bytes.Equal(got[len(got)-tail:], body[at.End:]) {
		t.Fatalf("message %d part %d: other bytes changed in %s", i, j, got)
	}
	again := mustDecode(t, x, got)
	for k, m := range again.Messages {
		if want := llm.DigestOf(edited.Messages[k]); k != i && llm.DigestOf(m) != want {
			t.Errorf("message %d changed", k)
		}
	}
	switch p := again.Messages[i].Parts[j].(type) {
	case llm.ToolResult:
		if p.Text() != "see <r>" || p.CallID != r.Messages[i].Parts[j].(llm.ToolResult).CallID {
			t.Errorf("got %+v", p)
		}
	case llm.Text:
		if p.Text != "short\n" {
			t.Errorf("got %q", p.Text)
		}
	}
}

// itemCount returns of how many elements of the wire's list m is made.
func itemCount(m llm.Message) int {
	if m.Dialect == DialectResponses && m.Role == llm.RoleAssistant {
		return len(m.Parts)
	}
	return 1
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) {
		r := mustDecode(t, x, body)
		each := r.Frame.Each
		if len(each) > 0 && body[each[0].Start] == '"' {
			return // an input that is a string has nothing to remove from
		}
		first := []int{0} // the first element of each message
		for _, m := range r.Messages {
			first = append(first, first[len(first)-1]+itemCount(m))
		}
		for i := range r.Messages {
			for k := i + 1; k <= len(r.Messages); k++ {
				from, to := first[i], first[k]
				start, end := each[0].Start, each[to-1].End
				if from > 0 {
					start = each[from-1].End
				} else if to < len(each) {
					end = each[to].Start
				}
				want := append(append([]byte(nil), body[:start]...), body[end:]...)
				less := r
				less.Messages = append(append([]llm.Message(nil), r.Messages[:i]...), r.Messages[k:]...)
				got, err := x.encode(less)
				if err != nil || !json.Valid(got) || !bytes.Equal(got, want) {
					t.Fatalf("without [%d,%d): want %s\ngot  %s, %v", i, k, want, got, err)
				}
			}
		}
	})
}

// Any mix of edits, removals and additions gives JSON that decodes again, with every
// untouched message in its own bytes, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(formats()).Draw(t, "format")
		r, err := x.decode([]byte(rapid.SampledFrom(x.odd).Draw(t, "body")))
		if err != nil {
			t.Fatal(err)
		}
		var msgs []llm.Message
		var kept []llm.Digest
		for _, m := range r.Messages {
			switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit"}).Draw(t, "what") {
			case "keep":
				kept = append(kept, llm.DigestOf(m))
				msgs = append(msgs, m)
			case "insert":
				note := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: rapid.String().Draw(t, "note")}}}
				kept = append(kept, llm.DigestOf(m))
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
			}
		}
		r.Messages = msgs
		got, err := x.encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := x.decode(got)
		if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if twice, err := x.encode(r); err != nil || !bytes.Equal(twice, got) {
			t.Fatalf("want the same bytes again, got %s, %v", twice, err)
		}
		for _, d := range kept {
			found := false
			for _, m := range again.Messages {
				found = found || llm.DigestOf(m) == d
			}
			if !found && x.name == "chat" { // in the other format neighbours may have grown together
				t.Fatalf("a kept message is gone from %s", got)
			}
		}
	})
}

func FuzzDecodeChat(f *testing.F)      { fuzz(f, formats()[0]) }
func FuzzDecodeResponses(f *testing.F) { fuzz(f, formats()[1]) }

func fuzz(f *testing.F, x format) {
	for _, body := range x.odd {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		r, err := x.decode(body)
		if err != nil {
			return
		}
		got, err := x.encode(r)
		if err != nil || !bytes.Equal(got, before) {
			t.Fatalf("want %q, got %q, %v", before, got, err)
		}
		for v, r := range variants(r) {
			got, err := x.encode(r)
			if err != nil || !json.Valid(got) {
				t.Fatalf("variant %d: got %q, %v", v, got, err)
			}
			if _, err := x.decode(got); err != nil {
				t.Fatalf("variant %d: %v in %q", v, err, got)
			}
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}

// variants returns r in every other way there is to encode it: edited, without its
// envelopes, as another dialect's, without its frame.
func variants(r llm.Request) []llm.Request {
	all := []llm.Request{r, r, r, r}
	for v := range all {
		all[v].Messages = append([]llm.Message(nil), r.Messages...)
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			switch p.(type) {
			case llm.ToolResult:
				all[0].Messages[i] = with(all[0].Messages[i], j, stubbed)
			case llm.Text:
				all[0].Messages[i] = with(all[0].Messages[i], j, retold("x"))
			case llm.ToolCall:
				all[0].Messages[i] = with(all[0].Messages[i], j, rearmed(`{"y":1}`))
			}
		}
		all[1].Messages[i].Envelope = llm.Envelope{}
		all[2].Messages[i].Dialect = "other"
	}
	all[2].Dialect = "other"
	all[3].Frame = llm.Frame{}
	all[3].Messages = append(all[3].Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "n"}}})
	return all
}
