package plimsoll_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Room is asked for before a tool runs. Calls that run side by side never hold more than there is. What was reserved for an output is kept
// for it.
func ExampleSession_Budget() {
	ctx := context.Background()
	session := readingLogs(ctx, 1, smallModel())
	try(session.Append(ctx, wants(
		llm.ToolCall{CallID: "big", Name: "read_log", Args: "{}"},
		llm.ToolCall{CallID: "other", Name: "read_log", Args: "{}"},
	)))
	b := session.Budget()
	fmt.Println("is there room for 5,000 tokens?", b.Preview(5_000))

	held, err := b.Reserve(ctx, 9_000) // the most that the tool puts out
	try(err)
	_, err = b.Reserve(ctx, 5_000)
	var full *plimsoll.BudgetError
	if errors.As(err, &full) {
		fmt.Println("room for the other one:", full.Tokens <= full.Limit-full.Used)
	}

	output := strings.NewReader("all is well\n") // it was much less
	p := must(session.ToolResult(ctx, plimsoll.Result{CallID: "big", Body: output, Reserved: held}))
	fmt.Println("shown:", p.Shown)
	fmt.Println("and now?", b.Preview(5_000))
	// Output:
	// is there room for 5,000 tokens? true
	// room for the other one: false
	// shown: whole
	// and now? true
}

// A call that may not run gets a stated result, so that none is without one. Here the model asks for more than the window has room for: the
// first outputs are shown whole, the next ones as handles, and where not even a handle has room no more tools run.
func ExampleSession_Skip() {
	ctx := context.Background()
	session := must(plimsoll.Open(ctx, plimsoll.Options{Policy: must(policy.Preset("guard")), Targets: []budget.Target{smallModel()}}))
	try(session.Append(ctx, llm.UserText("Read all logs.")))
	var calls []llm.ToolCall
	for n := range 300 {
		calls = append(calls, llm.ToolCall{CallID: fmt.Sprint("call-", n), Name: "read_log", Args: "{}"})
	}
	try(session.Append(ctx, wants(calls...)))

	b, skipped := session.Budget(), 0
	for n, c := range calls {
		if !b.CanExecute(c.Name) {
			try(session.Skip(ctx, c.CallID))
			skipped++
			continue
		}
		must(session.ToolResult(ctx, plimsoll.Result{CallID: c.CallID, Body: strings.NewReader(longLog(n))}))
	}
	request := must(session.Prepare(ctx))
	fmt.Println("some were skipped:", skipped > 0)
	fmt.Println(request.Final.Sentence())
	// Output:
	// some were skipped: true
	// context guard enforced
}
