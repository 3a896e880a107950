package exporttest_test

import (
	"context"
	"log"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// open opens a session with the policy guard and a small window.
func open() *plimsoll.Session {
	p, err := policy.Preset("guard")
	if err != nil {
		log.Fatal(err)
	}
	s, err := plimsoll.Open(context.Background(), plimsoll.Options{
		Policy:  p,
		Targets: []budget.Target{{Provider: "openai", Model: "gpt-5", Window: budget.Window{Capacity: 12_000, Buffer: 500, OutputReserve: 1_500}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// work makes two calls, of which the guard ends the second, and closes the session.
func work(s *plimsoll.Session) {
	ctx := context.Background()
	say := func(role llm.Role, origin llm.Origin, text string) {
		if err := s.Append(ctx, llm.Message{Role: role, Origin: origin, Parts: []llm.Part{llm.Text{Text: text}}}); err != nil {
			log.Fatal(err)
		}
	}
	say(llm.RoleUser, llm.Human, "Count to a million.")
	for range 2 {
		if _, err := s.Prepare(ctx); err != nil {
			log.Fatal(err)
		}
		say(llm.RoleAssistant, llm.Model, strings.Repeat("one more, ", 4_000))
	}
	if err := s.Observe(ctx, llm.Usage{Input: 9_000, CacheRead: 500, Output: 250}); err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
}
