package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestStoreScripts runs the scripts in testdata/store: plimsoll store on the files that
// storeFixtures makes.
func TestStoreScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "store"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("REF", string(llm.RefOf([]byte(talkOutput()))))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			return storeFixtures(context.Background(), e.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lines": countLines, "pretty": pretty, "jsonlines": jsonLines, "clean": clean,
		},
	})
}

// storeFixtures makes stores in a folder: one with sessions, the same as the default one, an
// empty one, damaged ones, and files that are none.
func storeFixtures(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "data", "plimsoll"), 0o700); err != nil {
		return err
	}
	filled := filepath.Join(dir, "data", "plimsoll", "plimsoll.db")
	if err := fillStore(ctx, filled); err != nil {
		return err
	}
	text, err := os.ReadFile(filled) //nolint:gosec // the test's own
	if err != nil {
		return err
	}
	for name, statement := range map[string]string{
		"filled.db":  "",
		"damaged.db": "UPDATE records SET sum = 1 WHERE seq = 1; DELETE FROM blobs WHERE size > 5000",
		"garbage.db": "DELETE FROM session_blobs WHERE session = 1",
		"newer.db":   "PRAGMA user_version = 99",
		"foreign.db": "PRAGMA application_id = 1",
	} {
		if err := changedCopy(filepath.Join(dir, name), text, statement); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		return err
	}
	if err := fillTalk(ctx, filepath.Join(dir, "talk.db")); err != nil {
		return err
	}
	talk, err := os.ReadFile(filepath.Join(dir, "talk.db")) //nolint:gosec // the test's own
	if err != nil {
		return err
	}
	// The process that has written to talk.db, this one, is alive.
	if err := changedCopy(filepath.Join(dir, "quiet.db"), talk, "UPDATE sessions SET writer = 0"); err != nil {
		return err
	}
	empty, err := sqlite.Open(ctx, filepath.Join(dir, "empty.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	return empty.Close()
}

func changedCopy(path string, text []byte, statement string) error {
	if err := os.WriteFile(path, text, 0o600); err != nil || statement == "" {
		return err
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

func fillStore(ctx context.Context, path string) error {
	st, err := sqlite.Open(ctx, path, sqlite.Options{Now: func() time.Time { return time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC) }})
	if err != nil {
		return err
	}
	records := [][]byte{[]byte("one"), []byte(strings.Repeat("two ", 300)), []byte("three")}
	var blobs []edit.Blob
	for _, text := range []string{"short", strings.Repeat("a long output\n", 1000)} {
		blobs = append(blobs, edit.Blob{Ref: llm.RefOf([]byte(text)), Data: []byte(text)})
	}
	const hostile = "\x1b[31mred\u202e"
	return errors.Join(
		st.Append(ctx, "fix-the-build", 0, records),
		st.Put(ctx, "fix-the-build", blobs),
		st.PutSnapshot(ctx, "fix-the-build", 2, []byte("snapshot")),
		st.Fork(ctx, "fix-the-build", "second try", 2),
		st.Append(ctx, hostile, 0, records[:2]),
		st.Close(),
	)
}

// fillTalk makes a store with a session whose records say something.
func fillTalk(ctx context.Context, path string) error {
	st, err := sqlite.Open(ctx, path, sqlite.Options{Now: func() time.Time { return time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC) }})
	if err != nil {
		return err
	}
	output := talkOutput()
	ref := llm.RefOf([]byte(output))
	var records [][]byte
	for _, r := range []journal.Record{
		{Kind: journal.KindMessage, Message: numbered(1, llm.UserText("Run the tests."))},
		{Kind: journal.KindMessage, Message: numbered(2, llm.AssistantText("I run them.", llm.ToolCall{CallID: "c1", Name: "bash", Args: `{"cmd":"go test ./..."}`}))},
		{Kind: journal.KindMessage, Message: numbered(3, llm.ToolText("c1", output))},
		{Kind: journal.KindEdit, Edit: edit.Edit{
			ID: 1, Op: edit.Replace, Kind: edit.KindOffload, Span: edit.Span{From: 3, To: 4}, Replacement: llm.ToolResult{CallID: "c1", Content: []llm.Part{llm.Stub{Ref: ref, Text: "[kept]"}}},
			Refs: []llm.Ref{ref}, Why: "output of 6,026 bytes", Rule: "big-output",
		}},
		{Kind: journal.KindTurnEnd},
	} {
		line, err := journal.Encode(r)
		if err != nil {
			return err
		}
		records = append(records, line)
	}
	return errors.Join(
		st.Put(ctx, "talk", []edit.Blob{{Ref: ref, Data: []byte(output)}}),
		st.Append(ctx, "talk", 0, records),
		st.Fork(ctx, "talk", "talk again", 3),
		st.Close(),
	)
}

// talkOutput is the output that the session in talk.db has.
func talkOutput() string {
	ok := strings.Repeat("ok\n", 1000)
	return ok + "FAIL: one \x1b[31m\n" + ok + "FAIL: two\n"
}

func numbered(id llm.MessageID, m llm.Message) llm.Message {
	m.ID = id
	return m
}

// Ctrl-C ends a verification on its way.
func TestStoreInterrupted(t *testing.T) {
	dir := t.TempDir()
	if err := storeFixtures(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	s := streams{strings.NewReader(""), &out, &errs}
	for name, run := range map[string]func(context.Context, *sqlite.Store, storeFlags) error{
		"verify": func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
			return verifyStore(ctx, s, st, f.json)
		},
		"sessions": func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
			return listSessions(ctx, s, st, f.json)
		},
	} {
		err := withStore(t.Context(), "store "+name, storeFlags{db: filepath.Join(dir, "filled.db")}, func(_ context.Context, st *sqlite.Store, f storeFlags) error {
			return storeError(ctx, "store "+name, run(ctx, st, f))
		})
		if c, ok := errors.AsType[*codedError](err); !ok || c.code != exitInterrupted || out.Len() > 0 {
			t.Errorf("%s: got %v, and printed %q", name, err, out.String())
		}
	}
}

