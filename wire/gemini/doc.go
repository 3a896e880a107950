// Package gemini reads and writes the bodies of Google's generateContent,
// streamGenerateContent and countTokens calls (Gemini API, Vertex AI, and Code Assist,
// which wraps both bodies in an object of its own): bytes to [llm.Request],
// [llm.Response] and [llm.Event] and back. It does no HTTP and decides nothing about what
// is sent. The Interactions API is another format and not read here.
//
// # Bytes
//
// What [DecodeRequest] read and nobody changed, [EncodeRequest] gives back byte for byte:
// unknown fields, names in either spelling (systemInstruction, system_instruction; where a
// body has both, the one with a value counts), the spelling of numbers, escapes, white
// space, members that occur twice (the last one counts). Where parts were edited only their own bytes change; where messages were
// removed or added only the list of contents is written anew, around the messages that
// stayed. The data of parts and the raw bytes of envelopes are slices of the body: nobody
// may write to them. An edited part (llm.Raw.Base) is written into the bytes it replaces,
// so that its thoughtSignature and fields unknown here stay. Members that are added are
// spelled as the others of their object are, else as those of the body. The same holds for
// replies.
//
// # Requests
//
// Every element of contents is one message, but for one in which text stands beside results.
// That is a message for what each author says in a row: a tool (ToolRun), a person (Human), a
// client (Note, see [wire.OriginOf]). These have no envelope; llm.Frame.Mixed remembers the
// content, so that EncodeRequest writes them into it again, each edited part in its place, as
// long as all of them follow each other. Every element of its parts is one part, whose
// data is the whole element. systemInstruction has one section a part. Each function
// declaration is one tool, whose data is the declaration, though several stand in one
// element of tools; a tool that the provider runs itself is named by its member, and its
// data is that member, name and value. The model stands in the address, not in the body:
// it is read from a member model, written only into one that is there. A body that wraps
// the request (request, generateContentRequest) is read and written through.
//
// A call and its result may come without ids. Then the call gets one that is derived from
// its name, its place among the calls of its message, and the last thoughtSignature before
// it or, if there is none, its arguments: a reply and the request that repeats it give the
// same id, whatever spelling of JSON and base64 the client has, and so may two calls of
// different rounds that say the same. A result without
// the id of a call belongs to the first call of that name in the model's message before
// which has no result yet. Derived ids are never written.
//
// A result's content is the text of its response object: the string where the object has
// only the member output, result or error, else the object itself. Editing it changes that
// string, else the object becomes {"output": text}. A lone error, or one without
// output and result beside it, marks the result as an error. Media in a result
// (functionResponse.parts) follow the text.
//
// A schema in parameters may name its types in capitals; llm.Tool.Schema has them in small
// letters, as JSON schema wants.
//
// # Messages that were not one object on the wire
//
// Neighbouring messages of the user's side without an envelope become one content, results
// first; so do neighbouring messages of the model. A message with an envelope stays alone,
// unless the results of one round would not all be in the content right after its calls.
// The first call of a model's content that does not come from Gemini gets the signature
// that skips the provider's check. A list that no longer begins with the user gets a short
// user message in front.
//
// # Resources
//
// A request that names a resource (cachedContent) is read and written as any other; what the
// resource holds nobody sees. [BeginningOf] and [Naming] part a body that was written here into
// what a resource is to hold and what is sent beside it, byte for byte.
//
// # Other dialects
//
// Messages of another dialect are written from their neutral fields: text, calls, results
// and stubs; media where there are bytes or an address with a known type, else a line of
// text (media in a result stand beside it). Thinking, calls that a provider ran itself and
// opaque parts belong to their provider and are left out, and so is
// Settings.DropBrokenThinking, for which the format has no form. System messages that lead
// the conversation join the system instruction; later ones are the user's text.
//
// # Replies and streams
//
// Only the first candidate is read; others stay in Response.Raw. In a stream text that
// goes on is one part, until a part of another kind or a signature ends it; a signature
// that comes with empty text belongs to the text before. Calls whose arguments come in
// pieces by path (Vertex) are put together and have one delta, at their end. A stream has
// no end mark: the reply is whole if the bytes end after a chunk with a finishReason, so
// the last events come from Close. The encoder writes server-sent events, each with the
// usage known so far; usage beside the call (Extra) has no form and is left out. It holds
// back the newest delta of a text, so that a signature goes with text and not alone.
package gemini

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Dialect names the format.
const Dialect llm.Dialect = "gemini"
