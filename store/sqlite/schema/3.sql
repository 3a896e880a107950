-- The third version: a content of more than one piece (262,144 bytes, before compression)
-- is kept in pieces, so that no more of it than one need be in memory. Its row in blobs
-- has the form 2: the body is an index, for each piece the number of newlines before it
-- (8 bytes, the lowest first) and the CRC-32C of its content (4); then how many lines there
-- are (8) and the ref. The sum is of the index and the size. What an older version has
-- kept as a whole stays as it is.

-- A content in pieces.
CREATE TABLE contents (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	blob    INTEGER UNIQUE REFERENCES blobs (id) ON DELETE CASCADE, -- NULL: it is on its way
	touched INTEGER NOT NULL -- when it was last written to; what is on its way for long is taken for dead
) STRICT;

CREATE INDEX contents_coming ON contents (touched) WHERE blob IS NULL;

-- Each piece but the last has 262,144 bytes before compression.
CREATE TABLE pieces (
	content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	form    INTEGER NOT NULL,
	body    BLOB NOT NULL,
	PRIMARY KEY (content, seq)
) STRICT;

DROP VIEW tool_result_blobs;

-- R002-5: a row for each session and each blob that it sees.
CREATE VIEW tool_result_blobs (id, session_id, tool_name, content, byte_size, created_at) AS
WITH RECURSIVE line (session, at, bound) AS (
	SELECT id, id, 9223372036854775807 FROM sessions WHERE name IS NOT NULL
	UNION ALL
	SELECT line.session, s.parent, s.fork_blob FROM line JOIN sessions s ON s.id = line.at WHERE s.parent < s.id
)
SELECT b.ref, CAST(s.name AS TEXT), '',
	CASE b.form WHEN 2 THEN (
		SELECT plimsoll_join(b.ref, b.size, b.sum, b.body, p.form, p.body ORDER BY p.seq)
		FROM contents c LEFT JOIN pieces p ON p.content = c.id WHERE c.blob = b.id
	) ELSE plimsoll_body(b.ref, b.form, b.size, b.sum, b.body) END,
	b.size, datetime(v.created / 1000, 'unixepoch')
FROM line
JOIN sessions s ON s.id = line.session
JOIN session_blobs v ON v.session = line.at AND v.id <= line.bound
JOIN blobs b ON b.id = v.blob;
