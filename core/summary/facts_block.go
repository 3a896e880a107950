package summary

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// factsSignature heads the facts that code adds to a summary by a model.
const factsSignature = "[facts kept by code, beside the summary]"

// titleStored heads the Refs of outputs that were taken out.
const titleStored = "## Stored outputs"

// factShares are the sections of the facts, each with its share of their budget.
var factShares = []share{
	{titleOpen, 150}, {titleErrors, 200}, {titleChanged, 250}, {titleCommands, 150}, {titleStored, 150}, {titleRead, 100},
}

// WriteFacts returns what code can tell of messages, to stand behind what a model wrote about
// them: what is open, errors, files, commands, and the Refs of stored outputs. Those
// in the facts of an earlier summary (Options.Previous) are taken over, so that they outlive
// any number of summaries, and the oldest give way when there is no room. It is empty
// where there are none. It is never longer than o.MaxTokens by o.Count.
func WriteFacts(msgs []llm.Message, o Options) string {
	o = o.filled()
	c, earlier := o.collect(msgs)
	f := c.Facts()
	f.Human, f.Instruction, f.Answer = nil, Statement{}, Statement{}
	f.Files = append(append([]File(nil), earlier.files...), f.Files...)
	f.Commands = append(append([]Command(nil), earlier.commands...), f.Commands...)
	lines := factLines(f)
	lines[titleStored] = storedIn(msgs)
	sections := make([]section, len(factShares))
	for i, s := range factShares {
		sections[i] = section{s.title, s.permille, newest(lineItems(earlier.lines[s.title], lines[s.title]), false)}
	}
	return o.within(sections, factsSignature)
}

// storedIn returns a line for each output that is shown in part or as a line, with its Ref.
func storedIn(msgs []llm.Message) []string {
	var lines []string
	tools := map[string]string{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				tools[p.CallID] = p.Name
			case llm.ToolResult:
				for _, c := range p.Content {
					if s, ok := c.(llm.Stub); ok && s.Ref != "" {
						lines = append(lines, strings.TrimSpace(fmt.Sprintf("- ref=%s, %d bytes %s", s.Ref, s.Size, tools[p.CallID])))
					}
				}
			}
		}
	}
	return lines
}

// WithoutFacts returns a summary as a model wrote it.
func WithoutFacts(text string) string {
	before, _, _ := strings.Cut("\n"+text, "\n"+factsSignature)
	return strings.TrimSpace(before)
}
