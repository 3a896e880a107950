// Package gateway keeps the conversations of clients that know nothing of it within
// their models' windows. A client sends its whole history with every request; the
// gateway finds the conversation that the request goes on with, tells its session what
// is new, and returns the body to send instead: the same bytes, unless an edit holds.
//
// It has no HTTP in it. Package transport does an exchange under an http.Client, package
// proxy for clients that are other programs; both go through the same steps:
//
//	x, err := g.Begin(ctx, call)       // err may be a *RefusalError: the client's answer
//	…send x.Body() with x.Betas()…
//	again, err := x.Refused(ctx, status, body) // of an answer that is an error: send x.Body() again?
//	relay := x.Relay(ctx, streamed)    // of a reply
//	relay.Write(chunk)…                // what the client gets, as it comes
//	relay.End()
//	x.Report()                         // one exchange in figures
//
// All decisions are the session's ([plimsoll.Session]); what is here only finds it.
//
// # Which conversation
//
// A family is the conversations that have one name: the id that the client states in its
// documented headers or in its body, else the digest of the first message. Names are
// hashed and hold the owner, so that one owner's conversations, and what was taken out of
// them, do not exist for another. In a family a request goes on with the conversation
// that it has the longest beginning in common with, by digests that leave out cache
// marks and thinking:
//
//   - It holds all of that one's messages: it is the next request of it, or, with no more
//     than those, a retry, for which the same edits hold.
//   - It holds some of them: it is a fork at the last common one (a rewind, an edited
//     message). Edits from before that point hold in it.
//   - It holds none: it is a new conversation, such as one that the client itself has
//     compacted.
//
// Requests that share neither the system prompt nor the tools with a conversation are
// another agent's (a sub-agent, a title, a look at a quota) and stand apart from it,
// whatever else they have in common.
//
// Of a request that begins with the bytes of one before it only the rest is read: what was
// read of each message before is remembered by a hash of its bytes, and the digests with
// it. Where edits hold, the whole is read, as they are laid over this very request.
//
// The sessions of a family are numbered, and the store has nothing else of it: after a
// restart they are found again by these numbers, and two processes with one store find
// each other's.
package gateway
