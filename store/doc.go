// Package store keeps sessions: the records of each one in order, and the
// content that left its view, under the content's Ref. [Store] is the seam;
// [Memory] keeps everything in the process and is meant for tests and for
// replays, which leave nothing behind.
//
// A store does not read what it keeps, but for words that are searched. It knows neither
// messages nor edits, and it decides nothing: the engine says what has to be stored, the host stores the
// blobs first and the records after them, and only then sends.
//
// Package store/sqlite keeps sessions in a file. Package store/storetest holds the
// rules below as tests; a backend is one that passes them.
//
// # Rules for every backend
//
//   - A call that returns nil has kept what it was given; one that returns an
//     error has changed nothing.
//   - What is passed in may be used again by the caller after the call, and what
//     is returned belongs to the caller.
//   - A session begins with the first successful write to it. Before that it is
//     empty, not unknown: it has no records and no blobs.
//   - All methods may be called concurrently. Two writers of one session are told
//     apart by the sequence number that they expect.
//   - A session sees its own blobs and those that its ancestors had when it was
//     forked, never those of another session, also when the content is the same.
//   - A blob is kept as long as any session sees it.
//   - What is read is compared with what was written: a blob with its Ref, a record
//     and a snapshot with a sum of its content and its place, so that one is never
//     served for another. A difference is a [DamageError].
//   - A session that is deleted while its records are read yields what it had, or
//     ends in an error; never less as if that were all.
//
// More that a backend can do is an interface of its own: [Deleter],
// [Snapshotter], [Streamer], [Opener], [Searcher], [Unflusher], [Witness].
package store
