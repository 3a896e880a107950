package anthropic

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Codec is the codec of this dialect. The zero Codec is ready for use; it holds nothing.
type Codec struct{}

var (
	_ wire.Codec    = Codec{}
	_ wire.Streamer = Codec{}
	_ wire.Refuser  = Codec{}
	_ wire.Splicer  = Codec{}
)

// Dialect returns [Dialect].
func (Codec) Dialect() llm.Dialect { return Dialect }

// DecodeRequest is the function [DecodeRequest].
func (Codec) DecodeRequest(body []byte) (llm.Request, error) { return DecodeRequest(body) }

// EncodeRequest is the function [EncodeRequest].
func (Codec) EncodeRequest(r llm.Request) ([]byte, error) { return EncodeRequest(r) }

// DecodeResponse is the function [DecodeResponse].
func (Codec) DecodeResponse(body []byte) (llm.Response, error) { return DecodeResponse(body) }

// EncodeResponse is the function [EncodeResponse].
func (Codec) EncodeResponse(r llm.Response) ([]byte, error) { return EncodeResponse(r) }

// NewDecoder returns a [wire.Decoder] at the start of a stream.
func (Codec) NewDecoder() wire.Decoder { return &decoder{} }

// NewEncoder returns a [wire.Encoder] at the start of a stream.
func (Codec) NewEncoder() wire.Encoder { return &encoder{} }

// DecodeError is the function [DecodeError].
func (Codec) DecodeError(status int, body []byte) *wire.Error { return DecodeError(status, body) }

// EncodeError is the function [EncodeError].
func (Codec) EncodeError(e *wire.Error) (int, []byte) { return EncodeError(e) }
