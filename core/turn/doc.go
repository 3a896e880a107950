// Package turn finds the structure of a conversation: Turns, Rounds, which
// result answers which call, and where the conversation may be cut without
// separating the two. It decides nothing about what is removed, and it does not
// change messages; it is the map that budget, edit and engine read.
//
// An [Index] is fed one message at a time and answers at any moment. Positions
// are counted from 0 in the order of the Append calls.
//
// # Pairing
//
// A call that the provider runs itself (Hosted) may stay without a result; every
// other call without one is open. A result answers the newest open call with its
// id, and if none is open the newest hosted one that has no result yet. Ids may
// come back: some models number their calls from 0 in every Turn. A result whose call is unknown or already answered is an orphan: it is
// indexed, reported once by Append, and pairs with nothing.
//
// An [Index] pairs what belongs together wherever it stands. That a request is in the
// order that providers want, an [Order] says.
//
// # Rounds
//
// A Round starts at an assistant message with tool calls and ends after the last
// result of these calls. What lies between (notes, steering by a person, other
// results) lies inside the Round. Calls that are made while a Round still has an
// open call join it, because neither half could go without the other; so Rounds
// never overlap. A Round with an open call reaches to the end of the conversation.
//
// # Cuts
//
// A cut i separates the messages before position i from those at and after it. It
// is legal if no call before i is open and none is answered at or after i, which
// is to say that i is not inside a Round. Once legal, a cut stays legal (the only
// exception is a hosted call that gets its result in a later message after all:
// the messages between the two become one Round).
//
// # Turns
//
// A message of Origin Human opens a Turn if the cut before it is legal. A person
// who writes while calls are open steers the running Turn and opens none. What
// stands before the first such message belongs to Turn 1, and a conversation
// without one is a single Turn that starts at 0, whoever wrote its first
// instruction (DESIGN.md section 2).
package turn
