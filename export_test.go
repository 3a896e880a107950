package plimsoll

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// EncodingsOf returns what a session loads vocabularies with.
func EncodingsOf(s *Session) token.Encodings { return s.options.Encodings }

// Feed gives a session's machine an input as it stands, for what no method of it says.
func Feed(ctx context.Context, s *Session, in engine.Input) error { return s.tell(ctx, in) }
