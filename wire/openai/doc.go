// Package openai reads and writes what is said to OpenAI and to servers that speak its
// dialects, in both formats, Chat Completions and Responses: requests, replies, streams
// and errors. It does no HTTP and decides nothing about what is sent. The codecs are
// [Chat] and [Responses].
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
// [llm.Thinking]; refusal and audio are [llm.Opaque]; function_call, the call of the time
// before there were tools, is an [llm.ToolCall] whose id is its name; the data of these is
// the whole member, name and value. A message of the role tool is one [llm.ToolResult]
// whose data is the value of content; so is one of the role function, which answers the
// function_call of its name. System and developer messages
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
// # Replies
//
// A reply is one message; the data of its parts is what the next request wants: of Chat
// the literal of the content, the elements of tool_calls, and the members that hold
// thinking, all as one part and before the rest; of Responses the items. A call without
// arguments has "{}", a call that the server gave no id has one made from the reply's. What
// was read and not changed is written back byte for byte, whatever stands around it.
//
// # Streams
//
// A Chat stream does not say when a part ends. A part that is no call ends where another
// begins; a call ends where something else begins and its arguments are whole JSON; a
// finish_reason ends the rest. Text that goes on after a call is a further part, and is
// one text again when it is sent back. Fragments of calls are told apart by their index,
// and where servers give none or always the same one, by a new id with a name. The stream
// is whole with a finish_reason. [DONE] without one ends what was said with llm.StopUnknown
// and no reason, and is a cut where nothing was said. In a Responses stream output_index tells items
// apart and output_item.done says what they are. A payload that tells nothing is an
// event of its own (llm.EventOther), which the encoders write as a comment.
//
// The encoders write from the neutral fields. Thinking of other dialects is sent as
// reasoning_content with its signature in reasoning_details, or as a reasoning item with
// its signature as encrypted_content, so that it comes back with the next request. A stop
// for the window is one for the output limit, a refusal is content_filter; a pause and a
// stop sequence end as if the model had ended. Hosted calls and opaque parts are left out,
// but for those whose bytes are an item of the Responses format.
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
