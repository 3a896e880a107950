package plimsoll_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

func openFor(t *testing.T) *plimsoll.Session {
	t.Helper()
	s, err := plimsoll.Open(t.Context(), plimsoll.Options{Targets: []budget.Target{{Provider: "openai", Model: "gpt-5"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReply: one call says what Observe and Append say, and an answer of nothing is none.
func TestReply(t *testing.T) {
	ctx := t.Context()
	one, two := openFor(t), openFor(t)
	reply := llm.Response{Usage: llm.Usage{Input: 40, Output: 7}, Message: llm.AssistantText("Cutty Sark.")}
	for _, s := range []*plimsoll.Session{one, two} {
		ok(t, s.Append(ctx, llm.UserText("Name a ship.")))
		if _, err := s.Prepare(ctx); err != nil {
			t.Fatal(err)
		}
	}
	ok(t, one.Reply(ctx, reply))
	ok(t, two.Observe(ctx, reply.Usage))
	ok(t, two.Append(ctx, reply.Message))
	if one.Usage().Count != two.Usage().Count || one.Bill().Usage != two.Bill().Usage || len(one.Messages()) != 2 {
		t.Errorf("want %+v and %+v, got %+v and %+v", two.Usage().Count, two.Bill().Usage, one.Usage().Count, one.Bill().Usage)
	}
	ok(t, one.Reply(ctx, llm.Response{Usage: llm.Usage{Input: 50}}))
	if n, u := len(one.Messages()), one.Bill().Usage; n != 2 || u.Input != 90 {
		t.Errorf("want 2 messages and 90 tokens in, got %d and %d", n, u.Input)
	}
}

// TestErrorsNameTheOption: who forgets something is told what to set.
func TestErrorsNameTheOption(t *testing.T) {
	ctx := context.Background()
	_, noTarget := plimsoll.Open(ctx, plimsoll.Options{})
	_, noRoom := plimsoll.Open(ctx, plimsoll.Options{Targets: []budget.Target{{Model: "gpt-5", Window: budget.Window{Capacity: 100, OutputReserve: 200}}}})
	s := openFor(t)
	for _, test := range []struct {
		err  error
		want string
	}{
		{noTarget, "Options.Targets"},
		{noRoom, "output reserve 200"},
		{s.Append(ctx, llm.Message{Parts: []llm.Part{llm.Text{Text: "x"}}}), "llm.UserText"},
		{s.Append(ctx, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{llm.Text{Text: "x"}}}), "llm.UserText"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, test.err)
		}
	}
}
