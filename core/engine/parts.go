package engine

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// The rules look at the same output many times: when it arrives, for each form that it
// may be shown in, and again in each batch. A meter counts a long one once.
const (
	longPart = 256  // bytes of text from which it is cheaper to look a size up than to count
	maxParts = 1024 // sizes that are held; their texts live as long
)

// A partKey names a part by what a counter looks at: an output of one text, or a text.
type partKey struct {
	call   string
	text   string
	output bool
}

// keyOfPart reports false for parts that are not worth it, or hold more than a text.
func keyOfPart(p llm.Part) (partKey, bool) {
	switch p := p.(type) {
	case llm.Text:
		return partKey{text: p.Text}, len(p.Text) >= longPart
	case llm.ToolResult:
		if len(p.Content) == 1 {
			if t, ok := p.Content[0].(llm.Text); ok {
				return partKey{p.CallID, t.Text, true}, len(t.Text) >= longPart
			}
		}
	}
	return partKey{}, false
}

// part returns the size of a part in tokens.
func (t *meter) part(p llm.Part) int { return t.scaled(t.partSize(p)) }

func (t *meter) partSize(p llm.Part) token.Size {
	key, long := keyOfPart(p)
	if !long {
		return token.SizeOfPart(t.counter, p)
	}
	size, ok := t.parts[key]
	if !ok {
		size = token.SizeOfPart(t.counter, p)
		if t.parts == nil || len(t.parts) == maxParts {
			t.parts = map[partKey]token.Size{}
		}
		t.parts[key] = size
	}
	return size
}
