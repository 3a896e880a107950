package ollama

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Codec is the codec of the format. See the package comment for what becomes what.
type Codec struct{}

var (
	_ wire.Codec    = Codec{}
	_ wire.Streamer = Codec{}
	_ wire.Refuser  = Codec{}
	_ wire.Splicer  = Codec{}
)

// Dialect returns [Dialect].
func (Codec) Dialect() llm.Dialect { return Dialect }

// DecodeRequest is [DecodeRequest].
func (Codec) DecodeRequest(body []byte) (llm.Request, error) { return DecodeRequest(body) }

// EncodeRequest is [EncodeRequest].
func (Codec) EncodeRequest(r llm.Request) ([]byte, error) { return EncodeRequest(r) }

// DecodeResponse is [DecodeResponse].
func (Codec) DecodeResponse(body []byte) (llm.Response, error) { return DecodeResponse(body) }

// EncodeResponse is [EncodeResponse].
func (Codec) EncodeResponse(r llm.Response) ([]byte, error) { return EncodeResponse(r) }

// NewDecoder returns a decoder of a stream of one JSON text a line.
func (Codec) NewDecoder() wire.Decoder { return newDecoder() }

// NewEncoder returns an encoder of a stream of one JSON text a line.
func (Codec) NewEncoder() wire.Encoder { return &encoder{} }

// DecodeError is [DecodeError].
func (Codec) DecodeError(status int, body []byte) *wire.Error { return DecodeError(status, body) }

// EncodeError is [EncodeError].
func (Codec) EncodeError(e *wire.Error) (int, []byte) { return EncodeError(e) }
