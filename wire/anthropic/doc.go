// Package anthropic reads and writes the bodies of the Anthropic Messages format:
// requests, replies, streams and errors, bytes to the types of package llm and back. It
// does no HTTP and decides nothing about what is sent.
//
// # Bytes
//
// What [DecodeRequest] read and nobody changed, [EncodeRequest] gives back byte for
// byte: unknown fields, the spelling of numbers, escapes, white space, members that
// occur twice (the last one counts). Where parts were edited only their own bytes
// change; where messages were removed or added only the message list is written
// anew, around the messages that stayed. The data of parts and the raw bytes of
// envelopes are slices of the body: nobody may write to them. [DecodeResponse] and
// [EncodeResponse] hold to the same for replies.
//
// An edited part (llm.Raw.Base) is written into the bytes it replaces, so that
// cache_control, is_error and fields unknown here stay: a tool result changes only
// its content (a string stays a string while there is only text), a text only its
// text, a tool call only its input.
//
// # One wire message, several authors
//
// A wire message may hold results and, beside them, what a person typed meanwhile and what a
// client adds. It becomes a message for what each of them says in a row: of origin ToolRun,
// Human, Note ([wire.OriginOf]), a person's images with the words behind them. These have no envelope; llm.Frame.Mixed remembers the wire
// message, so that EncodeRequest writes them into it again, each edited part in its place,
// as long as all of them follow each other.
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
// provider ran itself and opaque parts belong to their provider and are left out. The
// free text of a custom tool becomes {"input": text}.
//
// # Reading streams
//
// The decoder takes what the API writes, and of what others write in its name:
// blocks that overlap, that begin with their text in place or without any, that nobody
// stops; a delta that is missing or empty (a call without one takes {}); an escape cut in
// two; message_start twice with one id; events not known here, before and after the
// end. Deltas not known here are told as llm.DeltaOther, with the whole delta as their
// JSON, and continue the block's member of the same name, so that the part can be sent
// back. Usage is cumulative: what message_delta states replaces what message_start
// stated, but for a prompt of no tokens at all. A message_start with another id is a
// reply that was cut and asked for again: it matches wire.ErrCut. So does a message_stop
// that no message_delta came before: nobody said why the reply ended.
//
// # Writing streams
//
// The encoder writes from the neutral fields; of a part's bytes it uses those of a block
// of this format, for members that have no neutral field (the caller of a call, the
// server of an MCP tool). Parts that overlap are written one after the other, the later
// ones held back until the earlier ends. A signature is one delta right before the stop.
// Media become a line of text. Left out are results, and parts whose bytes are another
// format's: thinking, calls that a provider ran itself, opaque parts. Thinking
// that came without bytes is written also if it has no signature, for it is to be shown. Any
// other event becomes a ping.
package anthropic

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Dialect names the Anthropic Messages format.
const Dialect llm.Dialect = "anthropic"
