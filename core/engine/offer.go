package engine

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Offers are the policy's own tools, as far as the model has them, and the texts that name
// them.
type offers struct {
	rulebook
	past
}

// exempt reports whether tool is one of the policy's own: the one that reports, or a
// reader, whose output is what the model asked for. To cut it, or to point to where it
// stands, would send the model to read it again (R001-5, R002-7 findings). It still goes
// with the oldest ones when there is no room.
func (m *offers) exempt(tool string) bool {
	return tool != "" && (tool == m.policy.FinalTool || m.own(tool))
}

// text returns one of the policy's texts, with the names by which the model knows the tools
// in it. Where one of them is not offered it is the plain form of the text: nobody is told
// to call what there is not.
func (m *offers) text(name string) string {
	if text, ok := policy.Naming(m.rulebook.text(name), m.offeredAs); ok {
		return text
	}
	return m.rulebook.text(name + policy.PlainSuffix)
}

// withRef returns a text that stands for content. Where it names no Ref, since its document
// prints it so, and the model has a tool that reads one back, the Ref follows on a line of
// its own; else it stands in the edit alone.
func (m *offers) withRef(text string) string {
	if text == "" || strings.Contains(text, "{ref}") {
		return text
	}
	reads := func(t llm.Tool) bool { return t.Builtin && policy.ReadsRefs(policy.BuiltinOf(t.Name)) }
	if !slices.ContainsFunc(m.tools, reads) {
		return text
	}
	return text + edit.RefLine
}
