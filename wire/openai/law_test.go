package openai

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// Servers may tell thinking that is not sent back in Chat Completions.
var (
	chatLaws      = codectest.Laws{Codec: Chat{}, FewerBytes: true}
	responsesLaws = codectest.Laws{Codec: Responses{}, Cuts: cuts}
)

func codecs() []codectest.Laws { return []codectest.Laws{chatLaws, responsesLaws} }

// cuts are those of a list of items, of which an assistant's message has one for each of its
// parts. An input that is a string has nothing to remove from.
func cuts(r llm.Request) []codectest.Cut {
	if each := r.Frame.Each; len(each) > 0 && r.Frame.Raw[each[0].Start] == '"' {
		return nil
	}
	all := []codectest.Cut{{}}
	for i, m := range r.Messages {
		items := 1
		if m.Role == llm.RoleAssistant {
			items = len(m.Parts)
		}
		all = append(all, codectest.Cut{Message: i + 1, Element: all[i].Element + items})
	}
	return all
}

// A format is one of the two, with bodies as no encoder of ours would write them.
type format struct {
	codectest.Laws
	name string
	odd  []string
}

func formats() []format {
	return []format{
		{chatLaws, "chat", []string{
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
		{responsesLaws, "responses", []string{
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

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) { x.Untouched(t, body) })
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) { x.EachEdit(t, body, nil) })
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	eachBody(t, func(t *testing.T, x format, body []byte) { x.Removed(t, body) })
}

// Any mix of edits, removals and additions gives JSON that decodes again, with every
// untouched message in its own bytes, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(formats()).Draw(t, "format")
		e := x.AnyEdit(t, x.odd)
		if x.Dialect() == DialectResponses {
			return // neighbours may have grown together
		}
		said := 0
		for _, m := range e.Request.Messages {
			if raw.Fits(m) || m.Text() != "" || len(m.Calls())+len(m.Results()) > 0 {
				said++
			}
		}
		for _, kept := range e.Kept {
			if kept.Role == llm.RoleAssistant && len(e.Again.Messages) < said {
				continue // it may have grown together with what is left of another reply
			}
			is := func(m llm.Message) bool { return llm.DigestOf(m) == llm.DigestOf(kept) }
			if !slices.ContainsFunc(e.Again.Messages, is) {
				t.Fatalf("a kept message is gone from %s", e.Body)
			}
		}
	})
}

func FuzzDecodeChat(f *testing.F) { codectest.Fuzz(f, chatLaws.AnyRequest, formats()[0].odd...) }

func FuzzDecodeResponses(f *testing.F) {
	codectest.Fuzz(f, responsesLaws.AnyRequest, formats()[1].odd...)
}
