package openai

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Chat is the codec of Chat Completions. See the package comment for what becomes what.
type Chat struct {
	// MaxTokens says that a body written from the start limits the output by max_tokens.
	// OpenAI itself has max_completion_tokens instead; many servers that speak like it
	// know only the older name, and pass over the newer one.
	MaxTokens bool
}

// Responses is the codec of the Responses format. See the package comment for what
// becomes what.
type Responses struct{}

var (
	_ wire.Codec    = Chat{}
	_ wire.Streamer = Chat{}
	_ wire.Refuser  = Chat{}
	_ wire.Splicer  = Chat{}
	_ wire.Codec    = Responses{}
	_ wire.Streamer = Responses{}
	_ wire.Refuser  = Responses{}
	_ wire.Splicer  = Responses{}
)

// Dialect returns [DialectChat].
func (Chat) Dialect() llm.Dialect { return DialectChat }

// DecodeRequest is [DecodeChat].
func (Chat) DecodeRequest(body []byte) (llm.Request, error) { return DecodeChat(body) }

// EncodeRequest is [EncodeChat].
func (c Chat) EncodeRequest(r llm.Request) ([]byte, error) {
	if c.MaxTokens {
		return encodeChat(r, olderLimit)
	}
	return EncodeChat(r)
}

// DecodeResponse is [DecodeChatResponse].
func (Chat) DecodeResponse(body []byte) (llm.Response, error) { return DecodeChatResponse(body) }

// EncodeResponse is [EncodeChatResponse].
func (Chat) EncodeResponse(r llm.Response) ([]byte, error) { return EncodeChatResponse(r) }

// NewDecoder returns a decoder of a stream of chat.completion.chunk objects.
func (Chat) NewDecoder() wire.Decoder { return newChatDecoder() }

// NewEncoder returns an encoder of a stream of chat.completion.chunk objects.
func (Chat) NewEncoder() wire.Encoder { return &chatEncoder{} }

// DecodeError reads an error body; see [DecodeError].
func (Chat) DecodeError(status int, body []byte) *wire.Error { return DecodeError(status, body) }

// EncodeError writes an error body; see [EncodeError].
func (Chat) EncodeError(e *wire.Error) (int, []byte) { return EncodeError(e) }

// Dialect returns [DialectResponses].
func (Responses) Dialect() llm.Dialect { return DialectResponses }

// DecodeRequest is [DecodeResponses].
func (Responses) DecodeRequest(body []byte) (llm.Request, error) { return DecodeResponses(body) }

// EncodeRequest is [EncodeResponses].
func (Responses) EncodeRequest(r llm.Request) ([]byte, error) { return EncodeResponses(r) }

// DecodeResponse is [DecodeResponsesResponse].
func (Responses) DecodeResponse(body []byte) (llm.Response, error) {
	return DecodeResponsesResponse(body)
}

// EncodeResponse is [EncodeResponsesResponse].
func (Responses) EncodeResponse(r llm.Response) ([]byte, error) { return EncodeResponsesResponse(r) }

// NewDecoder returns a decoder of a stream of response events.
func (Responses) NewDecoder() wire.Decoder { return newResponsesDecoder() }

// NewEncoder returns an encoder of a stream of response events.
func (Responses) NewEncoder() wire.Encoder { return &responsesEncoder{} }

// DecodeError reads an error body; see [DecodeError].
func (Responses) DecodeError(status int, body []byte) *wire.Error { return DecodeError(status, body) }

// EncodeError writes an error body; see [EncodeError].
func (Responses) EncodeError(e *wire.Error) (int, []byte) { return EncodeError(e) }
