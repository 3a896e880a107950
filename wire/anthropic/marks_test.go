package anthropic

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

const (
	begun   = `{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{"q":"a"}}]}`
	picture = `{"type":"image", "source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	result  = `{"type":"tool_result", "tool_use_id":"toolu_1","content":"a"}`
	marking = `,"cache_control":{"type":"ephemeral"}}`
)

// with returns m with another part in the place of one.
func with(m llm.Message, at int, p llm.Part) llm.Message {
	parts := slices.Clone(m.Parts)
	parts[at] = p
	return m.WithParts(parts)
}

// encodedAlike returns the body that r becomes, which is the same each time.
func encodedAlike(t codectest.T, r llm.Request) string {
	t.Helper()
	out, err := EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := EncodeRequest(r); err != nil || string(again) != string(out) {
		t.Fatalf("encoded again: %v\n%s\nwant\n%s", err, again, out)
	}
	return string(out)
}

// TestMarkOnWhatWasEdited: a mark stands on a message of which only what an edit shows is left,
// and beside an edit in a piece of a client's message, which stays one.
func TestMarkOnWhatWasEdited(t *testing.T) {
	base := func(p llm.Part) llm.Raw { return llm.Raw{Base: p.Bytes()} }
	said := func(content string) string {
		return `{"messages":[` + begun + `,{"role":"user","content":[` + content + `]}]}`
	}
	for name, c := range map[string]struct {
		came, want string
		edit       func([]llm.Message)
	}{
		"an image in a message alone": {
			`{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes."},{"role":"user","content":[` + picture + `]}]}`,
			`{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes."},{"role":"user","content":[{"type":"text","text":"[image]"` + marking + `]}]}`,
			func(m []llm.Message) { m[2] = with(m[2], 0, llm.Stub{Text: "[image]", Raw: base(m[2].Parts[0])}) },
		},
		"a string": {
			`{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes."},{"role":"user","content":"long"}]}`,
			`{"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Yes."},{"role":"user","content":[{"type":"text","text":"[gone]"` + marking + `]}]}`,
			func(m []llm.Message) { m[2] = with(m[2], 0, llm.Stub{Text: "[gone]", Raw: base(m[2].Parts[0])}) },
		},
		"a call": {
			`{"messages":[` + begun + `]}`,
			`{"messages":[` + strings.Replace(begun, `"input":{"q":"a"}}`, `"input":{"q":"…"}`+marking, 1) + `]}`,
			func(m []llm.Message) {
				c := m[1].Parts[0].(llm.ToolCall)
				m[1] = with(m[1], 0, llm.ToolCall{CallID: c.CallID, Name: c.Name, Args: `{"q":"…"}`, Raw: base(c)})
			},
		},
		"a text of a piece": {
			said(result + ` , ` + picture + `, {"type":"text", "text":"And on."}`),
			said(result + ` , ` + picture + `, {"type":"text", "text":"An…"` + marking),
			func(m []llm.Message) { m[3] = with(m[3], 1, llm.Text{Text: "An…", Raw: base(m[3].Parts[1])}) },
		},
		"an image of a piece": {
			said(result + ` , {"type":"text", "text":"And on."}, ` + picture),
			said(result + ` , {"type":"text", "text":"And on."}, {"type":"text","text":"[image]"` + marking),
			func(m []llm.Message) { m[3] = with(m[3], 1, llm.Stub{Text: "[image]", Raw: base(m[3].Parts[1])}) },
		},
		"an image that stays, of a piece": {
			said(result + ` , {"type":"text", "text":"And on."}, ` + picture),
			said(result + ` , {"type":"text", "text":"And on."}, ` + strings.TrimSuffix(picture, "}") + marking),
			func([]llm.Message) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := codectest.Decoded(t, Codec{}, []byte(c.came))
			r.Messages = slices.Clone(r.Messages)
			c.edit(r.Messages)
			r.Marks = llm.Marks{{On: llm.OnMessage, At: len(r.Messages) - 1, Mark: llm.MarkShort}}
			if got := encodedAlike(t, r); got != c.want {
				t.Errorf("want %s\ngot  %s", c.want, got)
			}
		})
	}
}

// TestMarkOnAnOutputOfOurs: a mark that is moved to an output that was made here leaves it an output.
func TestMarkOnAnOutputOfOurs(t *testing.T) {
	r := codectest.Decoded(t, Codec{}, []byte(`{"messages":[`+begun+`]}`))
	own, ok := Marked(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "toolu_1", Content: []llm.Part{llm.Text{Text: "a"}}},
	}}, []byte(`{"type":"ephemeral"}`))
	r.Messages = append(r.Messages, own)
	want := `{"messages":[` + begun + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"` + marking + `]}]}`
	if got := encodedAlike(t, r); got != want || !ok {
		t.Errorf("want %s\ngot  %s, %t", want, got, ok)
	}
}

