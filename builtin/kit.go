package builtin

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A Kit is the tools that a policy offers. It is a value: it may be copied and used
// concurrently.
type Kit struct {
	tools  []tool
	names  map[string]string // under which each is offered, by its own name; without one it is not
	limits Limits
}

// New returns the Kit of some of the tools that package policy names, in their order. Those
// that this package does not have are not in it. A name that is none is an error.
func New(names []string) (Kit, error) {
	var k Kit
	all := tools()
	for _, name := range names {
		i := slices.IndexFunc(all, func(t tool) bool { return t.name == name })
		switch {
		case i < 0:
			return Kit{}, fmt.Errorf("builtin: new kit: tool, want one that a policy can name, got %q", name)
		case !slices.ContainsFunc(k.tools, func(t tool) bool { return t.name == name }):
			k.tools = append(k.tools, all[i])
		}
	}
	return k.Within(Limits{}).Beside(nil), nil
}

// Names returns the names of all tools that read, which need no session to be open.
func Names() []string {
	var out []string
	for _, t := range tools() {
		if t.name != policy.ToolCompactContext && t.name != policy.ToolSearch {
			out = append(out, t.name)
		}
	}
	return out
}

// Within returns the Kit with other limits.
func (k Kit) Within(l Limits) Kit {
	k.limits = l.stated()
	return k
}

// Beside returns the Kit as it is offered beside a client's tools: the client's tool keeps a
// name that both have, and ours takes a prefix. Where that is taken, too, ours is not
// offered.
func (k Kit) Beside(taken []string) Kit {
	names := make(map[string]string, len(k.tools))
	for _, t := range k.tools {
		for _, name := range []string{t.name, policy.ToolPrefix + t.name} {
			if !slices.Contains(taken, name) {
				names[t.name] = name
				break
			}
		}
	}
	k.names = names
	return k
}

// Tools returns the definitions of the tools that are offered, in the policy's order. The
// same Kit gives the same bytes.
func (k Kit) Tools() []llm.Tool {
	var out []llm.Tool
	for _, t := range k.tools {
		if k.offers(t.name) {
			out = append(out, llm.Tool{Name: k.names[t.name], Description: t.about, Schema: t.schema, Builtin: true})
		}
	}
	return out
}

// Serves reports whether a call by that name is for the Kit.
func (k Kit) Serves(name string) bool {
	_, ok := k.find(name)
	return ok
}

// Call answers a call. Without a Model, which may be nil, no model is asked: the tool that
// would does by itself what it can.
func (k Kit) Call(ctx context.Context, s Source, m Model, call llm.ToolCall) Answer {
	t, ok := k.find(call.Name)
	if !ok {
		return Answer{Text: fmt.Sprintf("There is no tool %s here.", quote(call.Name)), IsError: true}
	}
	v := visit{limits: k.limits, names: k.names, tool: call.Name, source: s, model: m, args: readArgs(call.Args)}
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	return t.run(ctx, &v)
}

// offers reports whether a tool is offered, by its own name.
func (k Kit) offers(name string) bool { return k.names[name] != "" }

// find returns the tool that is offered under a name.
func (k Kit) find(offered string) (tool, bool) {
	for _, t := range k.tools {
		if k.offers(t.name) && k.names[t.name] == offered {
			return t, true
		}
	}
	return tool{}, false
}
