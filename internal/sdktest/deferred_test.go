package sdktest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// searchScript is a model whose provider searches for a tool, which it then calls.
const searchScript = `
reply when no result
  search "docking" dock_25
  call dock_25
reply always
  text "Docked."
`

// TestDeferredTools: the official SDK sends tools that wait, reads the search of the provider and what
// it found, and the second request, which has both, is taken.
func TestDeferredTools(t *testing.T) {
	server, url := scripted(t, searchScript, false)
	session := must(plimsoll.Open(t.Context(), plimsoll.Options{
		WithoutTools: true,
		Targets:      []budget.Target{{Provider: "anthropic", Model: "claude-opus-4-5", Window: budget.Window{Capacity: 20_000, OutputReserve: 1_000}}},
	}))
	var tools []llm.Tool
	for i := range 40 {
		tools = append(tools, llm.Tool{Name: fmt.Sprintf("dock_%d", i), Description: strings.Repeat("docks with care ", 30), Schema: `{"type":"object"}`, Kind: llm.ToolOfServer})
	}
	try(session.SetTools(t.Context(), tools))
	try(session.Append(t.Context(), llm.UserText("Dock at 25.")))
	client := anthropicClient(url, 0)
	first := deferredStep(t.Context(), session, client)
	if _, ok := first.Content[0].AsAny().(sdk.ServerToolUseBlock); !ok {
		t.Errorf("want a search, got %s", first.Content[0].RawJSON())
	}
	found, ok := first.Content[1].AsAny().(sdk.ToolSearchToolResultBlock)
	if !ok || len(found.Content.ToolReferences) != 1 || found.Content.ToolReferences[0].ToolName != "dock_25" {
		t.Errorf("want what was found, got %s", first.Content[1].RawJSON())
	}
	try(session.Append(t.Context(), llm.ToolText(first.Content[2].ID, "Docked.")))
	if last := deferredStep(t.Context(), session, client); last.Content[0].Text != "Docked." {
		t.Errorf("got %s", last.RawJSON())
	}
	if n := bytes.Count(server.Log()[1].Body, []byte(`"defer_loading":true`)); n < 20 {
		t.Errorf("%d tools wait", n)
	}
}

func deferredStep(ctx context.Context, session *plimsoll.Session, client sdk.Client) *sdk.Message {
	send := must(session.Prepare(ctx))
	body := must(codecs.Body(send.Request(), "anthropic"))
	message := must(client.Messages.New(ctx, sdk.MessageNewParams{}, option.WithRequestBody("application/json", body.JSON)))
	try(session.Reply(ctx, must(body.Reply(message.RawJSON()))))
	return message
}

// TestDeferredToolsOfAClient: what a program has its provider defer by the SDK's own parameters comes
// through the codec byte for byte, with the search that the SDK sends back.
func TestDeferredToolsOfAClient(t *testing.T) {
	server, url := scripted(t, searchScript, false)
	client := anthropicClient(url, 0)
	p := anthropicParams(sdk.NewUserMessage(sdk.NewTextBlock("Dock at 25.")))
	p.Tools = []sdk.ToolUnionParam{
		{OfToolSearchToolBm25_20251119: &sdk.ToolSearchToolBm25_20251119Param{Type: "tool_search_tool_bm25_20251119"}},
		{OfTool: &sdk.ToolParam{Name: "dock_25", DeferLoading: sdk.Bool(true), InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{}}}},
	}
	first := must(client.Messages.New(t.Context(), p))
	p.Messages = append(p.Messages, first.ToParam(), sdk.NewUserMessage(sdk.NewToolResultBlock(first.Content[2].ID, "Docked.", false)))
	must(client.Messages.New(t.Context(), p))
	for i, call := range server.Log() {
		r := must(anthropic.DecodeRequest(call.Body))
		if out := must(anthropic.EncodeRequest(r)); !bytes.Equal(out, call.Body) || !r.Tools[0].Finder || !r.Tools[1].Deferred {
			t.Errorf("request %d: %s", i, call.Body)
		}
		if loads := llm.Loads(r.Messages[min(i, len(r.Messages)-1)]); i == 1 && (len(loads) != 1 || loads[0] != "dock_25") {
			t.Errorf("want what was found, got %q of %s", loads, call.Body)
		}
	}
}
