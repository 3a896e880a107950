package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// ToolLists say which tools a model may be offered. Each entry is the name
// of a tool, or the beginning of names with a * behind it. What is denied is denied,
// also where it is allowed as well. An empty Allowed allows all.
type ToolLists struct{ Allowed, Denied Stated[[]string] }

// allows reports whether the lists let a tool through.
func (l ToolLists) allows(name string) bool {
	return !ToolListed(l.Denied.Value, name) && (len(l.Allowed.Value) == 0 || ToolListed(l.Allowed.Value, name))
}

// ToolListed reports whether a list of tools has one of that name: an entry is a name, or the
// beginning of names with a * behind it.
func ToolListed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begin, wild := strings.CutSuffix(entry, "*")
		return entry == name || wild && strings.HasPrefix(name, begin)
	})
}

// ModelTools are the lists of one model. They take the place of the file's.
type ModelTools struct {
	Provider, Model string
	ToolLists
}

// FileTools are what one file says about tools.
type FileTools struct {
	All    ToolLists
	Models []ModelTools
}

// of returns the lists that hold for a model: each its own, else the file's.
func (f FileTools) of(provider, model string) ToolLists {
	lists := f.All
	for _, m := range f.Models {
		if m.Provider == provider && m.Model == model {
			lists = ToolLists{first(m.Allowed, lists.Allowed), first(m.Denied, lists.Denied)}
		}
	}
	return lists
}

// Tools are the lists of all files that hold for one model. A tool must get through
// all of them, so that a file in the working folder, which may be somebody else's,
// cannot allow what the user's own denies.
type Tools []ToolLists

// ToolsOf returns the lists that hold for a model.
func (s Settings) ToolsOf(provider, model string) (all Tools) {
	for _, f := range s.Tools {
		if lists := f.of(provider, model); lists.Allowed.Set() || lists.Denied.Set() {
			all = append(all, lists)
		}
	}
	return all
}

// Allows reports whether the model may be offered the tool of that name.
func (t Tools) Allows(name string) bool {
	return !slices.ContainsFunc(t, func(l ToolLists) bool { return !l.allows(name) })
}

// Filter returns the tools that the model may be offered, in their order. The slice
// is new.
func (t Tools) Filter(tools []llm.Tool) []llm.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(tool llm.Tool) bool { return !t.Allows(tool.Name) })
}

// toolList reads toolsAllowed or toolsDenied. It reports whether the field is one.
func (r *settingsReader) toolList(l *ToolLists, path string, m member) bool {
	list := &l.Allowed
	switch m.name {
	case "toolsAllowed":
	case "toolsDenied":
		list = &l.Denied
	default:
		return false
	}
	if list.Set() {
		r.fault(m.value, "%s: want one list, got another on line %d (%s)", path, list.From.Line, list.From.Field)
		return true
	}
	*list = stated(r, path, m, r.toolNames(path, m.value))
	return true
}

func (r *settingsReader) toolNames(path string, n *node) []string {
	if n.kind != list {
		r.fault(n, "%s: want a list of tools, got %s", path, kindOf(n))
		return nil
	}
	names := []string{}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		name := r.text(at, item)
		switch {
		case strings.ContainsFunc(name, unicode.IsSpace):
			r.fault(item, "%s: want the name of a tool, which has no space in it, got %s", at, describe(item))
		case strings.Contains(strings.TrimSuffix(name, "*"), "*"):
			r.fault(item, "%s: want the name of a tool, or the beginning of names with one * behind it, got %s", at, describe(item))
		}
		names = append(names, name)
	}
	return names
}
