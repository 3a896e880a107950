package wire

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Loaded returns a request as the format d has it, which cannot defer tools: without those that
// nothing in its messages has loaded, and with the others behind the rest, in the order in which
// they were loaded. An answer that loads them names them then, as their definitions stand there.
// Where the provider's own search was to find them, which such a format does not have, or a client
// of another format has deferred them by its own means, all are sent. Tools have no marks then: none
// of these formats has any.
func Loaded(r llm.Request, d llm.Dialect) llm.Request {
	if !slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Deferred || t.Finder }) {
		return r
	}
	r.Marks = slices.DeleteFunc(slices.Clone(r.Marks), func(p llm.Place) bool { return p.On == llm.OnTool })
	all := r.Dialect != "" && r.Dialect != d
	var tools, deferred []llm.Tool
	for _, t := range r.Tools {
		switch {
		case t.Finder:
			all = true
		case t.Deferred:
			deferred = append(deferred, t)
		default:
			tools = append(tools, t)
		}
	}
	if all {
		r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t llm.Tool) bool { return t.Finder && t.Data == nil })
		return r
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		for _, name := range llm.Loads(m) {
			at := slices.IndexFunc(deferred, func(t llm.Tool) bool { return t.Name == name })
			if at >= 0 && !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name }) {
				tools = append(tools, deferred[at])
			}
		}
		r.Messages[i] = named(m, tools)
	}
	r.Tools = tools
	return r
}

// named returns a message whose answers name the tools that they load, where these stand among
// the tools.
func named(m llm.Message, tools []llm.Tool) llm.Message {
	has := func(name string) bool {
		return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
	}
	for i, p := range m.Parts {
		a, ok := p.(llm.ToolResult)
		if !ok || a.Data != nil || len(a.Loads) == 0 || slices.ContainsFunc(a.Loads, func(name string) bool { return !has(name) }) {
			continue
		}
		text := "Found, and to be called from now on:\n" + strings.Join(a.Loads, "\n")
		m.Parts = slices.Clone(m.Parts)
		m.Parts[i] = a.WithContent(llm.Text{Text: text})
	}
	return m
}
