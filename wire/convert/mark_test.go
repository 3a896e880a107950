package convert_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// on returns a long mark on a piece.
func on(p llm.Piece, at int) llm.Place { return llm.Place{On: p, At: at, Mark: llm.MarkLong} }

// TestMarksFollow: a mark stands on what it stood on before, whatever goes before that or comes
// between; that of what goes stands on the nearest thing before it.
func TestMarksFollow(t *testing.T) {
	image := llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`)}}
	opaque := llm.AssistantText("", llm.ToolCall{}).WithParts([]llm.Part{llm.Opaque{Kind: "reasoning"}})
	r := llm.Request{
		Dialect:  "elsewhere",
		Sections: []llm.Section{llm.SystemText("be kind")},
		Tools: []llm.Tool{
			{Name: "read"}, {Name: "web", Raw: llm.Raw{Data: []byte(`{"type":"web_search"}`)}}, {Name: "write"},
		},
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "be brief"}}},
			{Role: llm.RoleSystem, Origin: llm.Note},
			opaque,
			llm.UserText("look"),
			opaque,
			llm.AssistantText("", llm.ToolCall{CallID: "1", Name: "read", Args: "{}"}),
			{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: "1", Content: []llm.Part{image}}}},
			llm.UserText("and now?"),
			llm.AssistantText("  \n"),
		},
	}
	const tool, section, message = llm.OnTool, llm.OnSection, llm.OnMessage
	for _, c := range []struct {
		was  llm.Place
		want llm.Marks // in a format in which results have no images
	}{
		{on(tool, 0), llm.Marks{on(tool, 0)}},
		{on(tool, 1), llm.Marks{on(tool, 0)}}, // it goes
		{on(tool, 2), llm.Marks{on(tool, 1)}},
		{on(section, 0), llm.Marks{on(section, 0)}},
		{on(message, 0), llm.Marks{on(section, 1)}}, // the system prompt
		{on(message, 1), llm.Marks{on(section, 1)}}, // says nothing
		{on(message, 2), nil},                       // goes, and no message is before it
		{on(message, 3), llm.Marks{on(message, 0)}},
		{on(message, 4), llm.Marks{on(message, 0)}}, // goes
		{on(message, 5), llm.Marks{on(message, 1)}},
		{on(message, 6), llm.Marks{on(message, 2)}}, // its image stands behind it
		{on(message, 7), llm.Marks{on(message, 4)}},
		{on(message, 8), llm.Marks{on(message, 4)}}, // goes, as it says nothing
		{on(message, 9), nil},                       // there is none
	} {
		t.Run(fmt.Sprint(c.was.On, " ", c.was.At), func(t *testing.T) {
			r.Marks = llm.Marks{c.was}
			fit := convert.Request(r, codectest.Known(t, "openai-chat"), convert.Options{Refused: catalog.Refused{PrefillSpace: true}})
			if diff := cmp.Diff(c.want, fit.Request.Marks); diff != "" || len(fit.Request.Messages) != 5 {
				t.Errorf("%d messages\n%s", len(fit.Request.Messages), diff)
			}
		})
	}
}

// TestMarksMeet: of two marks that come to stand on one thing the one with the longer lifetime holds.
func TestMarksMeet(t *testing.T) {
	r := llm.Request{Messages: []llm.Message{llm.UserText("look"), llm.AssistantText("").WithParts([]llm.Part{llm.Opaque{Kind: "x"}}), llm.UserText("on")}}
	for _, marks := range [][3]llm.Mark{{llm.MarkLong, llm.MarkShort, llm.MarkShort}, {llm.MarkShort, llm.MarkLong, llm.MarkShort}} {
		r.Marks = nil
		for i, m := range marks {
			r.Marks = append(r.Marks, llm.Place{On: llm.OnMessage, At: i, Mark: m})
		}
		got := convert.Request(r, codectest.Known(t, "anthropic"), convert.Options{}).Request.Marks
		if got.On(llm.OnMessage, 0) != llm.MarkLong || got.On(llm.OnMessage, 1) != llm.MarkShort || got.On(llm.OnMessage, 2) != llm.NoMark {
			t.Errorf("want a long one and a short one, got %v", got)
		}
	}
}

// TestMarksStay: in its own format a request keeps its marks, and those of messages follow them.
func TestMarksStay(t *testing.T) {
	thinking := llm.AssistantText("").WithParts([]llm.Part{llm.Thinking{Text: "hm", Signature: "c2ln"}})
	thinking.Dialect = "anthropic"
	r := llm.Request{
		Dialect: "anthropic", Tools: []llm.Tool{{Name: "read"}}, Sections: []llm.Section{llm.SystemText("be kind")},
		Messages: []llm.Message{llm.UserText("look"), thinking, llm.UserText("on")},
		Marks:    llm.Marks{on(llm.OnTool, 0), on(llm.OnSection, 0), on(llm.OnMessage, 1), on(llm.OnMessage, 2)},
	}
	got := convert.Request(r, codectest.Known(t, "anthropic"), convert.Options{Foreign: true}).Request
	want := llm.Marks{on(llm.OnTool, 0), on(llm.OnSection, 0), on(llm.OnMessage, 0), on(llm.OnMessage, 1)}
	if diff := cmp.Diff(want, got.Marks); diff != "" || len(got.Messages) != 2 {
		t.Errorf("%d messages\n%s", len(got.Messages), diff)
	}
}
