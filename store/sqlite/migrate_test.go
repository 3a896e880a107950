package sqlite

import (
	"strings"
	"testing"
)

// TestMigrate takes a file through versions that there are not yet.
func TestMigrate(t *testing.T) {
	t1, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLane(t.Context(), t1.driver, Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}()
	steps := []string{
		"CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)",
		"ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 5",
		"INSERT INTO a VALUES (2, 2); INSERT INTO nowhere VALUES (1)",
	}
	want := func(version, rows int) {
		t.Helper()
		var v, n int
		if err := l.one(t.Context(), "PRAGMA user_version", nil, &v); err != nil || v != version {
			t.Errorf("want version %d, got %d (%v)", version, v, err)
		}
		if err := l.one(t.Context(), "SELECT count(*) FROM a", nil, &n); err != nil || n != rows {
			t.Errorf("want %d rows, got %d (%v)", rows, n, err)
		}
	}
	for _, n := range []int{1, 1, 2} {
		if v, err := migrate(t.Context(), l, steps[:n]); err != nil || v != n {
			t.Fatalf("to version %d: got %d (%v)", n, v, err)
		}
		want(n, 1)
	}
	if _, err := migrate(t.Context(), l, steps); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a step that fails: want its error, got %v", err)
	}
	want(2, 1)
	if v, err := migrate(t.Context(), l, steps[:1]); err != nil || v != 2 {
		t.Errorf("a newer file: want 2, got %d (%v)", v, err)
	}
	want(2, 1)
}
