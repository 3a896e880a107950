package builtin

import (
	"context"
	"errors"
	"io"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Source is what the tools read from: the contents that one session sees.
type Source interface {
	// Open opens what is stored under ref. It returns an error that wraps [ErrNotFound] if
	// the session does not see such a content, and one that wraps [ErrDamaged] if
	// it is not what was stored.
	Open(ctx context.Context, ref llm.Ref) (Content, error)

	// Search returns the passages that fit the query best, the best first, at most limit. A
	// query is words, and any text is one.
	Search(ctx context.Context, query string, limit int) ([]Hit, error)
}

// A Content is one that can be read anywhere. ReadAt returns an error that wraps
// [ErrDamaged] where it is not what was stored.
type Content interface {
	io.ReaderAt
	io.Closer
	// Size returns the bytes of it.
	Size() int64
	// Lines returns its lines. What stands behind the last line break is one; an
	// empty content has none.
	Lines() int64
	// Line returns the place of the first byte of line n, counted from 0. Behind the last
	// line it is the size.
	Line(n int64) (int64, error)
}

// A Made is a Content that knows which tool put it out.
type Made interface {
	// Tool returns the name of the tool; empty if it is not known.
	Tool() string
}

// A Hit is a passage that a search found.
type Hit struct {
	Ref    llm.Ref
	Offset int64  // of the passage in the content, in bytes
	Line   int64  // that the passage begins in, counted from 0
	Text   string // the passage
	Said   bool   // of a line that goes on in many: Text is what stands in it, without the signs of strings
}

// A Model is asked once and answers once. Its host says which model that is, and fills in
// what a request leaves open.
type Model interface {
	// Complete returns the answer to a request.
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// What a Source says of a content that it cannot give.
var (
	ErrNotFound = errors.New("not found")
	ErrDamaged  = errors.New("damaged")
)
