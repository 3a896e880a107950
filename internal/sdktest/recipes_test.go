package sdktest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"google.golang.org/genai"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A recipe is a page's code, ready to be run against a server.
type recipe func(t *testing.T, url string, session *plimsoll.Session) (step func())

func recipes() map[string]recipe {
	chat := func(run func(context.Context, *plimsoll.Session, openai.Client)) recipe {
		return func(t *testing.T, url string, s *plimsoll.Session) func() {
			client := openaiClient(url, 0)
			return func() { run(t.Context(), s, client) }
		}
	}
	messages := func(run func(context.Context, *plimsoll.Session, anthropic.Client)) recipe {
		return func(t *testing.T, url string, s *plimsoll.Session) func() {
			client := anthropicClient(url, 0)
			return func() { run(t.Context(), s, client) }
		}
	}
	gemini := func(run func(context.Context, *plimsoll.Session, *genai.Client)) recipe {
		return func(t *testing.T, url string, s *plimsoll.Session) func() {
			client := geminiClient(t, url)
			return func() { run(t.Context(), s, client) }
		}
	}
	return map[string]recipe{
		"chat": chat(chatStep), "chat streamed": chat(chatStreamStep),
		"responses": chat(responsesStep), "responses streamed": chat(responsesStreamStep),
		"messages": messages(messagesStep), "messages streamed": messages(messagesStreamStep),
		"messages that think": messages(messagesThinkingStep),
		"gemini":              gemini(geminiStep), "gemini streamed": gemini(geminiStreamStep),
	}
}

// TestRecipes: an agent that is written as the page says ends a task that is four
// windows long; the provider refuses nothing and finds no fault.
func TestRecipes(t *testing.T) {
	for name, r := range recipes() {
		t.Run(name, func(t *testing.T) {
			server, url := scripted(t, growingScript, false)
			session, err := plimsoll.Open(t.Context(), plimsoll.Options{Targets: []budget.Target{{Model: "test-model-1", Window: smallWindow}}})
			if err != nil {
				t.Fatal(err)
			}
			work(t, session, r(t, url, session))
			if n := len(server.Log()); n != growingSteps+1 {
				t.Errorf("calls, want %d, got %d", growingSteps+1, n)
			}
			if text := session.Messages()[len(session.Messages())-1].Text(); text != theEnd {
				t.Errorf("last text, got %q", text)
			}
			if u := session.Bill().Usage; u.Output == 0 || u.Prompt() == 0 {
				t.Errorf("usage, want what was reported, got %+v", u)
			}
		})
	}
}

// work is the loop around a Step: it answers what the model calls until it calls nothing.
func work(t *testing.T, s *plimsoll.Session, step func()) {
	t.Helper()
	ctx := t.Context()
	try(s.SetSections(ctx, []llm.Section{llm.SystemText("You look after ships.")}))
	try(s.SetTools(ctx, []llm.Tool{{Name: "read_file", Description: "Reads a file.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}}))
	try(s.Append(ctx, llm.UserText("Where is the load line?")))
	for range 2 * growingSteps {
		step()
		all := s.Messages()
		calls := all[len(all)-1].Calls()
		if len(calls) == 0 {
			return
		}
		for _, c := range calls {
			_, err := s.ToolResult(ctx, plimsoll.Result{CallID: c.CallID, Body: strings.NewReader(output(len(all)))})
			try(err)
		}
	}
	t.Error("loop, want an end, got none")
}

// growingScript is the work of an agent whose history becomes several windows long.
const (
	growingSteps  = 40
	theEnd        = "It is on her side."
	growingScript = `
window 10000
output 2000
secret "k"
reply 40 times
  thinking "Where is it?"
  text "I look."
  call read_file {"path": "docs/ship.md"}
reply
  text "It is on her side."
`
)

// smallWindow is that of growingScript: a quarter of what its task needs.
var smallWindow = budget.Window{Capacity: 10_000, OutputReserve: 2_000}

// output is what a tool puts out, of some 1,400 tokens.
func output(n int) string {
	var b strings.Builder
	for line := range 200 {
		fmt.Fprintf(&b, "file %d, line %d: all is well\n", n, line)
	}
	return b.String()
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	try(err)
	return v
}
