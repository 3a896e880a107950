package plimsoll

import "github.com/plimsoll-dev/plimsoll/core/token"

// EncodingsOf returns what a session loads vocabularies with.
func EncodingsOf(s *Session) token.Encodings { return s.options.Encodings }
