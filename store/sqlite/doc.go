// Package sqlite keeps sessions in one SQLite file. [Open] returns a [Store], which
// passes package store/storetest and is a [store.Deleter], [store.Snapshotter],
// [store.Streamer], [store.Opener] and [store.Searcher] too. It reads
// nothing of what it keeps, but for the words that a search looks for, and it needs no cgo.
//
//	st, err := sqlite.Open(ctx, "plimsoll.db", sqlite.Options{})
//	...
//	defer st.Close()
//
// # What a write promises
//
// A write that returned nil is on the disk: it is one transaction in a write-ahead
// log that is flushed before the call returns. A write is either there as a
// whole or not at all, also after the process was killed in the middle of it.
//
// [Store.AppendUnflushed] is the exception: what it has written outlives the process, but
// not a machine that fails before the next write of another kind, or before the system has
// written the log by itself. The order holds: nothing is there without what came before it.
//
// What is in the log is moved into the file beside the writes, so that none of them waits
// for that.
//
// # Who may use the file
//
// Any number of goroutines and of processes on one machine, at the same time;
// readers do not wait for writers. Two processes that append to one session are told
// apart like two goroutines: one gets a *[store.ConflictError]. A file on a network
// share is not safe, as SQLite's locks are not there.
//
// The file and those that SQLite puts beside it (-wal, -shm) can be read by their
// owner alone (mode 0600). They are not encrypted.
//
// # What is in the file
//
// The files in schema/ say it table by table. Contents are kept once, under their Ref,
// compressed with zstd where that makes them smaller, with their size and a checksum,
// which every read compares; a content is compared with its Ref as well, and the checksum
// of a record or a snapshot is of its place, too, so that a page in the wrong place serves
// nothing for something else (a *[store.DamageError]). A session is told which of them it
// was given, and when; a fork is a row that says from whom and how far, so that it costs
// the same for any length, and sees what its ancestors had by following those rows.
//
// The version of the tables is the file's user_version. An older file is brought
// forward when it is opened; a newer one is a [VersionError] and stays as it is, and
// so does a file that is not ours.
//
// A content of more than 256 KiB is kept in pieces of that length, each compressed by
// itself, with an index of their lines and checksums, so that a page of it is read, and all
// of it written, verified and let go of, without more than a few pieces in memory. What comes
// as a stream is written some pieces at a time, so that no writer waits for a slow tool,
// and is seen by nobody until its end; what a killed process was reading is let go of by
// [Store.GC], or when another stream comes, a day later. There are no temporary files. What
// is too large is a *[store.TooLargeError].
//
// # Search
//
// What a search needs is made after the contents, by [Store.Search] for what its session sees
// or by [Store.Index] beforehand, so that keeping an output does not wait for it. Passages of
// some 2 kB have the terms that [store.Terms] makes of them in an index of FTS5, which says
// which passages have a term, and keeps no text; the few that promise most are read from the
// contents, and ranked. A passage belongs to the session that was given its content, so that
// a search looks at nothing else. What was deleted is not found; its words go with [Store.GC].
//
// # The documents' tables
//
// tool_result_blobs(id, session_id, tool_name, content, byte_size, created_at) is a
// view with the columns that the document behind policy layered states. Its id is the blob's Ref, so a content that two
// sessions see has a row for each. Its tool_name is empty: a blob is a content that
// several tools may have returned. The view decompresses with functions
// that only connections of this package have; another program that reads the view gets the
// error that there is no such function. A content of more than
// 1,000,000,000 bytes is an error there, as SQLite has no such values.
//
// session_snapshots(session_id, messages, token_count, created_at) is another, with a row for
// each session that has a snapshot: what its view shows then, as JSON, and how many tokens that
// has.
package sqlite
