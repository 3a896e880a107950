package journal

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Offered returns what a request has of tools where an Offer says which of them are offered, by
// their places (nil: all): those, in their order, and what is left out as deferred where declared
// says that it is declared to the provider, with the provider's own search in front if none of the
// policy's own finds it. That one is offered only where something is left out. An offer of places
// that there are not is none. The tools are copied.
func Offered(tools []llm.Tool, offer []int, declared bool) []llm.Tool {
	if offer == nil || slices.ContainsFunc(offer, func(at int) bool { return at < 0 || at >= len(tools) }) {
		return slices.DeleteFunc(slices.Clone(tools), FindsTools)
	}
	var out []llm.Tool
	if declared && !slices.ContainsFunc(tools, FindsTools) {
		out = append(out, llm.Tool{Finder: true, Description: finderText})
	}
	for _, at := range offer {
		out = append(out, tools[at])
	}
	for at := range tools {
		if t := tools[at]; declared && !slices.Contains(offer, at) {
			t.Deferred = true
			out = append(out, t)
		}
	}
	return out
}

// finderText is about as long as what a model reads of a provider's own search.
const finderText = "Find further tools, which are not listed here, by what they do. What is found can be called from then on."

// FindsTools reports whether a tool is the policy's own that finds tools which are left out.
func FindsTools(t llm.Tool) bool {
	return t.Builtin && policy.BuiltinOf(t.Name) == policy.ToolSearch
}
