package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// A loop that keeps every request within a window of 16,000 tokens. The model is
// invented: it asks for one log after the other. README.md and docs/library.md
// quote this example.
func Example() {
	ctx := context.Background()
	session, err := plimsoll.Open(ctx, plimsoll.Options{
		Targets: []budget.Target{{
			Model:  "gpt-5",
			Window: budget.Window{Capacity: 16_000, Buffer: 500, OutputReserve: 1_500},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	add := func(m llm.Message) {
		if err := session.Append(ctx, m); err != nil {
			log.Fatal(err)
		}
	}
	add(llm.UserText("Which log has the error?"))
	for step := 1; step <= 6; step++ {
		request, err := session.Prepare(ctx)
		if err != nil {
			log.Fatal(err) // wraps plimsoll.ErrRefused if nothing can make it fit
		}
		fmt.Printf("step %d: fits %v, edited %v\n", step, request.Count.Bound <= request.Limit, request.Edited)

		// Here request.Messages() goes to the model. This one always wants another log.
		call := llm.ToolCall{CallID: fmt.Sprint("call-", step), Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, step)}
		add(llm.AssistantText("", call))
		var output strings.Builder
		for line := range 250 {
			fmt.Fprintf(&output, "log %d, line %d: all is well\n", step, line)
		}
		add(llm.ToolText(call.CallID, output.String()))
	}
	edits := session.Edits()
	stored, err := session.Blob(ctx, edits[0].Refs[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("taken out, and stored: %v\n", strings.Contains(string(stored), "log 1, line 0: all is well"))
	// Output:
	// step 1: fits true, edited false
	// step 2: fits true, edited false
	// step 3: fits true, edited false
	// step 4: fits true, edited false
	// step 5: fits true, edited true
	// step 6: fits true, edited true
	// taken out, and stored: true
}

// try and must end an example that goes wrong. A program does something better.
func try(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	try(err)
	return v
}

// wants is a model that wants tools.
func wants(calls ...llm.ToolCall) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	return m
}

// smallModel is a model with little room, whose prices are known.
func smallModel() budget.Target {
	return budget.Target{Provider: "anthropic", Model: "claude-haiku-4-5", Window: budget.Window{Capacity: 16_000, Buffer: 1_000, OutputReserve: 1_000}}
}

// readingLogs is a session in which a person asked something and the model has read so many logs of some 1,700 tokens.
func readingLogs(ctx context.Context, logs int, targets ...budget.Target) *plimsoll.Session {
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: targets}))
	try(session.Append(ctx, llm.UserText("Which log has the error?")))
	for n := range logs {
		id := fmt.Sprint("call-", n)
		try(session.Append(ctx, wants(llm.ToolCall{CallID: id, Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, n)})))
		must(session.ToolResult(ctx, plimsoll.Result{CallID: id, Body: strings.NewReader(longLog(n))}))
	}
	return session
}

func longLog(n int) string {
	var b strings.Builder
	for line := range 160 {
		fmt.Fprintf(&b, "log %d, line %d: all is well\n", n, line)
	}
	return b.String()
}

// In a file a session outlives the program. It is taken up by its name.
func ExampleOpen_resume() {
	ctx := context.Background()
	folder := must(os.MkdirTemp("", "plimsoll"))
	defer func() { _ = os.RemoveAll(folder) }()

	file := must(sqlite.Open(ctx, filepath.Join(folder, "sessions.db"), sqlite.Options{}))
	options := plimsoll.Options{ID: "fix-the-build", Store: file, Targets: []budget.Target{{Model: "gpt-5"}}}
	session := must(plimsoll.Open(ctx, options))
	try(session.Append(ctx, llm.UserText("Why does the build fail?")))
	try(session.Close())

	// The program ends here, and is started again.
	session = must(plimsoll.Open(ctx, options))
	request := must(session.Prepare(ctx))
	fmt.Println(request.Messages()[0].Text())
	try(session.Close())
	try(file.Close())
	// Output: Why does the build fail?
}

// What a person says and what the model answers is appended as it comes. The next request has all of it.
func ExampleSession_Append() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{{Model: "gpt-5"}}}))

	try(session.Append(ctx, llm.UserText("Name a ship.")))
	try(session.Append(ctx, llm.AssistantText("Cutty Sark.")))
	try(session.Append(ctx, llm.UserText("Another one.")))

	for _, m := range must(session.Prepare(ctx)).Messages() {
		fmt.Printf("%s: %s\n", m.Role, m.Text())
	}
	// Output:
	// user: Name a ship.
	// assistant: Cutty Sark.
	// user: Another one.
}

