// Package prefix knows what a model has seen before something: a prompt as a chain of
// blocks, the digest of all that stands before a message, the provider's prefix cache as a
// simulation, and seals that bind a piece of thinking to what it followed.
//
// It is pure: no clock, no network, no goroutine. It shares no code with the encoders and
// digests of the module, since what they do is judged by it.
//
// # What is digested
//
// A block is digested as its kind and its contents, each with its length before it: a text
// as its text, a call as id, name and arguments, a result as id, error flag and contents,
// everything else as JSON. Members named cache_control are left out, and JSON is digested
// without white space and with one spelling for each string. Two digests differ in what
// they take for the same:
//
//   - the chain of a [Prompt], which the cache goes by, has thinking in it and keeps the
//     order of members, since another order gives other tokens;
//   - [Before], which seals go by, leaves thinking out, sorts members, and does not see
//     where one message ends and the next one of the same speaker begins.
package prefix
