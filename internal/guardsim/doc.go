// Package guardsim runs many made-up agent sessions against the scripted model server
// (package scriptmodel) and holds the engine to what it promises: no request that it let
// pass as fitting is refused as too long. It has tests only.
//
//	go test ./internal/guardsim                      a quick share
//	make sim                                         10,000 sessions (PLIMSOLL_SIM=10000)
//	PLIMSOLL_SIM=18 go test ./internal/guardsim -run '/seeds/seed=17$'   one of them
//
// # The two sides
//
// The server side reads the bytes of each request with encoding/json, counts them with
// another project's tokenizer and a framing of its own, and refuses what is over; it shares
// no code with the engine, its counters or the codecs. Of some models the engine knows the
// tokenizer (class exact). Of the others (class bound) the server's true count is made by
// the seed: the tokens of another vocabulary times a factor that nobody tells, with a hidden
// prompt and framing that only the reported usage shows.
//
// The client side is what a careful agent does: people, parallel calls, outputs of many
// kinds, tools and system prompts that change, calls that fail or break off, retries, and
// targets in several dialects to fall back to. Everything follows from the seed; there is no
// clock.
//
// # Summaries
//
// TestSummaries runs long sessions in all dialects of which the server's model writes the summaries: good ones, and empty,
// larger, cut, refusing, invented, slow and failing ones. They end within the window by the server's own count; no messages are asked
// about more than twice; what is pinned stays; nothing waits for ever, by the clock of testing/synctest.
//
// # What must hold
//
//   - class exact: no request with the verdict ok is refused for its length; class bound: at
//     most 15 in 1,000,
//   - prompts of class exact are filled up to the limit, to within a few tokens by the count,
//     so that this means something,
//   - what a fallback has room for goes to it, and a final Step offers the report alone,
//   - the server finds nothing else to refuse, whatever the edits did to the conversation,
//   - a request after a refusal goes elsewhere or is smaller, or a typed error ends it,
//   - law 10: counts fall on a commit or an edit that takes something out only; a failed call
//     changes no figure and stores nothing, and its retry has the same bytes,
//   - a restart between two calls keeps what refusals taught, and the next request is the one
//     that would have been sent,
//   - what is sent after a refusal for its bytes has fewer,
//   - every Ref in a request resolves to what it names,
//   - each session ends.
package guardsim
