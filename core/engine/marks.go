package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// behindShown returns the place behind the last tool that a model has before it: one that waits
// until it is found may have no mark, wherever a host has it in the list.
func behindShown(tools []llm.Tool) int {
	n := len(tools)
	for n > 0 && tools[n-1].Deferred {
		n--
	}
	return n
}

// marks returns where the cache marks of the request to a target stand, which shows these items.
func (m *intake) marks(to budget.Target, items []edit.Item) llm.Marks {
	rule, ok := m.cfg.Catalog.CacheRuleOf(to.Model)
	if !ok {
		return nil
	}
	front := llm.MarkShort
	if m.policy.Prompt.Long {
		front = llm.MarkLong
	}
	return prompt.Marks(rule, m.policy.Prompt.Marks, front, prompt.Layout{
		Tools: behindShown(m.offered()), Sections: m.allSections(), Items: items,
	})
}

// cacheKey returns the name that the conversation has for the provider of a target, which is
// that of its first message: a fork begins as its parent, and reads what that has written.
func (m *intake) cacheKey(to budget.Target) string {
	rule, _ := m.cfg.Catalog.CacheRuleOf(to.Model)
	if !rule.Keyed || m.policy.Prompt.Marks != prompt.MarksMoving || len(m.messages) == 0 {
		return ""
	}
	return llm.DigestOf(m.messages[0]).String()
}

// explicit returns what of the request to target i, which shows these items, may be kept as a
// resource of its own. Its name is that of the first message, so that a fork begins with what
// its parent has kept.
func (m *intake) explicit(i int, items []edit.Item) llm.ExplicitCache {
	rule, _ := m.cfg.Catalog.CacheRuleOf(m.resolved[i].Model)
	if !rule.Named || !m.policy.Prompt.Explicit || len(m.messages) == 0 {
		return llm.ExplicitCache{}
	}
	n := prompt.ExplicitPrefix(items)
	tokens := m.count[i].Count().Point
	for _, it := range items[n:] {
		tokens -= m.count[i].Message(it.Message)
	}
	if tokens < rule.Minimum {
		return llm.ExplicitCache{}
	}
	return llm.ExplicitCache{Name: llm.DigestOf(m.messages[0]).String(), Messages: n, Tokens: tokens}
}
