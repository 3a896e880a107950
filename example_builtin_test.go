package plimsoll_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// What the model calls of the policy's own tools the session answers, what it calls of the host's the host does.
func ExampleSession_Builtin() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Policy: must(policy.Preset("cache-compact")), Targets: []budget.Target{{Model: "gpt-5"}}}))
	try(session.Append(ctx, llm.UserText("Why does the build fail?")))
	fmt.Println("offered:", must(session.Prepare(ctx)).Tools[0].Name)

	build := slices.Repeat([]string{"compiling, all is well so far"}, 3_000)
	build[2_000] = "error: disk full"
	run := func(llm.ToolCall) plimsoll.Placement { // the host's only tool
		return must(session.ToolResult(ctx, plimsoll.Result{CallID: "a", Body: strings.NewReader(strings.Join(build, "\n"))}))
	}
	step := func(calls ...llm.ToolCall) (p plimsoll.Placement) {
		try(session.Append(ctx, wants(calls...)))
		for _, call := range calls {
			if served, err := session.Builtin(ctx, call); served || err != nil {
				try(err)
				continue
			}
			p = run(call)
		}
		return p
	}
	p := step(llm.ToolCall{CallID: "a", Name: "build", Args: "{}"})
	fmt.Println("shown:", p.Shown)

	step(llm.ToolCall{CallID: "b", Name: "tool_output_cache_grep", Args: `{"ref_id":"` + string(p.Ref) + `","pattern":"error"}`})
	read := session.View().Messages()
	_, line, _ := strings.Cut(read[len(read)-1].Results()[0].Text(), "\n")
	fmt.Println("read back:", line)
	// Output:
	// offered: tool_output_cache
	// shown: part
	// read back:  2001  error: disk full
}

// Of many tools those of servers are left out where they take more than a tenth of the window,
// and the model finds one by what it does. docs/many-tools.md quotes this example.
func ExampleOptions_toolKind() {
	ctx := context.Background()
	targets := []budget.Target{smallModel()}
	session, err := plimsoll.Open(ctx, plimsoll.Options{
		Targets: targets,
		ToolKind: func(t llm.Tool) llm.ToolKind {
			if strings.HasPrefix(t.Name, "mcp__") {
				return llm.ToolOfServer
			}
			return llm.ToolBuiltIn
		},
	})
	try(err)
	tools := []llm.Tool{{Name: "read_log", Description: "Reads a log."}}
	for n := range 60 {
		tools = append(tools, llm.Tool{
			Name: fmt.Sprintf("mcp__ships__page_%d", n), Description: fmt.Sprintf("Shows page %d of the ship's papers, with whatever somebody has written on it by hand.", n),
		})
	}
	try(session.SetTools(ctx, tools))
	try(session.Append(ctx, llm.UserText("What stands on page 42 of the papers?")))
	fmt.Println("left out:", len(session.LeftOut()) > 0, must(session.Prepare(ctx)).Target.Model, len(session.LeftOut()) > 0)

	call := llm.ToolCall{CallID: "call-1", Name: "tool_search", Args: `{"query":"show page 42"}`}
	try(session.Append(ctx, wants(call)))
	served := must(session.Builtin(ctx, call))
	offered := must(session.Prepare(ctx)).Request().Tools
	declared := slices.ContainsFunc(offered, func(t llm.Tool) bool { return t.Name == "mcp__ships__page_42" })
	// This provider defers tools itself: all are declared, and wait until a result names them.
	wait := slices.ContainsFunc(offered, func(t llm.Tool) bool { return t.Deferred })
	fmt.Println("served:", served, "declared:", declared, "others wait:", wait)
	// Output:
	// left out: false claude-haiku-4-5 true
	// served: true declared: true others wait: true
}
