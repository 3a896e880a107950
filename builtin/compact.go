package builtin

import "context"

// A Compacter is a Source that can make room in the conversation that calls its tools.
type Compacter interface {
	// Compact makes room now, whatever the thresholds say, and returns in a sentence what
	// that did.
	Compact(ctx context.Context) (string, error)
}

// compact answers compact_context.
func compact(ctx context.Context, v *visit) Answer {
	c, ok := v.source.(Compacter)
	if !ok {
		return Answer{Text: "This conversation cannot be compacted from here.", IsError: true}
	}
	text, err := c.Compact(ctx)
	switch {
	case ctx.Err() != nil:
		return Answer{Text: "The call was interrupted.", IsError: true, Fault: ctx.Err()}
	case err != nil:
		return Answer{Text: "The context could not be compacted now.", IsError: true, Fault: err}
	}
	return said(text)
}
