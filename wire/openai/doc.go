// Package openai reads and writes the bodies of OpenAI requests in both formats, Chat
// Completions and Responses: bytes to [llm.Request] and back. It does no HTTP, reads
// no replies and decides nothing about what is sent.
//
// # Bytes
//
// What [DecodeChat] or [DecodeResponses] read and nobody changed, [EncodeChat] and
// [EncodeResponses] give back byte for byte: unknown fields, the spelling of numbers,
// escapes, white space, members that occur twice (the last one counts). Where parts
// were edited only their own bytes change; where messages were removed or added only
// the message list is written anew, around what stayed. The data of parts and the raw
// bytes of envelopes are slices of the body: nobody may write to them. An edited part
// (llm.Raw.Base) is written into the bytes it replaces, so that fields unknown here stay.
//
// # Chat
//
// Every wire message is one [llm.Message] with an envelope. Its parts are the content
// (a string or the elements of an array), the elements of tool_calls, and members that
// only some providers have: reasoning, reasoning_content and reasoning_details are
// [llm.Thinking]; refusal, audio and function_call are [llm.Opaque]; the data of these
// is the whole member, name and value. A message of the role tool is one
// [llm.ToolResult] whose data is the value of content. System and developer messages
// stay in the list (RoleSystem); a request has no sections of its own, and sections
// that are added to it are sent as one system message behind the leading ones.
//
// # Responses
//
// The instructions are one section. A user, system or developer item is one message
// with an envelope; an output of a tool is one RoleTool message. What the model wrote
// in a row (reasoning, text, calls) is one message with one part for each item, whose
// data is the whole item. A compaction item stands alone, as a Note with FlagSummary:
// it stands for what was before it. An item whose type ends in _call or _output and
// that has a call_id is a call or a result, so that pairs stay pairs; web_search_call is
// a hosted call; anything else is opaque.
//
// # Other dialects
//
// Messages of another dialect are written from their neutral fields: text, calls,
// results and stubs; images and files are carried over where both dialects have their
// shape and the place may hold them, else a line of text stands in their place. Thinking,
// calls that a provider ran itself and opaque parts belong to their provider and are
// left out. Empty text is never written anew, and a message with nothing to send is
// left out.
package openai

import "github.com/plimsoll-dev/plimsoll/core/llm"

// The dialects of this package: Chat Completions and Responses.
const (
	DialectChat      llm.Dialect = "openai-chat"
	DialectResponses llm.Dialect = "openai-responses"
)
