package places

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// TestAgentsOfADatabase: a session's sub-agents, and its parent, are in the same database.
func TestAgentsOfADatabase(t *testing.T) {
	r := newTree(t)
	path := filepath.Join(r.root, "opencode.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, ask := range []string{
		`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, time_created INTEGER, time_updated INTEGER)`,
		`CREATE TABLE message (id TEXT)`,
		`CREATE TABLE part (id TEXT)`,
		`INSERT INTO session VALUES ('ses_a', NULL, 1, 1), ('ses_d', 'ses_a', 2, 2), ('ses_c', 'ses_d', 3, 3), ('ses_b', NULL, 4, 4)`,
		`INSERT INTO session VALUES ('ses_x', 'ses_y', 5, 5), ('ses_y', 'ses_x', 6, 6), ('ses_z', 'gone', 7, 7)`,
	} {
		if _, err := db.ExecContext(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
	r.agents(path+"#ses_a", "", path+"#ses_c", path+"#ses_d")
	r.agents(path+"#ses_d", "", path+"#ses_c")
	r.agents(path+"#ses_b", "")
	r.agents(path+"#ses_x", "", path+"#ses_y") // each names the other: it ends
	r.agents(filepath.Join(r.root, "none.db")+"#ses_a", "no such file")
	r.parent(path+"#ses_c", "", path+"#ses_d")
	r.parent(path+"#ses_a", "", "")
	r.parent(path+"#ses_z", `want session "gone"`, "")
}
