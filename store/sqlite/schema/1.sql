-- The first version. Times are milliseconds since 1970, UTC. A body is kept in one
-- of two forms (0: as it is, 1: zstd) with the size and the CRC-32C of its content.

-- A session. One that was deleted while it has forks keeps a row without a name, and
-- of what it had only what they see.
CREATE TABLE sessions (
	id        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again; a fork's is above its parent's
	name      BLOB UNIQUE,
	parent    INTEGER REFERENCES sessions (id),
	fork_seq  INTEGER NOT NULL DEFAULT 0, -- records that are the parent's
	fork_blob INTEGER NOT NULL DEFAULT 0, -- newest row of session_blobs when it was forked
	records   INTEGER NOT NULL DEFAULT 0, -- the parent's included
	created   INTEGER NOT NULL,
	updated   INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_parent ON sessions (parent);

CREATE TABLE records (
	session INTEGER NOT NULL REFERENCES sessions (id),
	seq     INTEGER NOT NULL,
	form    INTEGER NOT NULL,
	size    INTEGER NOT NULL,
	sum     INTEGER NOT NULL,
	body    BLOB NOT NULL,
	PRIMARY KEY (session, seq)
) STRICT;

CREATE TABLE blobs (
	id   INTEGER PRIMARY KEY,
	ref  TEXT NOT NULL UNIQUE,
	form INTEGER NOT NULL,
	size INTEGER NOT NULL,
	sum  INTEGER NOT NULL,
	body BLOB NOT NULL
) STRICT;

-- Which session was given which blob. A blob has as many references as it has rows here.
CREATE TABLE session_blobs (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of time
	session INTEGER NOT NULL REFERENCES sessions (id),
	blob    INTEGER NOT NULL REFERENCES blobs (id),
	created INTEGER NOT NULL,
	UNIQUE (session, blob)
) STRICT;

CREATE INDEX session_blobs_blob ON session_blobs (blob);

CREATE TABLE snapshots (
	session INTEGER NOT NULL REFERENCES sessions (id),
	seq     INTEGER NOT NULL,
	form    INTEGER NOT NULL,
	size    INTEGER NOT NULL,
	sum     INTEGER NOT NULL,
	body    BLOB NOT NULL,
	created INTEGER NOT NULL,
	PRIMARY KEY (session, seq)
) STRICT;

-- R002-5: a row for each session and each blob that it sees.
CREATE VIEW tool_result_blobs (id, session_id, tool_name, content, byte_size, created_at) AS
WITH RECURSIVE line (session, at, bound) AS (
	SELECT id, id, 9223372036854775807 FROM sessions WHERE name IS NOT NULL
	UNION ALL
	SELECT line.session, s.parent, s.fork_blob FROM line JOIN sessions s ON s.id = line.at WHERE s.parent < s.id
)
SELECT b.ref, CAST(s.name AS TEXT), '', plimsoll_body(b.form, b.size, b.sum, b.body), b.size, datetime(v.created / 1000, 'unixepoch')
FROM line
JOIN sessions s ON s.id = line.session
JOIN session_blobs v ON v.session = line.at AND v.id <= line.bound
JOIN blobs b ON b.id = v.blob;
