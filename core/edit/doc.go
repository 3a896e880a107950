// Package edit holds what may be done to a conversation without losing any of
// it: an [Edit] is one decision, as data; [Fold] turns the append-only
// transcript and the list of edits into the [View] that is sent; the transforms
// (dedup, cap, offload, trim, clear, demote, drop) plan edits. Nothing here
// decides when to act, and nothing is changed in place: a View that was handed
// out stays as it was.
//
// # Rules
//
// An edit never separates a tool call from its result, never changes a call, and
// never changes signed thinking ([Check]). What it takes out of the view is
// stored first: every edit names the [Refs] under which the content can be read
// back, and the blobs to store travel with the plan.
//
// # Archives
//
// A span of messages that leaves is stored as one archive: lines of JSON, first
// {"archive":1,"from":F,"to":T}, then one object for each thing in the span, in order:
//
//	{"message":ID,"frame":[BYTES,...]}  the bytes of a message around its parts, if it came as one object
//	{"message":ID,"role":R,"origin":O,"part":N,"kind":K,"ref":REF}     stored before, under this Ref
//	{"message":ID,"role":R,"origin":O,"part":N,"kind":K,"raw":BYTES}   the part's own bytes
//	{"message":ID,"role":R,"origin":O,"part":N,"kind":K,"text":TEXT}   a part that never had bytes
//	{"archive":REF,"from":F,"to":T}     an earlier archive inside the span; its notes follow
//	{"note":TEXT}                       a note that stood in the span
//
// Behind the kind of an output of one of the policy's own tools stands "own":NAME: it says again
// what stands elsewhere. What is no UTF-8 is written in base64 instead: frame64, raw64, text64.
package edit
