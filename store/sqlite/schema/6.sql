-- The sixth version: the documents' table of snapshots. What a snapshot says is its host's
-- business; those of sessions begin with a line of JSON that says what is shown then. A row for
-- each session whose newest snapshot says so.
CREATE VIEW session_snapshots (session_id, messages, token_count, created_at) AS
WITH RECURSIVE line (session, depth, at, low, cap) AS (
	SELECT id, 0, id, fork_seq, records FROM sessions WHERE name IS NOT NULL
	UNION ALL
	SELECT l.session, l.depth + 1, p.id, p.fork_seq, min(l.cap, l.low)
	FROM line l JOIN sessions s ON s.id = l.at JOIN sessions p ON p.id = s.parent
	WHERE s.parent < s.id
),
newest (name, said, created) AS (
	SELECT s.name, plimsoll_first(n.session, n.seq, n.form, n.size, n.sum, n.body), n.created
	FROM sessions s JOIN snapshots n ON n.rowid = (
		SELECT n.rowid FROM line l JOIN snapshots n ON n.session = l.at AND n.seq <= l.cap
		WHERE l.session = s.id ORDER BY n.seq DESC, l.depth LIMIT 1
	)
	WHERE s.name IS NOT NULL
)
SELECT CAST(name AS TEXT), json_extract(said, '$.messages'), json_extract(said, '$.token_count'), datetime(created / 1000, 'unixepoch')
FROM newest WHERE json_valid(said) AND json_type(said, '$.messages') = 'array';
