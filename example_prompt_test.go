package plimsoll_test

import (
	"context"
	"fmt"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A system prompt in sections: what changes least stands first, and what changes later is told at the end.
func ExamplePrompt() {
	ctx, folder := context.Background(), "examples"
	session := must(plimsoll.Open(ctx, plimsoll.Options{
		Targets: []budget.Target{{Provider: "anthropic", Model: "claude-sonnet-5"}},
		Prompt: &plimsoll.Prompt{
			Base:     "You look after ships.",
			Rules:    folder, // where the file with its rules is
			Memories: "The mate is called Ann.",
		},
	}))
	try(session.Append(ctx, llm.UserText("Make fast.")))
	request := must(session.Prepare(ctx))
	for _, s := range request.Sections {
		fmt.Printf("%s: %s\n", s.Name, s.Text)
	}
	for _, mark := range request.Marks {
		fmt.Println("mark:", mark.On, mark.At)
	}
	try(session.Append(ctx, llm.AssistantText("Made fast.")))

	try(session.SetSkill(ctx, "knots", "Tie bowlines."))
	try(session.SetScratchpad(ctx, "Hull 3 is done."))
	try(session.Append(ctx, llm.UserText("And now?")))
	request = must(session.Prepare(ctx))
	fmt.Println(len(request.Sections), "sections")
	for _, m := range request.Messages()[3:] {
		fmt.Println(m.Text())
	}
	// Output:
	// base: You look after ships.
	// memories: The mate is called Ann.
	// mark: section 0
	// mark: section 1
	// mark: message 0
	// 2 sections
	// [skill knots: this holds from here on, in place of what was said before]
	// Tie bowlines.
	// [scratchpad: this holds from here on, in place of what was said before]
	// Hull 3 is done.
}
