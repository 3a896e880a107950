package plimsoll_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
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
	add(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "Which log has the error?"}}})
	for step := 1; step <= 6; step++ {
		request, err := session.Prepare(ctx)
		if err != nil {
			log.Fatal(err) // wraps plimsoll.ErrRefused if nothing can make it fit
		}
		fmt.Printf("step %d: fits %v, edited %v\n", step, request.Count.Bound <= request.Limit, request.Edited)

		// Here request.Messages() goes to the model. This one always wants another log.
		call := llm.ToolCall{CallID: fmt.Sprint("call-", step), Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, step)}
		add(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{call}})
		var output strings.Builder
		for line := range 250 {
			fmt.Fprintf(&output, "log %d, line %d: all is well\n", step, line)
		}
		add(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: output.String()}}},
		}})
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
