-- The second version: the sum of a record or a snapshot is the CRC-32C of its content and
-- of its place, which is the numbers of its row; and a content that is read through the
-- documents' table is compared with its ref.
UPDATE records SET sum = plimsoll_place(sum, session, seq);
UPDATE snapshots SET sum = plimsoll_place(sum, session, seq);

DROP VIEW tool_result_blobs;

-- R002-5: a row for each session and each blob that it sees.
CREATE VIEW tool_result_blobs (id, session_id, tool_name, content, byte_size, created_at) AS
WITH RECURSIVE line (session, at, bound) AS (
	SELECT id, id, 9223372036854775807 FROM sessions WHERE name IS NOT NULL
	UNION ALL
	SELECT line.session, s.parent, s.fork_blob FROM line JOIN sessions s ON s.id = line.at WHERE s.parent < s.id
)
SELECT b.ref, CAST(s.name AS TEXT), '', plimsoll_body(b.ref, b.form, b.size, b.sum, b.body), b.size, datetime(v.created / 1000, 'unixepoch')
FROM line
JOIN sessions s ON s.id = line.session
JOIN session_blobs v ON v.session = line.at AND v.id <= line.bound
JOIN blobs b ON b.id = v.blob;
