// Package scriptmodel is a model server that follows a script: an [http.Handler] that
// speaks every dialect the codecs speak, streaming and not, says what a text file tells it
// to say, goes wrong where the file wants that, and refuses what the real provider would
// refuse. It is no model and no proxy; it serves this module's tests and cmd/scriptmodel.
//
//	script, err := scriptmodel.Parse(text)
//	server := httptest.NewServer(scriptmodel.New(script, scriptmodel.Options{}))
//
// What it sends is written by the module's codecs, so that a client which reads it tests
// them; what it is sent is judged by package check and by the rules below, which know
// nothing of the codecs. Ids are counted (msg_1, call_1), dates are fixed, and the only
// clock is one that the script or the test moves: the same requests give the same bytes.
//
// # Scripts
//
// A script is lines of words. Texts stand in double quotes or backquotes as in Go, "#"
// begins a comment. A line that is not indented is a setting or begins a reply; the indented
// lines below a reply say what it does.
//
//	window 8000                prompt and output together, in tokens; without it there is no limit
//	output 1024                of one reply, in tokens
//	model "small-*" window 4000 output 500
//	                           models with limits of their own; the first pattern that fits counts
//	count "tiktoken:o200k_base"
//	                           the token estimator, see package token; "approximate" without it
//	key "sk-1"                 the key that requests must carry; without it any or none does
//	secret "k"                 what thinking is signed with
//	bytes 1000000              of one request; 32 MiB without it
//	cache off                  no prefix cache; or "cache min 100": the shortest prefix in tokens
//	signatures drop            thinking whose prefix was changed is dropped; "off": nobody looks;
//	                           "error", which holds without it, refuses it
//	strict                     Messages: prompt and max_tokens must fit the window together
//	loop "make" "Done."        three replies: side calls get a title, an agent runs "make" in its shell, then ends
//
//	reply                      answers one request; "reply always" any number, "reply 3 times" three
//	reply always when tools, no result, user "weather"
//	                           only requests of which all of that is true
//
// The first reply from the top that fits a request and is not used up answers it. A request
// that no reply is left for is answered with a 500 that says so, unless the server thinks for
// itself (Options.Think). After "when" stand one or more of these, with "no" before it for
// the opposite:
//
//	user "T"     the user's newest text contains T       tools       it offers tools
//	system "T"   the system prompt contains T            tool "T"    it offers the tool T
//	result       it brings results of tools              model "P"   the model's name fits the pattern P
//	result "T"   one of which contains T                 stream      the reply is to be streamed
//	dialect "D"  it speaks D                             json        the reply is to be JSON
//
// A reply says, in the order of its lines:
//
//	text "T"                   T
//	words 300                  300 words
//	thinking "T"               thinking, signed, where the request wants it; "thinking hidden" shows only the proof
//	call NAME {"a": 1}         a call; several lines make parallel calls
//	call shell "CMD"           a call of the client's shell tool, whatever its name and arguments are
//	search "Q" NAME NAME       the provider's own search for tools (Messages API), which found those
//	stop length                why it stops: end, tool, length, window, sequence, pause, refusal, compaction
//	usage input 10 output 5    reported in place of what was counted: input, read, write, write1h, output, reasoning
//
// and things happen to it:
//
//	status 429 retry-after 3 "T"   an error is answered in the dialect's shape; the message is optional
//	later 6m                       the logical clock moves before the call
//	delay 200ms                    before the first byte; "pause 10ms": between events
//	cut after 3 events             the answer ends there; "bytes" counts bytes
//	drop after 100 bytes           the connection breaks there
//	malformed after 2 events       something that is no event comes between
//	fail after 2 events            the provider's error event ends the stream
//	ping after 2 events            a ping comes between
//
// # What is refused
//
// Wrong keys, unknown addresses, methods, bodies above the limit, what package check finds,
// output above the model's, and a prompt above the window, with each provider's words and
// figures. Ollama cuts such a prompt without a word, as the real one does, unless told not
// to. A WebSocket upgrade gets 426.
//
// What context_management asks to clear is taken out of the prompt before it is held against the
// window, and told (clear_tool_uses_20250919; the beta that it needs is demanded). What it asks to
// compact is (Messages: compact_20260112, Responses: compaction): the reply has a summary, and of a
// request that sends it back what stands before it is not read.
//
// Thinking is signed with the model, the account, and what stood before it: system prompt,
// tools and messages without cache marks and without thinking. Messages API: what comes back
// must be unchanged, in its place, with the same things before it and, but for a leading run
// that may be left out, after the same thinking; in a tool run the thinking beside the calls
// must be whole. A mismatch is refused, or dropped and reported where the request asks for
// it with the beta that this needs. Another model's thinking is dropped. Responses: encrypted
// content must be unchanged and of the same account; it is not bound to its prefix. Gemini:
// the first call of each message since the user's newest text must carry its signature.
//
// # The cache
//
// One cache for each key and model. Messages API: written at marks (4 at most, by package
// check), read up to 20 blocks before a mark, five minutes or one hour, prolonged when read.
// Chat, Responses: the longest known prefix of whole blocks from 1,024 tokens on, rounded
// down to 128. Gemini: the same without rounding. What was read and written is in the usage.
//
// Gemini also has resources (cachedContents), with "cache off", too: made, shown, lengthened and
// given up by calls of their own, of the key that made them, from the shortest prefix on, until
// they lapse by the logical clock. A request that names one reads all of it, and is answered as if
// it held what the resource does; one that has lapsed, or is another's, is a 403.
package scriptmodel
