package anthropic

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// What the format has for tools that a model finds by a search (Anthropic, "Tool search tool"):
// a member of each that waits, searches that the provider runs, of which finder is the one that
// takes words, and blocks that name tools, in the place of which it puts their definitions.
const (
	deferLoading  = "defer_loading"
	finderType    = "tool_search_tool_"
	finder        = `{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}`
	searchResult  = "tool_search_tool_result"
	toolReference = "tool_reference"
)

// loadsOf returns the names of the tools whose definitions the provider puts in the place of a
// block of that kind.
func loadsOf(kind string, block []byte) []string {
	switch kind {
	case toolReference:
		if name := raw.Unquote(raw.Value(block, "tool_name")); name != "" {
			return []string{name}
		}
	case searchResult:
		var names []string
		list := raw.Value(raw.Value(block, "content"), "tool_references")
		for _, at := range raw.Elements(list) {
			names = append(names, loadsOf(toolReference, raw.Slice(list, at))...)
		}
		return names
	}
	return nil
}

// deferredAs returns a definition that waits until the model finds it, or does not.
func deferredAs(tool []byte, deferred bool) []byte {
	switch was := string(raw.Value(tool, deferLoading)) == "true"; {
	case was == deferred:
		return tool
	case deferred:
		return raw.Set(tool, deferLoading, []byte("true"))
	}
	return raw.Delete(tool, deferLoading)
}

// unmarked returns elements of which none that is deferred has a cache mark, which would be
// refused: the mark of one that has become so moves to the nearest tool before it that may have
// it. What a client has deferred and marked itself stays.
func unmarked(elements []raw.Element, tools []llm.Tool) []raw.Element {
	last := -1
	for i, t := range tools {
		if !t.Deferred {
			last = i
			continue
		}
		mark := raw.Value(elements[i].Bytes, cacheControl)
		own := raw.IsObject(t.Data) && string(raw.Value(t.Data, deferLoading)) == "true"
		if mark == nil || own {
			continue
		}
		elements[i].Bytes = raw.Delete(elements[i].Bytes, cacheControl)
		if last >= 0 && raw.Value(elements[last].Bytes, cacheControl) == nil {
			elements[last].Bytes = raw.Set(elements[last].Bytes, cacheControl, mark)
		}
	}
	return elements
}

// referring returns r with the answers that load tools as names of these, in the place of which
// the provider puts their definitions: where all of them are declared in r as deferred. Else
// the answer says itself what they are.
func referring(r llm.Request) llm.Request {
	deferred := map[string]bool{}
	for _, t := range r.Tools {
		if t.Deferred {
			deferred[t.Name] = true
		}
	}
	if len(deferred) == 0 {
		return r
	}
	copied := false
	for i, m := range r.Messages {
		if !slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return refers(p, deferred) }) {
			continue
		}
		if !copied {
			r.Messages, copied = slices.Clone(r.Messages), true
		}
		parts := slices.Clone(m.Parts)
		for at, p := range parts {
			if refers(p, deferred) {
				parts[at] = reference(p)
			}
		}
		r.Messages[i].Parts = parts
	}
	return r
}

// declared returns r with what the provider's own search has found without the tools that are not
// declared any more, as when a server has gone, which would be refused for good: in a request that
// was made here, or that has the search put in here. What a client has deferred itself stays.
func declared(r llm.Request) llm.Request {
	made := r.Dialect != Dialect || len(r.Frame.Raw) == 0
	names := map[string]bool{}
	for _, t := range r.Tools {
		made = made || t.Finder && t.Data == nil && t.Base == nil
		if names[t.Name] = true; t.Name == "" && !t.Finder {
			return r // a set of tools that the provider looks up itself
		}
	}
	if !made {
		return r
	}
	copied := false
	for i, m := range r.Messages {
		for at, p := range m.Parts {
			o, ok := p.(llm.Opaque)
			if !ok || o.Kind != searchResult || !slices.ContainsFunc(o.Loads, func(name string) bool { return !names[name] }) {
				continue
			}
			if !copied {
				r.Messages, copied = slices.Clone(r.Messages), true
			}
			if &r.Messages[i].Parts[0] == &m.Parts[0] {
				r.Messages[i].Parts = slices.Clone(m.Parts)
			}
			r.Messages[i].Parts[at] = foundOf(o, names)
		}
	}
	return r
}

// foundOf returns what a search has found of the tools that are declared.
func foundOf(o llm.Opaque, names map[string]bool) llm.Opaque {
	content := raw.Value(o.Bytes(), "content")
	list := raw.Value(content, "tool_references")
	kept := [][]byte{}
	for _, at := range raw.Elements(list) {
		one := raw.Slice(list, at)
		if loads := loadsOf(toolReference, one); len(loads) == 0 || names[loads[0]] {
			kept = append(kept, one)
		}
	}
	content = raw.Set(content, "tool_references", raw.Array(kept))
	o.Raw = llm.Raw{Data: raw.Set(o.Bytes(), "content", content)}
	o.Loads = slices.DeleteFunc(slices.Clone(o.Loads), func(name string) bool { return !names[name] })
	return o
}

// refers reports whether p is an answer that is sent as names.
func refers(p llm.Part, deferred map[string]bool) bool {
	a, ok := p.(llm.ToolResult)
	if !ok || a.Data != nil || len(a.Loads) == 0 {
		return false
	}
	return !slices.ContainsFunc(a.Loads, func(name string) bool { return !deferred[name] })
}

// reference returns an answer as names.
func reference(p llm.Part) llm.Part {
	a, _ := p.(llm.ToolResult)
	names := a.Loads
	a = a.WithContent()
	for _, name := range names {
		data := new(raw.Object).Text("type", toolReference).Text("tool_name", name).Bytes()
		a.Content = append(a.Content, llm.Opaque{Kind: toolReference, Raw: llm.Raw{Data: data}})
	}
	return a
}
