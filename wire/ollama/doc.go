// Package ollama reads and writes the bodies of Ollama's /api/chat: bytes to
// [llm.Request], [llm.Response] and [llm.Event] and back (types of Ollama v0.17). It does
// no HTTP and decides nothing about what is sent.
//
// # Bytes
//
// What [DecodeRequest] read and nobody changed, [EncodeRequest] gives back byte for byte:
// unknown fields, the spelling of numbers, escapes, white space, members that occur twice
// (the last one counts). Where parts were edited only their own bytes change; where
// messages were removed or added only the message list is written anew, around what stayed.
// The data of parts and the raw bytes of envelopes are slices of the body: nobody may write
// to them. An edited call (llm.Raw.Base) is written into the bytes it replaces, so that
// fields unknown here stay. The same holds for replies.
//
// # Messages
//
// Every wire message is one [llm.Message] with an envelope. Its parts, in the order of
// their places, are the content (a string; its data is the literal; an empty one is no part),
// thinking (its data is the whole member), each of images (its data is the literal) and each
// of tool_calls. The content of a message of the role tool is one [llm.ToolResult].
// Arguments are an object on the wire. System messages stay in the list (RoleSystem); a
// request has no sections of its own, and sections that are added to it are sent as one
// system message behind the leading ones.
//
// Calls without an id get one that is derived from their name, arguments (as a value, not
// as they are spelled) and place; results without one belong to the first call of that name, or without a name to the first call,
// of the message before that has no result yet. Derived ids are never written.
//
// A body without a member stream asks for a stream. options.num_predict is the output limit;
// the format has no choice of tools.
//
// # Other dialects
//
// Messages of another dialect are written from their neutral fields: text, calls, results
// and stubs; images with their bytes; for other media a line of text stands in their place.
// Thinking, calls that a provider ran itself and opaque parts belong to their provider and
// are left out. Every result is a message of its own, right after its calls. A body that is
// written from the start says whether it streams, and truncate: false and shift: false, so that a server that
// cannot hold the prompt says so instead of dropping its beginning.
//
// # Replies and streams
//
// A stream is one JSON text a line and ends with a line that is done. Thinking goes on until
// content begins, content until a call; calls are whole. The server counts neither cached
// tokens nor thinking apart. The encoder writes an empty time (1970) and no durations; what
// has no form, such as ids of replies, signatures and usage beside the call, is left out.
package ollama

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Dialect names the format.
const Dialect llm.Dialect = "ollama"
