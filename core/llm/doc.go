// Package llm is the neutral conversation: messages made of parts, requests,
// usage and the hashes that name them. It holds data and no behaviour that
// decides; every other package of the core speaks in its types.
//
// # Bytes
//
// A [Part] keeps the bytes it came with ([Raw]) and a [Message] may keep the
// bytes around its parts ([Envelope]), so that a codec can send an untouched
// part exactly as it arrived, also when its sibling was edited. Raw bytes are
// only meaningful in the [Dialect] of the message that holds them. All types are
// values that are never changed after they were built: an edited part is a new
// part. Slices and raw bytes are shared, not copied; nobody may write to them.
//
// # Digests
//
// A [Digest] is the first 128 bits of a SHA-256 over this encoding, where every
// text is written as its length in bytes (unsigned varint) and its bytes:
//
//	message: role, number of parts counted below, then each part:
//	  text         "t" text
//	  tool call    "c" call id, name, arguments
//	  tool result  "r" call id, error flag "0" or "1", number of contents, each content as a part
//	  media        "m" media type, raw bytes
//	  stub         "s" ref, text
//	  opaque       "o" kind, raw bytes
//
// Thinking is left out (a provider may drop it between calls), and so are cache
// marks, ids, origins and flags: two messages with one digest say the same to a
// model. [Chain] folds digests, so that one value names a whole prefix.
//
// # Refs
//
// A [Ref] names stored bytes by their content: "r" and the first 26 characters
// (130 bits) of the lower-case base32 form of their SHA-256.
package llm
