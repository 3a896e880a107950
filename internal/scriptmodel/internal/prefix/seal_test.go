package prefix

import (
	"encoding/base64"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

func TestSeal(t *testing.T) {
	s := Sealer{Key: "k"}
	claim := Claim{Model: "m", Account: "a", Text: "hm", Before: Digest{1, 2}, Last: ID{3}}
	text := s.Seal(claim)
	seal, ok := s.Open(text)
	if !ok || !seal.By("m") || !seal.For("a") || !seal.Says("hm") || seal.Before != claim.Before || seal.Last != claim.Last {
		t.Fatalf("seal, want what was claimed, got %+v %t", seal, ok)
	}
	if seal.By("n") || seal.For("b") || seal.Says("h") {
		t.Error("seal, want it to deny what was not claimed")
	}
	if s.Seal(claim) != text {
		t.Error("seal, want the same for the same claim")
	}
	t.Run("damaged", func(t *testing.T) {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			raw[i] ^= 1
			if _, ok := s.Open(base64.StdEncoding.EncodeToString(raw)); ok {
				t.Errorf("byte %d changed: want it refused", i)
			}
			raw[i] ^= 1
		}
	})
	for _, other := range []string{"", "x", text[:40], text + "AAAA"} {
		if _, ok := s.Open(other); ok {
			t.Errorf("seal %q, want it refused", other)
		}
	}
	if _, ok := (Sealer{Key: "other"}).Open(text); ok {
		t.Error("seal of another key, want it refused")
	}
}

func request(change func(*llm.Request)) llm.Request {
	r := llm.Request{
		Tools:    []llm.Tool{{Name: "f", Raw: llm.Raw{Data: []byte(`{"name":"f","input_schema":{"type":"object"}}`)}}},
		Sections: []llm.Section{{Text: "be brief"}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "hello", Raw: llm.Raw{Data: []byte(`"hello"`)}}}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{
				llm.Thinking{Text: "hm", Signature: "s"}, llm.ToolCall{CallID: "1", Name: "f", Args: `{"a":1,"b":2}`},
			}},
			{Role: llm.RoleTool, Parts: []llm.Part{llm.ToolResult{CallID: "1", Content: []llm.Part{llm.Text{Text: "out"}}}}},
			{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "go on"}}},
		},
	}
	if change != nil {
		change(&r)
	}
	return r
}

// TestBefore: what counts as a change of what stands before something, and what does not.
func TestBefore(t *testing.T) {
	before := Before(request(nil))
	if len(before) != 5 {
		t.Fatalf("digests, want one a message and one for the end, got %d", len(before))
	}
	for _, c := range []struct {
		name   string
		change func(*llm.Request)
		first  int // the first digest that differs; 5: none
	}{
		{"nothing", nil, 5},
		{"cache mark on a text", func(r *llm.Request) {
			r.Messages[0].Parts[0] = llm.Text{Text: "hello", Raw: llm.Raw{Data: []byte(`{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}`)}}
		}, 5},
		{"cache mark and white space in a tool", func(r *llm.Request) {
			r.Tools[0].Data = []byte(`{ "name": "f", "input_schema": {"type":"object"}, "cache_control": {"type":"ephemeral"}}`)
		}, 5},
		{"thinking left out", func(r *llm.Request) { r.Messages[1].Parts = r.Messages[1].Parts[1:] }, 5},
		{"arguments in another order", func(r *llm.Request) {
			r.Messages[1].Parts[1] = llm.ToolCall{CallID: "1", Name: "f", Args: `{"b": 2, "a": 1}`}
		}, 5},
		{"messages of one speaker as one", func(r *llm.Request) {
			r.Messages[2].Parts = append(r.Messages[2].Parts, r.Messages[3].Parts...)
			r.Messages[3].Parts = nil
		}, 3}, // where it is cut differs, the end does not
		{"tool", func(r *llm.Request) { r.Tools[0].Data = []byte(`{"name":"f"}`) }, 0},
		{"system prompt", func(r *llm.Request) { r.Sections[0].Text = "be long" }, 0},
		{"text", func(r *llm.Request) { r.Messages[0].Parts[0] = llm.Text{Text: "hallo"} }, 1},
		{"arguments", func(r *llm.Request) {
			r.Messages[1].Parts[1] = llm.ToolCall{CallID: "1", Name: "f", Args: `{"a":1,"b":3}`}
		}, 2},
		{"result", func(r *llm.Request) { r.Messages[2].Parts[0] = llm.ToolResult{CallID: "1"} }, 3},
		{"error flag", func(r *llm.Request) {
			res := r.Messages[2].Parts[0].(llm.ToolResult)
			res.IsError = true
			r.Messages[2].Parts[0] = res
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Before(request(c.change))
			first := 0
			for first < len(got) && got[first] == before[first] {
				first++
			}
			if first != c.first {
				t.Errorf("first change, want %d, got %d", c.first, first)
			}
		})
	}
}

func TestOf(t *testing.T) {
	c, err := token.NewCounter("chars/4", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := request(nil)
	p := Of(r, c, "")
	if len(p) != 7 { // a tool, a section, five parts
		t.Fatalf("blocks, want 7, got %d", len(p))
	}
	want := c.Tools(r.Tools) + c.Text("be brief")
	for _, m := range r.Messages {
		want += c.Message(m)
	}
	if p.Tokens() != want {
		t.Errorf("tokens, want those of the counter, %d, got %d", want, p.Tokens())
	}
	forced := Of(r, c, "forced tool")
	if forced[1].Digest != p[1].Digest || forced[2].Digest == p[2].Digest {
		t.Error("salt, want it to change the messages only")
	}
	r.Frame.Raw = []byte(`{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[]}`)
	if got := Of(r, c, ""); got[6].Mark != MarkLong {
		t.Error("automatic mark, want it on the last block")
	}
}
