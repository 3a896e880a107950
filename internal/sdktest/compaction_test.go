package sdktest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

const compactScript = "window 1000000\nreply always\n  text \"On with it.\"\n"

// logbook is a text above 60,000 tokens.
func logbook() string {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "the mate of vessel %d logged swell number %d\n", i, i*7)
	}
	return b.String()
}

// TestCompactionOfAProgram: a program that has its provider's own summary stand for the conversation,
// by the parameters of the official SDKs, sends it back as the SDK writes it; through the codec it
// comes byte for byte.
func TestCompactionOfAProgram(t *testing.T) {
	t.Run("anthropic", func(t *testing.T) {
		server, url := scripted(t, compactScript, false)
		client := anthropicClient(url, 0)
		p := sdk.BetaMessageNewParams{
			Model: "claude-opus-4-6", MaxTokens: 2048, Betas: []sdk.AnthropicBeta{"compact-2026-01-12"},
			Messages: []sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock(logbook()))},
			ContextManagement: sdk.BetaContextManagementConfigParam{Edits: []sdk.BetaContextManagementConfigEditUnionParam{
				{OfCompact20260112: &sdk.BetaCompact20260112EditParam{Trigger: sdk.BetaInputTokensTriggerParam{Value: 50_000}}},
			}},
		}
		first := must(client.Beta.Messages.New(t.Context(), p))
		if b, ok := first.Content[0].AsAny().(sdk.BetaCompactionBlock); !ok || b.Content == "" || len(first.Usage.Iterations) != 2 {
			t.Fatalf("want a summary, and what it took, got %s", first.RawJSON())
		}
		p.Messages = append(p.Messages, first.ToParam(), sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Go on.")))
		must(client.Beta.Messages.New(t.Context(), p))
		for i, call := range server.Log() {
			r := must(anthropic.DecodeRequest(call.Body))
			if out := must(anthropic.EncodeRequest(r)); !bytes.Equal(out, call.Body) || i == 1 && (llm.Compacts(r.Messages[1]) != "anthropic" || call.Prompt > 1000) {
				t.Errorf("request %d, of %d tokens: %.300s", i, call.Prompt, call.Body)
			}
		}
	})
	t.Run("openai", func(t *testing.T) {
		server, url := scripted(t, compactScript, false)
		client := openaiClient(url, 0)
		user := responses.ResponseInputItemParamOfMessage(logbook(), responses.EasyInputMessageRoleUser)
		p := responses.ResponseNewParams{
			Model: "gpt-5.2", Store: openaisdk.Bool(false), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{user}},
			ContextManagement: []responses.ResponseNewParamsContextManagement{{Type: "compaction", CompactThreshold: openaisdk.Int(50_000)}},
		}
		first := must(client.Responses.New(t.Context(), p))
		item := first.Output[0].AsCompaction()
		if item.EncryptedContent == "" {
			t.Fatalf("want a summary, got %s", first.RawJSON())
		}
		p.Input.OfInputItemList = responses.ResponseInputParam{
			responses.ResponseInputItemParamOfCompaction(item.EncryptedContent), responses.ResponseInputItemParamOfMessage("Go on.", responses.EasyInputMessageRoleUser),
		}
		must(client.Responses.New(t.Context(), p))
		for i, call := range server.Log() {
			r := must(openai.DecodeResponses(call.Body))
			if out := must(openai.EncodeResponses(r)); !bytes.Equal(out, call.Body) || i == 1 && (llm.Compacts(r.Messages[0]) != "openai" || call.Prompt > 1000) {
				t.Errorf("request %d, of %d tokens: %.300s", i, call.Prompt, call.Body)
			}
		}
	})
}

// TestCompactionOfASession: what a session asks its provider for the official SDK sends, and what
// comes back in the SDK's reply stands in the session's next request.
func TestCompactionOfASession(t *testing.T) {
	server, url := scripted(t, compactScript, false)
	p := must(policy.Preset("balanced"))
	for what, a := range map[string]policy.Args{"thinking": {}, "compact": {Tokens: 50_000}, "outputs": {Permille: 900}} {
		a.What = what
		p.Rules = append(p.Rules, policy.Rule{Name: "their-" + what, At: policy.AtPrepare, Do: policy.DoProvider, Args: a})
	}
	session := must(plimsoll.Open(t.Context(), plimsoll.Options{
		WithoutTools: true, Policy: p, Effort: "low",
		Targets: []budget.Target{{Provider: "anthropic", Model: "claude-opus-4-6", Window: budget.Window{Capacity: 200_000, OutputReserve: 1_000}}},
	}))
	client := anthropicClient(url, 0)
	for _, text := range []string{logbook(), "Go on."} {
		try(session.Append(t.Context(), llm.UserText(text)))
		send := must(session.Prepare(t.Context()))
		body := must(codecs.Body(send.Request(), "anthropic"))
		options := []option.RequestOption{option.WithRequestBody("application/json", body.JSON)}
		for _, beta := range body.Betas {
			options = append(options, option.WithHeaderAdd("anthropic-beta", beta))
		}
		message := must(client.Beta.Messages.New(t.Context(), sdk.BetaMessageNewParams{}, options...))
		try(session.Reply(t.Context(), must(body.Reply(message.RawJSON()))))
	}
	log := server.Log()
	for _, kind := range []string{"clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"} {
		if !bytes.Contains(log[0].Body, []byte(`"type":"`+kind+`"`)) {
			t.Errorf("want %s asked for, got %.300s", kind, log[0].Body)
		}
	}
	if !bytes.Contains(log[1].Body, []byte(`"messages":[{"role":"assistant","content":[{"type":"compaction","content":"Summary `)) || len(log[1].Body) > 5_000 {
		t.Errorf("want the summary first, got %.500s", log[1].Body)
	}
}
