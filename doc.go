// Package plimsoll keeps the conversation of an LLM agent inside its model's context window.
//
// A Plimsoll line is painted on a ship's hull: once it is under water, the ship carries more than is safe. An agent's conversation has such
// a line as well. Tool outputs pile up until the model refuses a request, or somebody cuts the history and the agent forgets what it was
// told. Plimsoll measures what fills the window, keeps every request within it, keeps whatever it takes out so that it can be read again,
// and records why it did what it did.
//
// # Use
//
// [Open] begins a [Session], or takes up one that a store has. In the loop of an agent:
//
//	session.Append(ctx, message)         // what a person says
//	request, err := session.Prepare(ctx) // before each call: request.Request() fits the model's window
//	session.Observe(ctx, reply.Usage)    // what the provider reported
//	session.Append(ctx, reply.Message)   // the model's reply
//	session.ToolResult(ctx, result)      // for each tool that it called; a large output becomes a handle
//	session.TurnEnd(ctx)                 // when it has answered
//
// [Session.Edits] and [Session.Events] tell what was taken out and why, [Session.Blob] reads it again, [Session.Usage] says what fills the
// window, [Session.Budget] gives room to tools, [Session.Fork], [Session.Compact] and [Session.Undo] do what a person asks for.
// docs/library.md goes through them in order, each with an example; examples/agentloop is a whole agent.
//
// # The source
//
// The rest of this comment is a tour of the source, from the bottom up. DESIGN.md says why things are as they are.
//
// # The core
//
// Everything that decides lies under core/. These packages are pure: no files, no network, no clock, no goroutines, no floats. The same
// input gives the same bytes on every machine, so a decision can be tested, replayed and explained. Each one imports only those named
// before it; package internal/arch fails when one does not.
//
// Package [github.com/plimsoll-dev/plimsoll/core/llm] is the neutral conversation: messages made of parts, requests, usage, and the
// references (refs) under which removed content can be found. A message never changes, and keeps the bytes that it came with.
//
// Package [github.com/plimsoll-dev/plimsoll/core/catalog] is what is known about models, as data: windows, output limits, tokenizers,
// prices, cache rules. No other package of the core knows a provider's name.
//
// Package [github.com/plimsoll-dev/plimsoll/core/token/bpe] is a byte-pair encoder with embedded vocabularies, exact and fast enough to
// count every message of every request.
//
// Package [github.com/plimsoll-dev/plimsoll/core/token] counts: exactly where a vocabulary is known, by one of several estimators where
// not, and learns from what the provider reports how far an estimate is off.
//
// Package [github.com/plimsoll-dev/plimsoll/core/turn] knows what belongs together. A tool call and its result live and die together, and
// a history may be cut only where nothing is torn apart.
//
// Package [github.com/plimsoll-dev/plimsoll/core/ground] finds out what calls refer to, and which part of the conversation said it.
//
// Package [github.com/plimsoll-dev/plimsoll/core/cache] is a model of a provider's prefix cache: what is still warm, what a request reads and
// writes, and whether an edit that breaks the prefix pays for itself.
//
// Package [github.com/plimsoll-dev/plimsoll/core/budget] says what fits: the window less its buffer and the room for the answer, the part
// that cannot be reduced, and a verdict for each model that the next call may go to.
//
// Package [github.com/plimsoll-dev/plimsoll/core/edit] is how a conversation gets smaller. An edit is one decision as data: this output
// becomes a stub, these messages become a summary. Applying edits makes a view, which is what the model is sent; what was said stays as it
// was.
//
// Package [github.com/plimsoll-dev/plimsoll/core/meter] counts a view for one target: from the last prompt that was reported, or from
// scratch. It keeps the sums, so that one new message costs the counting of one message.
//
// Package [github.com/plimsoll-dev/plimsoll/core/prompt] orders the system prompt so that what changes least stands first, and chooses what of
// a request its provider is asked to keep.
//
// Package [github.com/plimsoll-dev/plimsoll/core/deferral] says which of many tools a request leaves out, and finds those for a model that
// says what it wants to do.
//
// Package [github.com/plimsoll-dev/plimsoll/core/summary] keeps the thread when messages go: facts that code can extract, a summariser
// that needs no model, and the check of any summary that a model wrote.
//
// Package [github.com/plimsoll-dev/plimsoll/core/loop] is an agent that is run again and again: which of its iterations a prompt shows,
// what is remembered of the others, when it is stuck and when it is done.
//
// Package [github.com/plimsoll-dev/plimsoll/core/policy] says when to do which edit. A policy is plain data, a preset is one that has a
// name; both can be read, validated and printed.
//
// Package [github.com/plimsoll-dev/plimsoll/core/journal] is the form in which messages, edits and snapshots are written down, so that a
// session stopped at any moment goes on with the same bytes.
//
// Package [github.com/plimsoll-dev/plimsoll/core/engine] puts it together. Its machine is fed with what happened, answers with what has
// to be stored and sent, in that order, and is told how that went. It is the only place that decides.
//
// # Around the core
//
// Package [github.com/plimsoll-dev/plimsoll/config] reads YAML, TOML, the environment and flags into the core's values, and can show
// which setting came from where.
//
// Package [github.com/plimsoll-dev/plimsoll/tokenizers] makes counters from a model's own tokenizer file.
//
// Package [github.com/plimsoll-dev/plimsoll/store] keeps sessions and the content that left a view: in memory, or in SQLite
// ([github.com/plimsoll-dev/plimsoll/store/sqlite]). One suite of tests, [github.com/plimsoll-dev/plimsoll/store/storetest], says what a store is.
//
// Package [github.com/plimsoll-dev/plimsoll/wire] is the seam of the codecs, which turn the bytes of the providers' protocols into the
// neutral conversation and back, without loss: requests, replies, streams and errors. Below it stands one folder for each provider;
// package [github.com/plimsoll-dev/plimsoll/wire/codecs] lists them, [github.com/plimsoll-dev/plimsoll/wire/convert] makes what one wrote
// fit for another, and [github.com/plimsoll-dev/plimsoll/wire/check] judges bodies by the providers' rules. None opens a connection.
//
// Package [github.com/plimsoll-dev/plimsoll/client] does: it sends requests to providers, with keys, retries and timeouts.
//
// Package [github.com/plimsoll-dev/plimsoll/sessionfile] says what the files hold in which other agents keep their sessions;
// [github.com/plimsoll-dev/plimsoll/sessionfile/formats] reads them, and [github.com/plimsoll-dev/plimsoll/sessionfile/places] knows where they lie.
//
// # The front door
//
// Package internal/drive feeds an engine and does what it asks for, in the right order: for this package, and for a replay, whose calls are
// only simulated.
//
// This package, plimsoll, is the library: a session that joins the engine, a store and a summariser, for programs that run an agent of
// their own. examples/agentloop is such a program.
//
// Package [github.com/plimsoll-dev/plimsoll/telemetry] counts what happens in sessions, as OpenTelemetry metrics.
//
// # The hosts
//
// Package [github.com/plimsoll-dev/plimsoll/gateway] is what one exchange of a client
// needs that knows nothing of this and sends its whole history: it finds the session,
// tells it what is new, and returns the bytes to send.
//
// Package [github.com/plimsoll-dev/plimsoll/transport] does that under an http.Client, for
// programs that call a provider's SDK.
//
// Package [github.com/plimsoll-dev/plimsoll/proxy] does it for clients that are other programs: it is a server between them and their
// providers.
//
// Package [github.com/plimsoll-dev/plimsoll/inspect] says what fills a recorded session, where it went, what the client cut and where the
// provider's cache broke.
//
// Package [github.com/plimsoll-dev/plimsoll/replay] puts a recorded session through the engine once for each policy, and reports where the
// tokens went, what broke, and what each policy would have sent and cost. It needs no key and no network, and cannot call a model.
//
// Package [github.com/plimsoll-dev/plimsoll/web] writes both as a page for the browser.
//
// Command [github.com/plimsoll-dev/plimsoll/cmd/plimsoll] is the program: it reads flags and configuration, puts the parts together and
// prints what they find.
package plimsoll
