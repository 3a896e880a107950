-- The fourth version: what a search needs. It is made after the contents have been kept,
-- when somebody searches or says so, session by session in the order in which contents came.
CREATE INDEX session_blobs_session ON session_blobs (session);

-- How far that has got with a session.
CREATE TABLE indexed (
	session  INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	given    INTEGER NOT NULL, -- the newest row of session_blobs that has been begun with
	at       INTEGER NOT NULL, -- the offset from which it goes on in that content; -1: it is done
	line     INTEGER NOT NULL, -- the line at that offset
	passages INTEGER NOT NULL  -- that it has found
) STRICT;

-- A passage: some 2 kB of a content, which says where it ends.
CREATE TABLE passages (
	id    INTEGER PRIMARY KEY, -- the session's number times 2^32, and in the order of time
	given INTEGER NOT NULL REFERENCES session_blobs (id) ON DELETE CASCADE,
	at    INTEGER NOT NULL, -- its offset
	line  INTEGER NOT NULL
) STRICT;

CREATE INDEX passages_given ON passages (given);

-- Which passages have a term. The terms, all of letters and digits, are made by store.Terms,
-- each once: how often one is there is counted in the few passages that a search reads.
CREATE VIRTUAL TABLE terms USING fts5 (text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii');