// TestMarkOnceBesideABlank: where a part has gone from a message its mark stands once, and on no
// blank text.
func TestMarkOnceBesideABlank(t *testing.T) {
	r := codectest.Decoded(t, Codec{}, []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":" "}]}]}`))
	m := r.Messages[0]
	r.Messages = []llm.Message{with(m, 1, llm.Text{Raw: llm.Raw{Base: m.Parts[1].Bytes()}})}
	r.Marks = llm.Marks{{On: llm.OnMessage, At: 0, Mark: llm.MarkShort}}
	want := `{"messages":[{"role":"user","content":[{"type":"text","text":"a"` + marking + `,{"type":"text","text":" "}]}]}`
	if got := encodedAlike(t, r); got != want {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

// TestMarkOnNoOtherFormat: what came in another format takes no mark, which would not be sent.
func TestMarkOnNoOtherFormat(t *testing.T) {
	m := llm.UserText("a")
	m.Dialect = "elsewhere"
	if _, ok := Marked(m, []byte(`{"type":"ephemeral"}`)); ok {
		t.Error("it is marked")
	}
}

// TestMarkSaysNothing: whatever edits have made of a request, a mark on one of its messages stands in its body once
// if something there can have one, and the body says and is cut as without it.
func TestMarkSaysNothing(t *testing.T) {
	marked := regexp.MustCompile(`,"cache_control":(null|\{[^}]*\})`)
	bare := func(t *rapid.T, body []byte) llm.Request {
		return codectest.Decoded(t, Codec{}, marked.ReplaceAll(body, nil))
	}
	rapid.Check(t, func(t *rapid.T) {
		r := codectest.Decoded(t, Codec{}, []byte(rapid.SampledFrom([]string{mixedBody, steeredBody, oddBodies[6]}).Draw(t, "body")))
		var msgs []llm.Message
		for _, m := range r.Messages {
			switch rapid.SampledFrom([]string{"keep", "keep", "drop", "insert", "edit"}).Draw(t, "what") {
			case "keep":
				msgs = append(msgs, m)
			case "insert":
				msgs = append(msgs, m, llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Stub{Text: "note"}}})
			case "edit":
				parts := slices.Clone(m.Parts)
				for i, p := range parts {
					if rapid.Bool().Draw(t, "this one") {
						parts[i] = other(p)
					}
				}
				msgs = append(msgs, m.WithParts(parts))
			}
		}
		if r.Messages = msgs; len(msgs) == 0 {
			return
		}
		plain := encodedAlike(t, r)
		at, want := rapid.IntRange(0, len(msgs)-1).Draw(t, "at"), 0
		if slices.ContainsFunc(msgs[at].Parts, takesMark) {
			want = 1
		}
		r.Marks = llm.Marks{{On: llm.OnMessage, At: at, Mark: llm.MarkLong}}
		got := encodedAlike(t, r)
		a, b := bare(t, []byte(plain)), bare(t, []byte(got))
		same := len(a.Frame.Each) == len(b.Frame.Each) && slices.EqualFunc(a.Messages, b.Messages, func(x, y llm.Message) bool { return llm.DigestOf(x) == llm.DigestOf(y) })
		if n := strings.Count(got, `"ttl":"1h"`); n != want || !same {
			t.Fatalf("%d marks, want %d, says the same: %t\nwithout %s\nwith    %s", n, want, same, plain, got)
		}
	})
}

// steeredBody has a person's words in a result, and images where marks may stand.
const steeredBody = `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x\n\nThe user sent a new message while you were working:\nstop it"},{"type":"text","text":"and"},{"type":"image","source":{"type":"url","url":"w"}}]},` +
	`{"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"image","source":{"type":"url","url":"w"}}]}]}`

// other returns p as an edit might leave it.
func other(p llm.Part) llm.Part {
	switch p := p.(type) {
	case llm.ToolResult:
		return p.WithContent(llm.Stub{Text: "stub"})
	case llm.Text:
		return llm.Text{Text: "text", Raw: p.Edited()}
	case llm.Media:
		return llm.Stub{Text: "[image]", Raw: p.Edited()}
	case llm.ToolCall:
		return codectest.Rearmed(`{"y":1}`)(p)
	}
	return p
}

// takesMark reports whether a provider lets a mark stand on p.
func takesMark(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Text:
		return strings.TrimSpace(p.Text) != ""
	case llm.ToolCall:
		return !p.Hosted
	case llm.Stub, llm.ToolResult, llm.Media:
		return true
	}
	return false
}
