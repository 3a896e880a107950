package builtin

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// An Answer is what a call gets.
type Answer struct {
	Text    string // for the model; valid UTF-8, never empty
	IsError bool   // the call could not be done as it was made
	Ref     llm.Ref
	// NoText says that what is stored under Ref is not text, or none to read, such as an image:
	// the Text says what it is. A host that can show it to the model may do so beside.
	NoText bool
	// Loads names the tools that the Text has the definitions of, where it has those of any.
	Loads []string
	Usage llm.Usage // of the questions that were put to the Model
	// Fault is what went wrong without the model's doing, for the host to tell: it wraps
	// [ErrDamaged] for a content that is damaged, else it is the error of the Source
	// or the Model, or of the context. The Text says so without its words.
	Fault error
}

// said is an answer that is no error.
func said(text string) Answer { return Answer{Text: text} }

// wrong is the answer to a call that was made wrongly.
func wrong(tool string, err error) Answer {
	return Answer{Text: tool + ": " + err.Error(), IsError: true}
}

// unknown is the answer to a call for what is not there: nothing that the model did wrong,
// since contents may go.
func unknown(name string) Answer {
	return said(fmt.Sprintf("Nothing is stored under %s: not found, it may have expired.", quote(name)))
}

// failed is the answer where a content could not be read.
func failed(ctx context.Context, ref llm.Ref, err error) Answer {
	switch {
	case ctx.Err() != nil:
		return Answer{Text: "The call was interrupted.", IsError: true, Ref: ref, Fault: ctx.Err()}
	case errors.Is(err, ErrNotFound):
		return unknown(string(ref))
	case errors.Is(err, ErrDamaged):
		text := fmt.Sprintf("What is stored under %s is damaged and cannot be read there.", ref)
		return Answer{Text: text, IsError: true, Ref: ref, Fault: err}
	}
	return Answer{Text: "The store cannot be read now.", IsError: true, Ref: ref, Fault: err}
}

// What the source document prints: where nothing matches, and where more would.
const (
	noMatches = "No matches for: "
	truncated = "... (truncated)"
)
