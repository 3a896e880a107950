package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A toolbox is the tools of a session, and which of them a model gets.
type toolbox struct {
	tools    []llm.Tool
	active   []llm.Tool              // of them, those that are offered, in their order
	shownAt  []int                   // their places among the tools; nil: none is left out
	declared bool                    // those that are left out are declared, as deferred
	loaded   map[string]bool         // deferred tools that what is shown puts before the model
	unchosen bool                    // nobody has looked yet whether some of the tools are left out
	uses     map[string]deferral.Use // of tools, by name
}

// ToolsSet returns the tools that were set last, also those that are left out, and in a final
// Step, which has fewer. The caller must not change them.
func (b *toolbox) ToolsSet() []llm.Tool { return b.tools }

// last returns the tools of a final Step: the one of that name, if the host has it, and what
// the history names of deferred ones, which a provider wants declared.
func (b *toolbox) last(name string) []llm.Tool {
	var out []llm.Tool
	if i := slices.IndexFunc(b.tools, func(t llm.Tool) bool { return t.Name == name }); i >= 0 {
		out = b.tools[i : i+1 : i+1]
	}
	if len(b.loaded) == 0 {
		return out
	}
	for _, t := range b.active {
		if t.Finder || t.Deferred && b.loaded[t.Name] {
			out = append(out, t)
		}
	}
	return out
}
