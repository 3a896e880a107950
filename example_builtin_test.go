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
