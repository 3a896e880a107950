package token

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Content is what the tokens of a prompt are spent on: a finer division than
// [Component], for people who look at where a window goes. Nothing is decided by it.
type Content uint8

// The contents, in the order of a prompt.
const (
	ContentHidden   Content = iota // what a client sends and does not record
	ContentSystem                  // system prompt and skills
	ContentTools                   // tool definitions
	ContentSummary                 // summaries of what was said before
	ContentNotes                   // reminders, notices, attachments, instruction files
	ContentHuman                   // what people wrote
	ContentModel                   // what the model wrote, but for the next two
	ContentThinking                // the model's thinking, hidden or not
	ContentCalls                   // tool calls with their arguments
	ContentOutputs                 // tool outputs
	ContentStubs                   // what stands in the place of outputs that were taken out
	ContentMedia                   // images, documents, sound

	// NumContents is how many contents there are.
	NumContents = int(iota)
)

// String returns the content's name in lower case.
func (c Content) String() string {
	names := [NumContents]string{
		"hidden", "system", "tools", "summary", "notes", "human", "model", "thinking", "calls", "outputs", "stubs", "media",
	}
	if int(c) < NumContents {
		return names[c]
	}
	return "content?"
}

// Contents are tokens by Content.
type Contents [NumContents]int

// Total returns all tokens of c.
func (c Contents) Total() int {
	n := 0
	for _, tokens := range c {
		n += tokens
	}
	return n
}

// Add returns the sum of c and o, one by one.
func (c Contents) Add(o Contents) Contents {
	for i, n := range o {
		c[i] += n
	}
	return c
}

// Scaled returns c with its total changed to total, in proportion; what rounding
// leaves over goes to the largest. Contents of nothing stay as they are.
func (c Contents) Scaled(total int) Contents {
	sum := c.Total()
	if sum <= 0 || total < 0 {
		return c
	}
	out, largest, left := Contents{}, 0, total
	for i, n := range c {
		out[i] = int(int64(n) * int64(total) / int64(sum))
		left -= out[i]
		if n > c[largest] {
			largest = i
		}
	}
	out[largest] += left
	return out
}

// ContentsOf divides a message's tokens by c. What the counter adds to a message as
// such is booked with its first part. changed says that an edit has replaced outputs
// of this message, which then count as stubs.
func ContentsOf(c Counter, m llm.Message, changed bool) Contents {
	var out Contents
	first := contentOfMessage(m)
	for i, p := range m.Parts {
		size, where := SizeOfPart(c, p), contentOfPart(p, m, changed)
		if i == 0 {
			first = where
		}
		out[where] += size.Tokens + size.Known
		out[ContentMedia] += size.MediaTokens
	}
	if e, ok := c.(estimator); ok && e.added.message == 0 {
		return out // a message is its parts: see estimator.message
	}
	if more := SizeOf(c, m).All() - out.Total(); more > 0 {
		out[first] += more
	}
	return out
}

// ContentOfSection returns what a section of the system prompt is.
func ContentOfSection(s llm.Section) Content {
	switch ComponentOfSection(s) {
	case Summary:
		return ContentSummary
	case Tools:
		return ContentTools
	case Notes:
		return ContentNotes
	}
	if s.Text == "" && len(s.Data) == 0 {
		return ContentHidden
	}
	return ContentSystem
}

func contentOfMessage(m llm.Message) Content {
	switch {
	case m.Flags.Has(llm.FlagSummary):
		return ContentSummary
	case m.Origin == llm.Note:
		return ContentNotes
	case m.Origin == llm.Human:
		return ContentHuman
	case m.Origin == llm.ToolRun:
		return ContentOutputs
	}
	return ContentModel
}

func contentOfPart(p llm.Part, m llm.Message, changed bool) Content {
	switch p.(type) {
	case llm.Thinking:
		return ContentThinking
	case llm.ToolCall:
		return ContentCalls
	case llm.Media:
		return ContentMedia
	case llm.Stub:
		return ContentStubs
	case llm.ToolResult:
		if changed {
			return ContentStubs
		}
		return ContentOutputs
	}
	return contentOfMessage(m)
}
