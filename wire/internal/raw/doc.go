// Package raw reads and edits JSON text in place, for codecs that must leave
// every byte alone that they do not change: it finds where values lie (a [Cursor] for
// whole bodies, a [Walk] for the small payloads of streams, [Values] and the like for
// small objects), reads and writes string literals, and replaces pieces ([Set], [Patch],
// [List], [Body]).
//
// It is not a JSON library: only [Check] and a Walk look at the grammar. All others
// expect text that Check has accepted; on other text they give nonsense but neither panic
// nor loop.
//
// A member name that occurs twice in one object counts as its last occurrence,
// as most readers have it; the earlier ones are carried along.
package raw
