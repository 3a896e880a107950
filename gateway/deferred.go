package gateway

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// placed returns the tools of a request in the order in which a session sends them, with the
// bytes that the client has given them: without those that are left out, those that are deferred
// marked as such, and with the session's own.
func placed(tools, sent []llm.Tool) []llm.Tool {
	taken := make([]bool, len(tools))
	out := make([]llm.Tool, 0, len(sent))
	for _, t := range sent {
		for i := 0; i < len(tools) && !t.Builtin && !ours(t); i++ {
			if !taken[i] && tools[i].Name == t.Name {
				deferred := t.Deferred
				t, taken[i] = tools[i], true
				t.Deferred = deferred
				break
			}
		}
		out = append(out, t)
	}
	return out
}

// ours reports whether a tool is the provider's search that no client has asked for.
func ours(t llm.Tool) bool { return t.Finder && t.Data == nil && t.Base == nil }

// searched reports whether a request has the provider's search that its client has not asked for.
func searched(tools []llm.Tool) bool { return slices.ContainsFunc(tools, ours) }