// The system prompt and the tools are set once. The next request has them.
func ExampleSession_SetTools() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{{Model: "gpt-5"}}}))

	try(session.SetSections(ctx, []llm.Section{llm.SystemText("You look after logs.")}))
	try(session.SetTools(ctx, []llm.Tool{{
		Name: "read_log", Description: "Reads a log.",
		Schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
	}}))

	try(session.Append(ctx, llm.UserText("Which log has the error?")))
	request := must(session.Prepare(ctx)).Request()
	fmt.Println(request.Sections[0].Text, request.Tools[0].Name)
	// Output: You look after logs. read_log
}

// The request goes to the model by package client, in the dialect of its target. Here a scripted server answers in the provider's place.
func ExampleSession_Prepare_client() {
	ctx := context.Background()
	server := httptest.NewServer(scriptmodel.New(must(scriptmodel.Parse("reply\n  text \"Cutty Sark.\"\n")), scriptmodel.Options{}))
	defer server.Close()
	try(os.Setenv("OPENAI_COMPATIBLE_BASE_URL", server.URL)) // as somebody with a server of their own does
	defer func() { _ = os.Unsetenv("OPENAI_COMPATIBLE_BASE_URL") }()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{{Provider: "openai-compatible", Model: "gpt-5"}}}))
	try(session.Append(ctx, llm.UserText("Name a ship.")))

	request := must(session.Prepare(ctx))
	provider, _ := client.Lookup(request.Target.Provider) // it has the address, and the variable that the key is in
	models := must(client.New(provider, client.Options{}))

	known := must(catalog.Load())
	dialect, _ := known.Dialect(provider.Dialect)
	fitting := convert.Request(request.Request(), dialect, convert.Options{})
	reply := must(models.Complete(ctx, fitting.Request))
	reply = fitting.Aliases.Restore(reply) // names of tools that had to be changed for the provider

	try(session.Reply(ctx, reply))
	fmt.Println(reply.Message.Text(), session.Bill().Calls)
	// Output: Cutty Sark. 1
}

// What plimsoll.yaml says holds for a program of one's own if it asks for it.
func ExampleOpen_settings() {
	ctx := context.Background()
	folder := must(os.MkdirTemp("", "plimsoll"))
	defer func() { _ = os.RemoveAll(folder) }()
	text := "providers: {openai: {models: {gpt-5: {contextWindow: 64k, maxOutputTokens: 8000}}}}\n" +
		"defaults: {toolResponseMaxBytes: 4096}\ntoolsDenied: [run_*]\n"
	try(os.WriteFile(filepath.Join(folder, "plimsoll.yaml"), []byte(text), 0o600))

	settings := must(config.FindSettings(folder, "", config.Known{Kinds: client.Names(), CarriesKey: client.CarriesKey}))
	known, guard := must(catalog.Load()), must(policy.Preset("guard"))
	of := must(settings.Resolve(config.Query{Provider: "openai", Model: "gpt-5", Policy: guard, Catalog: known}))

	guard, _ = of.ApplyTo(guard) // toolResponseMaxBytes, toolOutputCache
	known = known.With(settings.Models...).With(catalog.Model{ID: "gpt-5", Estimator: of.Tokenizer.Value})
	session := must(plimsoll.Open(ctx, plimsoll.Options{
		Policy: guard, Catalog: &known,
		Targets: []budget.Target{{Provider: "openai", Model: "gpt-5", Window: of.Window()}},
	}))
	try(session.SetTools(ctx, of.Tools.Filter([]llm.Tool{{Name: "read_log"}, {Name: "run_shell"}})))

	fmt.Println("limit:", session.Usage().Limit, "from", filepath.Base(of.Capacity.Source))
	try(session.Append(ctx, llm.UserText("Read the log.")))
	for _, tool := range must(session.Prepare(ctx)).Tools {
		fmt.Println("tool:", tool.Name)
	}
	// Output:
	// limit: 47808 from plimsoll.yaml:1 providers.openai.models.gpt-5.contextWindow
	// tool: read_log
	// tool: tool_output
}

