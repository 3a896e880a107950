package wire

import "github.com/plimsoll-dev/plimsoll/core/llm"

// A Codec reads and writes the bodies of one dialect.
type Codec interface {
	// Dialect names the dialect.
	Dialect() llm.Dialect
	// DecodeRequest reads a request body, which nobody may write to from here on.
	DecodeRequest(body []byte) (llm.Request, error)
	// EncodeRequest returns the body of r. A request that was decoded by this codec
	// and not changed gives the very bytes (the same slice) that it came as. What
	// another dialect wrote is written from its neutral fields; what this dialect has
	// no form for is left out (package wire/convert makes that explicit).
	EncodeRequest(r llm.Request) ([]byte, error)
	// DecodeResponse reads the body of a reply that was not streamed.
	DecodeResponse(body []byte) (llm.Response, error)
	// EncodeResponse returns the body of r, under the same law as EncodeRequest.
	EncodeResponse(r llm.Response) ([]byte, error)
}

// A Streamer is a [Codec] whose dialect can stream replies. All codecs here are.
type Streamer interface {
	// NewDecoder returns a decoder at the start of a stream.
	NewDecoder() Decoder
	// NewEncoder returns an encoder at the start of a stream.
	NewEncoder() Encoder
}

// A Decoder reads one stream. The events do not depend on how its bytes are cut into
// chunks, and memory does not grow with the stream, only with its largest payload and
// the parts that are open. It is used by one goroutine.
type Decoder interface {
	// Feed reads the next bytes of the stream and returns the events that they
	// complete; the slice is good until the next call. A provider's error event is
	// returned as an [*Error]; anything that is not the dialect is an error too. After
	// an error the decoder is at its end.
	Feed(chunk []byte) ([]llm.Event, error)
	// Close says that the stream has ended and returns its last events. A stream that
	// was cut before its reply was whole is an error that matches [ErrCut].
	Close() ([]llm.Event, error)
}

// An Encoder writes one stream.
type Encoder interface {
	// Append appends the bytes of e to dst. The error says that no stream of this
	// dialect has e at this place.
	Append(dst []byte, e llm.Event) ([]byte, error)
	// AppendError appends e as the last event of the stream, which may also be the first:
	// as it came where it is an error event of the dialect, else with the dialect's shape
	// and words. Nothing can be appended after it.
	AppendError(dst []byte, e *Error) []byte
}

// A Refuser is a [Codec] that reads and writes the error bodies of its dialect. All
// codecs here are.
type Refuser interface {
	// DecodeError reads the body of an answer with an HTTP status of 400 or more. It
	// never fails: a body that is none of the dialect is classified by its status.
	DecodeError(status int, body []byte) *Error
	// EncodeError returns the status and the body that the provider would answer e
	// with: its Body where it has one, else a body of the same shape.
	EncodeError(e *Error) (status int, body []byte)
}
