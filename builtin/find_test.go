package builtin_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A shed has tools that are left out.
type shed struct {
	*shelf
	tools   []llm.Tool
	broken  error
	offered []string
}

func (s *shed) FindTools(query string, limit int) []llm.Tool {
	return slices.DeleteFunc(slices.Clone(s.tools[:min(limit, len(s.tools))]), func(t llm.Tool) bool { return !strings.Contains(t.Name, query) })
}

func (s *shed) OfferTools(_ context.Context, names []string) error {
	s.offered = append(s.offered, names...)
	return s.broken
}

func TestFindTools(t *testing.T) {
	k := kitOf(t, policy.ToolSearch)
	tools := []llm.Tool{
		{Name: "rig_mast", Description: "Rigs the mast.", Schema: `{"type":"object"}`},
		{Name: "rig_boom", Description: "Rigs the boom."},
		{Name: "rig_all", Description: strings.Repeat("and on ", 20_000)},
		{Name: "rig_none"},
	}
	t.Run("R002-16_names_descriptions_schemas", func(t *testing.T) {
		s := &shed{shelf: newShelf(), tools: tools[:2]}
		want(t, ask(t, k, s, policy.ToolSearch, "query", "rig"), "rig_mast\nRigs the mast.\n{\"type\":\"object\"}\n\nrig_boom\nRigs the boom.")
		if !slices.Equal(s.offered, []string{"rig_mast", "rig_boom"}) {
			t.Errorf("want both offered, got %q", s.offered)
		}
	})
	t.Run("what_has_no_room_is_not_offered", func(t *testing.T) {
		s := &shed{shelf: newShelf(), tools: tools}
		ask(t, k, s, policy.ToolSearch, "query", "rig")
		if !slices.Equal(s.offered, []string{"rig_mast", "rig_boom"}) {
			t.Errorf("want the first two, got %q", s.offered)
		}
		s = &shed{shelf: newShelf(), tools: tools[2:]}
		want(t, ask(t, k, s, policy.ToolSearch, "query", "rig"), "rig_all\n\nrig_none")
	})
	t.Run("nothing_fits", func(t *testing.T) {
		s := &shed{shelf: newShelf(), tools: tools}
		want(t, ask(t, k, s, policy.ToolSearch, "query", "anchor"), "No matches for: anchor")
		if len(s.offered) > 0 {
			t.Errorf("want nothing offered, got %q", s.offered)
		}
	})
	t.Run("no_session", func(t *testing.T) {
		if a := ask(t, k, newShelf(), policy.ToolSearch, "query", "rig"); !a.IsError || a.Fault != nil {
			t.Errorf("want an error that says so, got %+v", a)
		}
	})
	t.Run("no_query", func(t *testing.T) {
		if a := ask(t, k, &shed{shelf: newShelf()}, policy.ToolSearch); !a.IsError || !strings.Contains(a.Text, "query") {
			t.Errorf("want an error that names it, got %+v", a)
		}
	})
	t.Run("the_store_fails", func(t *testing.T) {
		locked := errors.New("locked")
		if a := ask(t, k, &shed{shelf: newShelf(), tools: tools, broken: locked}, policy.ToolSearch, "query", "rig"); !a.IsError || !errors.Is(a.Fault, locked) {
			t.Errorf("want the fault told, got %+v", a)
		}
	})
}
