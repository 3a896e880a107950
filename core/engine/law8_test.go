package engine_test

import (
	"reflect"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// offeredAsSet checks that tools are sent as they were set, each once: all that are not left
// out, and the one that finds those only where there are some, or were: what was found stands
// behind it.
func offeredAsSet(h *host, sent []llm.Tool) error {
	is := func(a llm.Tool) func(llm.Tool) bool {
		return func(b llm.Tool) bool { return reflect.DeepEqual(a, b) }
	}
	all, out := h.m.ToolsSet(), h.m.LeftOut()
	if len(sent) > len(all) {
		return broken("%d tools were sent of %d that were set", len(sent), len(all))
	}
	for _, t := range all {
		search := t.Builtin && t.Name == policy.ToolSearch
		at := slices.IndexFunc(sent, is(t))
		left := slices.ContainsFunc(out, is(t)) || search && len(out) == 0 && (at < 0 || at == len(sent)-1)
		if got := at >= 0; got == left {
			return broken("law 8: tool %s of kind %s: sent %v, left out %v", t.Name, t.Kind, got, left)
		}
		if left && !search && t.Kind == llm.ToolBuiltIn {
			return broken("tool %s is the program's own and was left out", t.Name)
		}
	}
	return nil
}

// pinned is law 8: system prompt and tools go out as they were set, and so do the
// messages that the policy pins.
func (l *laws) pinned(h *host, s *engine.Send) error {
	shown := map[llm.MessageID]llm.Message{}
	for _, it := range s.Items {
		shown[it.Message.ID] = it.Message
	}
	pins := pinsOf(h.m.Policy(), h.m.Messages())
	if len(h.m.Sections()) == 0 {
		pins = append(pins, leading(h.m.Messages())...)
	}
	for _, m := range pins {
		if !l.gone[m.ID] && !sameWords(shown[m.ID], m, cutsPins(h)) {
			return broken("law 8: message %d is pinned and was not sent as it came", m.ID)
		}
	}
	own := h.m.Sections()
	if n := len(own) - len(h.m.View().Sections); !reflect.DeepEqual(s.Sections[:n], own[:n]) {
		return broken("law 8: the system prompt was not sent as it was set")
	}
	if s.Final == engine.ReasonNone {
		return offeredAsSet(h, s.Tools)
	}
	return nil
}

// leading returns the system prompt of formats that have it among the messages.
func leading(msgs []llm.Message) []llm.Message {
	n := slices.IndexFunc(msgs, func(m llm.Message) bool { return m.Role != llm.RoleSystem })
	if n < 0 {
		n = len(msgs)
	}
	return msgs[:n]
}

func pinsOf(p policy.Policy, msgs []llm.Message) []llm.Message {
	var humans, out []llm.Message
	for _, m := range msgs {
		if m.Origin == llm.Human {
			humans = append(humans, m)
		}
		if m.Flags.Has(llm.FlagRules) && slices.Contains(p.Pins, policy.PinRules) {
			out = append(out, m)
		}
	}
	if len(humans) == 0 {
		humans = msgs[:min(len(msgs), 1)]
	}
	if len(humans) > 0 && slices.Contains(p.Pins, policy.PinFirstHuman) {
		out = append(out, humans[0])
	}
	if len(humans) > 0 && slices.Contains(p.Pins, policy.PinLastHuman) {
		out = append(out, humans[len(humans)-1])
	}
	return out
}