// What of a session's tools is left out is told by where they come from.
func TestOfferTold(t *testing.T) {
	tools := []llm.Tool{{Name: "read"}, {Name: "a", Kind: llm.ToolOfServer}, {Name: "b", Kind: llm.ToolOfServer}, {Name: "c", Kind: llm.ToolOfServer}}
	for want, places := range map[string][]int{
		"builtin: 1 of 1 offered, mcp: 1 of 3 offered": {0, 2},
		"builtin: 1 of 1 offered, mcp: 3 of 3 offered": nil,
	} {
		t.Run("R002-27_"+want, func(t *testing.T) {
			row, told := tellRecord(journal.Record{Kind: journal.KindOffer, Offer: places}, tools)
			if !told || row.Text != want {
				t.Errorf("want %q, got %q", want, row.Text)
			}
		})
	}
}

// TestExportHasTheToolsThatAreShown: with --view what is left out of requests is left out of an export, too; without it all tools are there.
func TestExportHasTheToolsThatAreShown(t *testing.T) {
	tools := []llm.Tool{{Name: "read"}, {Name: "sea_mast", Kind: llm.ToolOfServer}, {Name: "tool_search", Builtin: true}}
	for _, c := range []struct {
		name string
		base journal.Base
		tail []journal.Record
		want string
	}{
		{"left out", journal.Base{Tools: tools, Offer: []int{0, 2}}, nil, "read tool_search"},
		{"offered again", journal.Base{Tools: tools, Offer: []int{0, 2}}, []journal.Record{{Kind: journal.KindOffer, Offer: []int{0, 2, 1}}}, "read tool_search sea_mast"},
		{"none left out", journal.Base{Tools: tools, Offer: []int{0, 2}}, []journal.Record{{Kind: journal.KindTools, Tools: tools}}, "read sea_mast"},
	} {
		for _, view := range []bool{true, false} {
			want := "read sea_mast tool_search"
			if view {
				want = c.want
			}
			var got []string
			for _, tool := range (exportFlags{view: view}).request(taken{snap: journal.Snapshot{Base: c.base, Tail: c.tail}}).Tools {
				got = append(got, tool.Name)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, view %v: %q, want %s", c.name, view, got, want)
			}
		}
	}
}
