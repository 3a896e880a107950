package llm

import "slices"

// A Mark asks a provider to keep the prompt up to the end of what it stands on: a tool, a
// section or a message. It says nothing to the model, and no digest has it. A request that is
// decoded has none: the marks of a client stay in the bytes that it sent.
type Mark uint8

// The marks.
const (
	NoMark    Mark = iota
	MarkShort      // with the provider's usual lifetime
	MarkLong       // with its longest
)

// A Piece is what a mark can stand on.
type Piece uint8

// The pieces of a request.
const (
	OnTool Piece = iota
	OnSection
	OnMessage
)

// String returns the name of p.
func (p Piece) String() string { return [...]string{"tool", "section", "message"}[min(p, OnMessage)] }

// A Place is where a mark stands.
type Place struct {
	On   Piece
	At   int // among the tools, sections or messages of the request, from 0
	Mark Mark
}

// Marks are the marks of a request, in any order. They stand beside its lists, which many
// requests share. A piece has one mark: of two places on one piece the last holds. A place
// where nothing is says nothing. Who takes something out of a list, or puts something into it,
// moves the marks with it.
type Marks []Place

// On returns the mark of a piece; NoMark if it has none.
func (m Marks) On(p Piece, at int) Mark {
	for _, place := range slices.Backward(m) {
		if place.On == p && place.At == at {
			return place.Mark
		}
	}
	return NoMark
}

// With returns m with one more mark; m is not changed. Where a piece has one already, the one
// with the longer lifetime holds. A place below 0 is none.
func (m Marks) With(p Place) Marks {
	if p.At < 0 || m.On(p.On, p.At) >= p.Mark {
		return m
	}
	return append(slices.Clip(m), p)
}
