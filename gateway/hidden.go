package gateway

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A cover is what a client sees of a conversation in which the model has called tools that
// are not the client's: replies without those calls, and no results of them. What the model
// wrote around such a call is one message to the client.
type cover struct {
	own    []llm.Tool             // the tools that are not the client's
	allows func(tool string) bool // whether a tool may be called; nil: any
}

// any reports whether there is something that the client may not see.
func (c cover) any() bool { return len(c.own) > 0 || c.allows != nil }

// hides reports whether the client does not see calls of a tool.
func (c cover) hides(tool string) bool {
	return c.allows != nil && !c.allows(tool) || slices.ContainsFunc(c.own, func(t llm.Tool) bool { return t.Name == tool })
}

// calls returns the calls of a reply that the client does not see.
func (c cover) calls(m llm.Message) []llm.ToolCall {
	return slices.DeleteFunc(slices.Clone(m.Calls()), func(call llm.ToolCall) bool { return !c.hides(call.Name) })
}

// shown returns the parts of a reply that the client sees.
func (c cover) shown(m llm.Message) []llm.Part {
	return slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.Part) bool {
		call, ok := p.(llm.ToolCall)
		return ok && c.hides(call.Name)
	})
}

// seen returns what the client has of the messages of a session, as chain does of its own,
// and how many messages of the session each beginning takes. The last reply is left out
// while it may still go on.
func (c cover) seen(all []llm.Message) (links []llm.Digest, ends []int) {
	var at llm.Digest
	add := func(m llm.Message, to int) {
		at = llm.Chain(at, digestOf(m))
		links, ends = append(links, at), append(ends, to)
	}
	var reply []llm.Part // what the client sees of the one that goes on
	open := false
	end := func(at int) {
		add(llm.Message{Role: llm.RoleAssistant, Parts: reply}, at)
		reply, open = nil, false
	}
	hidden := map[string]bool{}
	for i, m := range all {
		calls := c.calls(m)
		for _, call := range calls {
			hidden[call.CallID] = true
		}
		switch {
		case m.Role == llm.RoleAssistant && (open || len(calls) > 0):
			reply, open = append(reply, c.shown(m)...), true
			if len(calls) == 0 {
				end(i + 1)
			}
		case open && allHidden(m, hidden):
		case open: // the client's own results of the same reply, or what it says next
			end(i)
			add(m, i+1)
		default:
			add(m, i+1)
		}
	}
	return links, ends
}

// allHidden reports whether a message is nothing but results of hidden calls.
func allHidden(m llm.Message, hidden map[string]bool) bool {
	results := m.Results()
	return len(results) > 0 && len(results) == len(m.Parts) &&
		!slices.ContainsFunc(results, func(r llm.ToolResult) bool { return !hidden[r.CallID] })
}

// beyond returns what a client's message says beyond the replies in tail, which the client
// has seen the beginning of it in. It returns false if the message is another one.
func (c cover) beyond(m llm.Message, tail []llm.Message) (rest []llm.Part, ok bool) {
	if m.Role != llm.RoleAssistant {
		return nil, false
	}
	rest = slices.Clone(m.Parts)
	for _, reply := range tail {
		if reply.Role != llm.RoleAssistant {
			continue
		}
		for _, p := range c.shown(reply) {
			if rest, ok = without(rest, p); !ok {
				return nil, false
			}
		}
	}
	return rest, true
}

// without returns what follows a part in those that a client has of a reply. Thinking is
// left out by some clients.
func without(parts []llm.Part, p llm.Part) ([]llm.Part, bool) {
	if _, thinks := p.(llm.Thinking); !thinks {
		for len(parts) > 0 && isThinking(parts[0]) {
			parts = parts[1:]
		}
	}
	var next llm.Part
	if len(parts) > 0 {
		next = parts[0]
	}
	switch p := p.(type) {
	case llm.Thinking:
		if next != nil && isThinking(next) {
			return parts[1:], true
		}
		return parts, true
	case llm.Text:
		text, ok := next.(llm.Text)
		rest, begins := strings.CutPrefix(text.Text, p.Text)
		switch {
		case p.Text == "":
			return parts, true
		case !ok || !begins:
			return nil, false
		case rest == "":
			return parts[1:], true
		}
		return append([]llm.Part{llm.Text{Text: rest}}, parts[1:]...), true
	case llm.ToolCall:
		call, ok := next.(llm.ToolCall)
		if !ok || call.Name != p.Name || call.CallID != p.CallID && call.Args != p.Args {
			return nil, false
		}
		return parts[1:], true
	}
	if next == nil {
		return parts, true // some clients keep only what they know
	}
	return parts[1:], true
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}