// An output that is too large for the policy is stored. The model sees a handle, and the Placement says so.
func ExampleSession_ToolResult() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Policy: must(policy.Preset("guard")), Targets: []budget.Target{{Model: "gpt-5"}}}))
	try(session.Append(ctx, llm.UserText("Read both files.")))
	try(session.Append(ctx, wants(llm.ToolCall{CallID: "a", Name: "read", Args: "{}"}, llm.ToolCall{CallID: "b", Name: "read", Args: "{}"})))

	for id, output := range map[string]string{"a": "a few words", "b": strings.Repeat("many words ", 5_000)} {
		p, err := session.ToolResult(ctx, plimsoll.Result{CallID: id, Body: strings.NewReader(output)})
		try(err)
		if p.Shown == plimsoll.ShownWhole {
			continue
		}
		whole := must(session.Blob(ctx, p.Ref))
		fmt.Printf("%s: shown as %s because of %s, %d bytes are stored\n", id, p.Shown, p.Reason, len(whole))
	}
	// Output: b: shown as handle because of size_cap, 55000 bytes are stored
}

// Where the preferred model has no room the request goes to the next one that has.
func ExampleSession_Prepare() {
	ctx := context.Background()
	session := readingLogs(ctx, 2, smallModel())

	large := budget.Target{Provider: "openai", Model: "gpt-5"}
	tiny := budget.Target{Provider: "ollama", Model: "qwen3", Window: budget.Window{Capacity: 4_096, Buffer: 200, OutputReserve: 800}}
	request := must(session.Prepare(ctx, tiny, large))
	fmt.Println(request.Target.Name(), request.Verdict.Decision)
	// Output: openai/gpt-5 skip
}

// What a provider reports is what the count learns from, and what the bill is made of.
func ExampleSession_Bill() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{smallModel()}}))
	try(session.Append(ctx, llm.UserText("Write a page about ships.")))
	must(session.Prepare(ctx))

	// Here the request goes to the model. Its reply says what it took:
	try(session.Observe(ctx, llm.Usage{Input: 1_200, Output: 800}))

	bill := session.Bill()
	fmt.Printf("%d call, %d tokens in, %d out: %s\n", bill.Calls, bill.Usage.Prompt(), bill.Usage.Output, bill.Cost)
	// Output: 1 call, 1200 tokens in, 800 out: $0.0052
}

// A call that failed reports nothing and changes nothing. It is prepared again.
func ExampleSession_Observe() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{smallModel()}}))
	try(session.Append(ctx, llm.UserText("Write a page about ships.")))

	first := must(session.Prepare(ctx))
	try(session.Observe(ctx, llm.Usage{})) // the provider was overloaded
	again := must(session.Prepare(ctx))
	try(session.Observe(ctx, llm.Usage{Input: 1_200, Output: 800}))

	fmt.Println(again.Count == first.Count, session.Bill().Calls)
	// Output: true 1
}

// A provider refuses a request as too long: its window is smaller than everybody thought. Rejected returns the request to send instead,
// and the session has learnt the window.
func ExampleSession_Rejected() {
	ctx := context.Background()
	session := readingLogs(ctx, 5, smallModel())
	request := must(session.Prepare(ctx))

	refusal := &wire.Error{Class: wire.TooLong, Window: 10_000} // as package client returns it
	if !plimsoll.IsTooLong(refusal) {
		log.Fatal(refusal) // it is about something else
	}
	shorter := must(session.Rejected(ctx, refusal))
	fmt.Println("shorter:", shorter.Count.Bound < request.Count.Bound, "window:", shorter.Target.Window.Capacity)
	// Output: shorter: true window: 10000
}

// Usage says what fills the window, by component, and what the policy's thresholds are.
func ExampleSession_Usage() {
	ctx := context.Background()
	session := readingLogs(ctx, 2, smallModel())
	try(session.SetSections(ctx, []llm.Section{llm.SystemText("You look after logs.")}))

	u := session.Usage()
	fmt.Printf("%s: %d%% of the window is full\n", u.Target.Name(), u.Percent)
	fmt.Println("history is the largest part:", u.Parts.History > u.Parts.Used()/2)
	fmt.Println("the request would fit:", u.Count.Bound <= u.Limit)
	for _, t := range u.Thresholds[:2] {
		fmt.Printf("%s acts at %d tokens\n", t.Rule, t.At)
	}
	// Output:
	// anthropic/claude-haiku-4-5: 22% of the window is full
	// history is the largest part: true
	// the request would fit: true
	// write-summary acts at 10500 tokens
	// batch acts at 13720 tokens
}

