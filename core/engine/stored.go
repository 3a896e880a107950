package engine

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Stored adds a tool output that the host has put into the store already, so
// that its body never enters the core. The rules act on it as on one that is appended:
// by the figures of the whole, and with Head and Tail for its text, of which the model
// may see what they leave. A host that gives as much as the rules may show loses nothing
// by storing an output itself.
type Stored struct {
	CallID  string
	Ref     llm.Ref
	Bytes   int
	Lines   int    // a last line without a newline counts
	Tokens  int    // by the host's count; 0 if it was not counted
	Head    string // its beginning, as far as the host read it
	Tail    string // its end; empty if Head is all, or is not known
	IsError bool

	Reserved int // as of Append
}

func (Stored) input() {}

// What is shown of an output that the host has stored where no rule says how much.
const (
	storedHead = 2_000 // bytes of its beginning
	storedTail = 1_000 // and of its end
)

// feedStored appends a result whose body is in the store already. The rules see it as
// they see one that was appended, with the figures of the whole and its ends for its
// text. As it comes it is shown by the rule that moves such outputs out, if there is
// one: whole it cannot be.
func (m *intake) feedStored(in Stored) error {
	if _, err := llm.ParseRef(string(in.Ref)); err != nil {
		return fmt.Errorf("engine: stored: %w", err)
	}
	stub := llm.Stub{Ref: in.Ref, Size: in.Bytes, Lines: in.Lines, Tokens: m.tokensOf(in)}
	m.incoming = incoming{ends: edit.Ends{Ref: in.Ref, Head: in.Head, Tail: in.Tail}}
	defer func() { m.incoming = incoming{} }()
	stub.Text, m.incoming.bare = m.handle(in, stub)
	err := m.feedAppend(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{
		CallID: in.CallID, IsError: in.IsError, Content: []llm.Part{stub},
	}}})
	if err == nil {
		m.stored[in.Ref] = true
	}
	return err
}

// tokensOf returns what an output would take whole: by the host's count, else as its
// beginning does.
func (m *intake) tokensOf(in Stored) int {
	if in.Tokens > 0 || in.Head == "" {
		return in.Tokens
	}
	n := m.gauge.Text(in.Head)
	return in.Bytes/len(in.Head)*n + in.Bytes%len(in.Head)*n/len(in.Head)
}

// handle returns the text that stands for a stored output as it comes, and whether that
// shows nothing of it.
func (m *intake) handle(in Stored, stub llm.Stub) (text string, bare bool) {
	template := orElse(m.text(policy.TemplateOffload), backstopOffload)
	v := edit.Values{
		Ref: in.Ref, Bytes: in.Bytes, Lines: in.Lines, Tokens: stub.Tokens, Preview: m.incoming.ends.Short(storedHead, storedTail),
		Tool: m.toolOf(in.CallID),
	}
	for _, r := range m.policy.Rules {
		if r.Do == policy.DoOffload {
			template, v.Preview = m.text(r.Args.Template), beginningOf(r).Of(in.Head)
			break
		}
	}
	return edit.Fill(template, v), v.Preview == "" || !edit.Previews(template)
}
