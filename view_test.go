package plimsoll_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestViewIsWhatIsSent: a request that needs no edit is the view, and the view has what
// edits did before.
func TestViewIsWhatIsSent(t *testing.T) {
	s := guarded(t)
	if err := s.SetSections(t.Context(), []llm.Section{{Name: "system", Text: "Be brief."}}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, human("Read."), calls("read", 1))
	result(t, s, "c1", output(sizeCap+1))
	v, send := s.View(), prepare(t, s)
	if diff := cmp.Diff(send.Items, v.Items); diff != "" || !slices.ContainsFunc(v.Items, func(it edit.Item) bool { return len(it.Edits) > 0 }) {
		t.Errorf("- sent, + view, with an output that is put away\n%s", diff)
	}
	if diff := cmp.Diff([]any{send.Sections, send.Tools, send.Count, send.Messages()}, []any{v.Sections, v.Tools, v.Count, v.Messages()}); diff != "" {
		t.Errorf("- sent, + view\n%s", diff)
	}
	if v.Policy.Name != "guard" || len(v.Targets) != 1 || v.Targets[0] != send.Target {
		t.Errorf("policy %q, targets %+v, want guard and %+v", v.Policy.Name, v.Targets, send.Target)
	}
}

// TestViewIsAValue: what happens in the session does not change a view, and what is done
// to a view does not reach the session.
func TestViewIsAValue(t *testing.T) {
	begin := func() *plimsoll.Session {
		s := guarded(t)
		if err := s.SetTools(t.Context(), []llm.Tool{{Name: "read"}, {Name: "write"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.SetSections(t.Context(), []llm.Section{{Name: "system", Text: "Be brief."}}); err != nil {
			t.Fatal(err)
		}
		add(t, s, human("Read."), calls("read", 1))
		return s
	}
	goOn := func(s *plimsoll.Session) any {
		result(t, s, "c1", output(sizeCap+1))
		if _, err := s.Prepare(t.Context(), budget.Target{Model: "other", Window: window(9_000)}); err != nil {
			t.Fatal(err)
		}
		v := s.View()
		return []any{v.Items, v.Sections, v.Tools, v.Count, v.Targets}
	}
	s := begin()
	v, twin := s.View(), begin().View()
	want := goOn(s)
	if diff := cmp.Diff([]any{twin.Items, twin.Count, twin.Targets}, []any{v.Items, v.Count, v.Targets}); diff != "" || len(v.Items) != 2 {
		t.Errorf("- before, + after the session went on\n%s", diff)
	}

	s = begin()
	v = s.View()
	v.Items[0], v.Sections[0], v.Tools[0], v.Targets[0] = edit.Item{}, llm.Section{}, llm.Tool{}, budget.Target{}
	v.Items = append(v.Items, edit.Item{Message: human("Mine.")})
	_ = append(v.Tools[:1], llm.Tool{Name: "mine"})
	if diff := cmp.Diff(want, goOn(s)); diff != "" {
		t.Errorf("- without, + with a view that its reader changed\n%s", diff)
	}
}
