// Package anthropic reads and writes the bodies of Anthropic Messages requests:
// bytes to [llm.Request] and back. It does no HTTP, reads no replies and decides
// nothing about what is sent.
//
// # Bytes
//
// What [DecodeRequest] read and nobody changed, [EncodeRequest] gives back byte for
// byte: unknown fields, the spelling of numbers, escapes, white space, members that
// occur twice (the last one counts). Where parts were edited only their own bytes
// change; where messages were removed or added only the message list is written
// anew, around the messages that stayed. The data of parts and the raw bytes of
// envelopes are slices of the body: nobody may write to them.
//
// An edited part (llm.Raw.Base) is written into the bytes it replaces, so that
// cache_control, is_error and fields unknown here stay: a tool result changes only
// its content (a string stays a string while there is only text), a text only its
// text, a tool call only its input.
//
// # Messages that were not one object on the wire
//
// Neighbouring messages of the user's side (user, tool, and system, which is sent as
// the user's text) without an envelope become one wire message, tool results first;
// so do neighbouring assistant messages. A message with an envelope stays alone,
// unless the results of one round would not all be in the wire message right after
// its calls: then those messages are written as one. (Messages that came like that in
// the same body stay as they came.) Empty text is never written, and a message with
// nothing to send is left out.
//
// # Other dialects
//
// Messages of another dialect are written from their neutral fields: text, calls,
// results and stubs; images and documents are carried over where both dialects have
// their shape, else a line of text stands in their place. Thinking, calls that a
// provider ran itself and opaque parts belong to their provider and are left out.
package anthropic

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Dialect names the Anthropic Messages format.
const Dialect llm.Dialect = "anthropic"
