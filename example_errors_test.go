package plimsoll_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestErrorsOfThePage makes each error that docs/library.md lists in the way that it says.
func TestErrorsOfThePage(t *testing.T) {
	ctx := t.Context()
	targets := []budget.Target{smallModel()}
	opening := func(o plimsoll.Options) error { _, err := plimsoll.Open(ctx, o); return err }
	windowless := budget.Target{Model: "mystery", Window: budget.Window{Capacity: 10, Buffer: 10}}
	full := plimsoll.Options{Policy: preset(t, "guard"), Targets: targets}
	other := &wire.Error{Class: wire.Auth}
	for _, row := range []struct {
		name, of string
		want     any // a sentinel, or a pointer to a variable of the type
		got      error
	}{
		{"*policy.FaultsError", "Open", new(*policy.FaultsError), opening(plimsoll.Options{Policy: policy.Policy{Name: "empty"}, Targets: targets})},
		{"*budget.ConfigError", "Prepare", new(*budget.ConfigError), errorOf(readingLogs(ctx, 0, targets...).Prepare(ctx, windowless))},
		{"budget.ErrUnknownWindow", "Open", budget.ErrUnknownWindow, opening(plimsoll.Options{Policy: preset(t, "cache-compact"), Targets: []budget.Target{{Model: "mystery"}}})},
		{"plimsoll.ErrRefused", "Prepare", plimsoll.ErrRefused, whenRefused(ctx)},
		{"*budget.OverError", "Prepare", new(*budget.OverError), whenRefused(ctx)},
		{"*turn.OrphanError", "ToolResult", new(*turn.OrphanError), errorOf(readingLogs(ctx, 0, targets...).ToolResult(ctx, plimsoll.Result{CallID: "x"}))},
		{"*turn.OrphanError", "Skip", new(*turn.OrphanError), readingLogs(ctx, 0, targets...).Skip(ctx, "x")},
		{"*plimsoll.BudgetError", "Reserve", new(*plimsoll.BudgetError), errorOf(must(plimsoll.Open(ctx, full)).Budget().Reserve(ctx, 1_000_000))},
		{"*engine.UsageError", "Observe", new(*engine.UsageError), readingLogs(ctx, 0, targets...).Observe(ctx, llm.Usage{Input: -1})},
		{"the error it was given", "Rejected", other, errorOf(readingLogs(ctx, 0, targets...).Rejected(ctx, other))},
		{"*engine.ReasonError", "Finish", new(*engine.ReasonError), readingLogs(ctx, 0, targets...).Finish(ctx, "bored")},
		{"store.ErrNotFound", "Blob", store.ErrNotFound, errorOf(readingLogs(ctx, 0, targets...).Blob(ctx, llm.RefOf([]byte("x"))))},
		{"store.ErrConflict", "Fork", store.ErrConflict, errorOf(readingLogs(ctx, 0, targets...).Fork(ctx, "default", plimsoll.Here))},
		{"plimsoll.ErrClosed", "", plimsoll.ErrClosed, whenClosed(ctx, targets)},
	} {
		ok := false
		if want, is := row.want.(error); is {
			ok = errors.Is(row.got, want)
		} else {
			ok = errors.As(row.got, row.want)
		}
		if !ok {
			t.Errorf("%s of %s: got %v (%v)", row.name, row.of, row.got, reflect.TypeOf(row.got))
		}
		if !onPage(t, row.name, row.of) {
			t.Errorf("docs/library.md has no row for %s of %s", row.name, row.of)
		}
	}
}

// onPage reports whether a row of the page's table has both names.
func onPage(t *testing.T, name, of string) bool {
	t.Helper()
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, name) && strings.Contains(line, of) {
			return true
		}
	}
	return false
}

// errorOf returns the error of a call.
func errorOf[T any](_ T, err error) error { return err }

func whenRefused(ctx context.Context) error {
	s := readingLogs(ctx, 0, smallModel())
	try(s.SetTools(ctx, []llm.Tool{{Name: "read", Description: strings.Repeat("all of it, ", 20_000)}}))
	return errorOf(s.Prepare(ctx))
}

func whenClosed(ctx context.Context, targets []budget.Target) error {
	s := readingLogs(ctx, 0, targets...)
	try(s.Close())
	return s.Append(ctx, llm.UserText("Hello?"))
}
