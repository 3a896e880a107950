package journal_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

func TestOffered(t *testing.T) {
	search := llm.Tool{Name: policy.ToolSearch, Builtin: true}
	a, b, theirs := llm.Tool{Name: "a"}, llm.Tool{Name: "b"}, llm.Tool{Name: policy.ToolSearch}
	for _, c := range []struct {
		name     string
		tools    []llm.Tool
		offer    []int
		declared bool
		want     []string
	}{
		{"R002-15_all, so that nothing is to be found", []llm.Tool{a, search, b}, nil, false, []string{"a", "b"}},
		{"a client's tool of that name is its own", []llm.Tool{a, theirs}, nil, false, []string{"a", "tool_search"}},
		{"R002-16_some, and what finds the others", []llm.Tool{a, search, b}, []int{0, 1}, false, []string{"a", "tool_search"}},
		{"in their order", []llm.Tool{a, b}, []int{1, 0}, false, []string{"b", "a"}},
		{"the others as deferred", []llm.Tool{a, search, b}, []int{1}, true, []string{"tool_search", "a deferred", "b deferred"}},
		{"and the provider finds them", []llm.Tool{a, b}, []int{1}, true, []string{"(finder)", "b", "a deferred"}},
		{"places that there are not", []llm.Tool{a, search}, []int{0, 2}, true, []string{"a"}},
		{"none", []llm.Tool{a}, []int{}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, tool := range journal.Offered(c.tools, c.offer, c.declared) {
				switch {
				case tool.Finder:
					got = append(got, "(finder)")
				case tool.Deferred:
					got = append(got, tool.Name+" deferred")
				default:
					got = append(got, tool.Name)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("want %v, got %v", c.want, got)
			}
			if slices.ContainsFunc(c.tools, func(t llm.Tool) bool { return t.Deferred }) {
				t.Error("the tools that were set were changed")
			}
		})
	}
}