// Compact makes room now, as a person asks for it.
func ExampleSession_Compact() {
	ctx := context.Background()
	session := readingLogs(ctx, 5, smallModel())

	c := must(session.Compact(ctx, "which logs were read"))
	fmt.Println("smaller:", c.After.Point < c.Before.Point, "edits:", len(c.Edits))

	c = must(session.Compact(ctx, "")) // of three Rounds only the newest stays now
	fmt.Println("once more:", len(c.Edits), "edits")

	c = must(session.Compact(ctx, ""))
	fmt.Println("and again:", len(c.Edits), "edits, because", c.Why)
	// Output:
	// smaller: true edits: 1
	// once more: 0 edits
	// and again: 0 edits, because summary of messages 1 to 9 not used: it saves 0 of 76 tokens, not enough
}

// What an edit took out can be put back.
func ExampleSession_Undo() {
	ctx := context.Background()
	session := readingLogs(ctx, 5, smallModel())
	c := must(session.Compact(ctx, ""))

	for _, e := range c.Edits {
		try(session.Undo(ctx, e.ID))
	}
	fmt.Println("as before:", session.Usage().Count.Point == c.Before.Point)
	// Output: as before: true
}

// A fork goes on from where its parent is. The parent does not notice.
func ExampleSession_Fork() {
	ctx := context.Background()
	session := readingLogs(ctx, 1, smallModel())

	fork := must(session.Fork(ctx, "another-try", plimsoll.Here))
	try(fork.Append(ctx, llm.UserText("Look at the times instead.")))
	fmt.Println(len(must(session.Prepare(ctx)).Items), len(must(fork.Prepare(ctx)).Items))

	question := session.Messages()[0]
	early := must(session.Fork(ctx, "from-the-question", question.ID))
	fmt.Println(len(must(early.Prepare(ctx)).Items))
	// Output:
	// 3 4
	// 1
}

// Edits are the session's decisions, with the reason of each. What they took out is stored.
func ExampleSession_Edits() {
	ctx := context.Background()
	session := readingLogs(ctx, 7, smallModel())
	must(session.Prepare(ctx))

	for _, e := range session.Edits() {
		for _, ref := range e.Refs {
			whole := must(session.Blob(ctx, ref))
			fmt.Printf("%s by %s: %s; stored: %t\n", e.Kind, e.Rule, e.Why, len(whole) > 0)
		}
	}
	// Output:
	// stub by batch: worth less than what stays; stored: true
	// drop by batch: worth less than what stays: messages 4 to 5 (2) leave; stored: true
	// stub by batch: worth less than what stays; stored: true
	// stub by batch: worth less than what stays; stored: true
	// references by batch: names what is no longer shown; stored: true
	// stub by batch: worth less than what stays; stored: true
	// stub by batch: worth less than what stays; stored: true
	// references by batch: names what is no longer shown; stored: true
}

// Events tell what happens as it does. They end when the session is closed.
func ExampleSession_Events() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{smallModel()}}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range session.Events(ctx) {
			fmt.Println(e.Seq, e.Kind)
		}
	}()

	try(session.Append(ctx, llm.UserText("Hello?")))
	must(session.Prepare(ctx))
	try(session.Observe(ctx, llm.Usage{Input: 9, Output: 3}))
	try(session.Close())
	<-done
	// Output:
	// 1 sent
	// 2 answered
}

// The host has reasons of its own to end a Turn. The model is told, and may call nothing but the tool for its report.
func ExampleSession_Finish() {
	ctx := context.Background()
	session := readingLogs(ctx, 1, smallModel())
	try(session.SetTools(ctx, []llm.Tool{{Name: "read_log"}, {Name: policy.ToolFinalReport}}))

	try(session.Finish(ctx, engine.ReasonMaxTurns))
	request := must(session.Prepare(ctx))
	fmt.Println(request.Final, len(request.Tools), request.Tools[0].Name)
	// Output: max_turns 1 agent__final_report
}

// A closed session answers everything with an error. Its store stays open.
func ExampleSession_Close() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{smallModel()}}))
	try(session.Close())

	_, err := session.Prepare(ctx)
	fmt.Println(errors.Is(err, plimsoll.ErrClosed))
	// Output: true
}
