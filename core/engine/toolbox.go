package engine

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
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

// hosted reports whether the provider's own search finds what is left out: it is declared, and
// none of the policy's own is offered.
func (b *toolbox) hosted() bool {
	return b.declared && !slices.ContainsFunc(b.tools, journal.FindsTools)
}

// Declares reports whether tools that are left out are declared to the provider as deferred, so
// that an answer which names them ([llm.ToolResult.Loads]) puts them before the model.
func (b *toolbox) Declares() bool { return b.declared }

// asLoaded returns tools as they take room: of the deferred ones those that what is shown has
// loaded are before the model.
func (b *toolbox) asLoaded(tools []llm.Tool) []llm.Tool {
	if len(b.loaded) == 0 {
		return tools
	}
	tools = slices.Clone(tools)
	for i, t := range tools {
		tools[i].Deferred = t.Deferred && !b.loaded[t.Name]
	}
	return tools
}

// leftOut returns the places of the tools that are left out.
func (b *toolbox) leftOut() []int {
	if b.shownAt == nil {
		return nil
	}
	var out []int
	for at := range b.tools {
		if !slices.Contains(b.shownAt, at) {
			out = append(out, at)
		}
	}
	return out
}

// own reports whether a tool is served by the session's own host: one of ours that the
// policy offers. A client's tool of the same name is the client's.
func (b *toolbox) own(tool string) bool { return ownAmong(b.tools)(tool) }

// ownAmong is own of some tools, which may be called anywhere: a list of tools is not changed.
func ownAmong(tools []llm.Tool) func(tool string) bool {
	return func(tool string) bool {
		return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Builtin && t.Name == tool })
	}
}

// offeredAs returns the name under which the model has one of the policy's tools; empty if
// it is not offered.
func (b *toolbox) offeredAs(tool string) string {
	for _, t := range b.tools {
		if t.Builtin && policy.BuiltinOf(t.Name) == tool {
			return t.Name
		}
	}
	return ""
}
