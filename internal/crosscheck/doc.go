// Package crosscheck holds a second property test of the library, in its test files. It was written from the documentation alone, by
// somebody who had not seen the engine's own properties: its generator makes other sessions, and its checker shares no code with what it
// judges. It goes through the front door only, as a host does.
//
// A seed is a session: people, models, tools and a host that restarts, forks, undoes, is refused and misreports in any order. After every
// request the checker looks at what would leave:
//
//   - tokens are counted by another library. What it counts is less than a provider does, so that a request above its limit by that count
//     is above it by any (law 1); a refusal states figures that make sense, and is not made where a generous floor fits
//   - the request is written in its dialect and judged by the provider's rules (law 3)
//   - every message and every output is shown as it came, or can be read back to the byte under a Ref that an edit names (law 2)
//   - a restart, and a fork at the end, send the same bytes and show the same figures from there on; a fork further back sends what a
//     session restored from the records of that time sends (law 4)
//   - what was sent before stays unless an edit made since says otherwise (law 5), thinking is whole or gone (law 6), what balanced pins
//     stands there word for word (law 8), and a summary that says nothing is never shown
//
// Beside it one script is played by several sessions: one that goes on in one process, and others that are opened again, from snapshots and
// without, that go on as forks, or whose store fails. All of them have to send the same bytes and show the same figures (law 4), with
// summaries in the background, sections, tools that are left out, other targets and rewinds. PLIMSOLL_ALIKE=N plays N scripts.
//
// A few hundred seeds run with every go test; PLIMSOLL_CROSSCHECK=N runs N, and make crosscheck 20,000. A fault names its seed and the
// command that runs it alone.
package crosscheck
