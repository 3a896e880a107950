package anthropic

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

var laws = codectest.Laws{Codec: Codec{}, Opens: true}

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

func TestLaw4UntouchedRequestIsByteIdentical(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) {
		for i, m := range laws.Untouched(t, body).Messages {
			if one, err := EncodeMessage(m); m.Envelope.Raw != nil && (err != nil || !bytes.Equal(one, m.Envelope.Raw)) {
				t.Errorf("message %d: got %s, %v", i, one, err)
			}
		}
	})
}

func TestLaw4EditChangesOnlyItsOwnBytes(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) { laws.EachEdit(t, body, nil) })
}

func TestLaw4RemovedMessagesTakeOneCommaAlong(t *testing.T) {
	bodies(t, func(t *testing.T, body []byte) { laws.Removed(t, body) })
}

// Any mix of edits, removals and additions gives JSON that decodes to what was meant,
// with every untouched message in its own bytes, and the same bytes again.
func TestLaw4AnyEditIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := laws.AnyEdit(t, oddBodies)
		for _, m := range e.Request.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" {
					continue
				}
				if !bytes.Contains(e.Body, p.Bytes()) {
					t.Fatalf("%s is not in %s", p.Bytes(), e.Body)
				}
			}
		}
		if !roundsWhole(e.Request.Messages) {
			return // results were moved next to their calls, so messages are not kept
		}
		var came []byte
		for _, m := range e.Request.Frame.Mixed {
			came = append(came, m.Envelope.Raw...)
		}
		at := e.Request.Frame.Messages.Start
		for _, m := range e.Kept {
			came = append(came, m.Envelope.Raw...)
			k := bytes.Index(e.Body[at:], m.Envelope.Raw)
			if k < 0 {
				t.Fatalf("%s is not in %s", m.Envelope.Raw, e.Body)
			}
			at += k + len(m.Envelope.Raw)
		}
		for _, m := range e.Again.Messages {
			for _, p := range m.Parts {
				if text, ok := p.(llm.Text); ok && text.Text == "" && !bytes.Contains(came, p.Bytes()) {
					t.Fatalf("empty text in %s", e.Body)
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
	deep := `{"messages":[{"role":"user","content":` + strings.Repeat("[", 50)
	codectest.Fuzz(f, laws.AnyRequest, append(slices.Clone(oddBodies), deep)...)
}
