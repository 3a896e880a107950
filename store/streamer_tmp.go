package store

import (
	"context"
	"io"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Streamer is a Store that takes content as it comes.
type Streamer interface {
	PutFrom(ctx context.Context, session string, r io.Reader) (ref llm.Ref, size int64, err error)
}
