// Package check says what a provider would refuse: it judges requests, replies and streams by the rules of their dialect, strictly and from
// the bytes alone. It shares no code with the codecs, so that a mistake of theirs cannot hide in both. [Request], [CountTokens], [Response]
// and [Stream] return the faults of a body; none means that no rule known here is broken. A [Fault] is worded as the provider words its own
// error where public sources show the wording, so that a stand-in for a provider can answer with it.
//
// It is not a schema. Members, kinds of blocks, items, parts and events that are not known are no fault, as providers add to them all the
// time; only what is known must have its form. It counts no tokens, checks no signature, knows no model's limits, and asks nobody. What
// models and formats refuse beside their rules it has from core/catalog, as wire/convert has.
//
// Rules come from the providers' documentation and from the errors that they gave; where a rule is disputed, its function says by what it
// was decided. What was left out because facts are missing: the order of items of the Responses API beyond pairs and reasoning; the number
// and size of images; JSON Schema beyond its outermost type; which models take which parameters, but for those of the rules below.
//
// # Rules of all dialects
//
//   - dialect: there are rules for the dialect and this kind of body
//   - json: a body or payload is one JSON object
//   - type: a known member has its JSON type
//   - required: a mandatory member is there and not null
//   - role: a role is one of the dialect's
//   - value: a closed set or range holds a value
//   - messages-empty: there is at least one message
//   - content-empty: a message has content
//   - text-empty: a text block says something
//   - block-role: a content block stands in a message of the role that may have it
//   - part-role: a part of a content stands in a message of the role that may have it
//   - media-source: an image or document is of a type that the API reads
//   - image: the bytes of an image, a sound or a file are in base64, in the alphabet that the API reads
//
// # Rules of calls and results
//
//   - call-id: the id of a call has its form and length
//   - call-id-unique: no two calls have one id
//   - calls-empty: a list of calls is not empty
//   - call-unanswered: a call is answered, where and as often as the dialect wants it
//   - call-unsigned: the first call of a model turn of the current loop carries its thought signature (Gemini 3 and later)
//   - result-orphan: a result has a call that it may answer
//   - result-first: results stand before anything else in their message
//   - result-duplicate: a call has one result
//   - result-hosted: a call that the provider runs gets no result from the client
//   - result-name: results have the names of the calls that they answer
//   - result-id: results have the ids of the calls that they answer
//   - hosted-unanswered: a call that the provider runs has its result, unless the turn was paused
//   - hosted-orphan: the result of a call that the provider runs follows the call
//
// # Rules of requests
//
//   - cached-beside: a request that names a kept beginning has no system prompt, tools or choice of tools of its own
//   - first-role: the conversation starts with the user
//   - last-role: the conversation ends with the user
//   - role-order: the model's calls come right after the user or a response, not after a content of the model
//   - system-place: a system message inside a conversation stands after the user and before the assistant
//   - system-model: the model takes system messages inside a conversation
//   - system-block: the system prompt is a text or a list of text blocks
//   - prefill: the conversation ends with the user, on models that go on with no text of the assistant's
//   - prefill-space: the text that the model is to go on with does not end with white space
//   - thinking-signature: thinking has a signature
//   - thinking-first: a message with thinking begins with it (manual thinking)
//   - thinking-loop: the turn that the model is in begins with thinking (manual thinking)
//   - thinking-last: a conversation does not end with thinking
//   - thinking-disabled: a conversation that ends with thinking does not disable it
//   - thinking-sampling: manual thinking leaves temperature and top_k alone
//   - setting: the model takes the settings of a request, with the effort of thinking that it states
//   - forced-thinking: a tool is not forced on a model that thinks
//   - budget: the budget for thinking is at least 1024 tokens and, without tools, less than max_tokens
//   - defer-all: not all tools wait until the model finds them
//   - defer-search: nor does what finds them
//   - defer-cache: what waits has no cache mark
//   - defer-reference: what stands for a tool names one that is declared
//   - edit-order: of the edits of a conversation the one that clears thinking comes first
//   - edit-trigger: a compaction is triggered at 50,000 tokens or more (Messages), or at any (Responses)
//   - compaction-empty: the provider's own summary says something, or is null
//   - compaction-place: one that is signed is the first block of the conversation, and the only one
//   - output-limit: a request limits its output by one name
//   - max-tokens: the output limit is positive, or 0 in a request that only fills the cache
//   - cache-form: a cache mark is ephemeral and lives 5m or 1h
//   - cache-count: there are at most four cache marks
//   - cache-order: marks that live for an hour come before those that live five minutes
//   - cache-place: no mark is on thinking or on an empty text
//   - tool-name: the name of a tool has its form and length
//   - tool-name-unique: no two tools have one name
//   - tool-schema: the arguments of a tool are described as an object, without what may not stand at its root
//   - argument: the name of an argument has its form and length
//   - tools-empty: a list of tools is not empty
//   - tools-many: there are at most 128 tools
//   - tool-choice: the choice of tools has its form and names a tool that is there
//   - stop: stop sequences are few and say something
//   - stream-options: options of a stream are given for a stream
//   - part-data: a part has exactly one of the members that hold data
//   - item-id: an item's id begins as the ids of its kind do; in a stream, an item keeps its id and kind
//   - history-twice: a request names one history that the server holds
//   - reasoning-unstored: reasoning goes back in encrypted form where the server stores nothing
//   - reasoning-alone: reasoning that the server holds goes with the item that it led to
//
// # Rules of replies and streams
//
//   - choices-empty: there is at least one choice
//   - stop-call: a reply that stops for calls has one
//   - stop-missing: a reply says why it stopped
//   - framing: the last event of a stream is whole
//   - event-name: an event is named as its payload's type
//   - stream-order: events come in the order of the dialect
//   - stream-end: a stream ends with its end mark and nothing after it
//   - block-index: blocks are numbered in ascending order
//   - delta-kind: a delta fits the block that it continues
//   - sequence: events are numbered in ascending order
//   - item-open: items and their parts are added once and done once, and what belongs to them lies between
package check
