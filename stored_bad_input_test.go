package plimsoll_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
)

// TestUnread: of a content that has changed on the disk, or has gone from it, the model is told
// so and never anything else, and the host learns of it.
func TestUnread(t *testing.T) {
	for name, statement := range map[string]string{
		"changed": "UPDATE blobs SET body = x'00'",
		"gone":    "DELETE FROM blobs",
	} {
		t.Run("R002-26_"+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unread.db")
			st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			must(t, err)
			defer st.Close()
			s := open(t, plimsoll.Options{ID: "s", Store: st, Policy: preset(t, "layered"), Targets: []budget.Target{windowOf("gpt-4o", 60_000)}})
			add(t, s, human("How high is the mast?"))
			prepare(t, s)
			add(t, s, calls("read", 1))
			p := result(t, s, "c1", strings.Repeat("the mast is 31 m high\n", 400))
			prepare(t, s)
			other, err := sql.Open("sqlite", path)
			must(t, err)
			_, err = other.Exec(statement)
			must(t, errors.Join(err, other.Close()))
			call := llm.ToolCall{CallID: "b1", Name: "read_result", Args: `{"ref_id":"` + string(p.Ref) + `"}`}
			add(t, s, llm.AssistantText("", call))
			served, err := s.Builtin(t.Context(), call)
			must(t, err)
			if got := outputs(s)[1]; !served || strings.Contains(got, "mast") || !strings.Contains(got, string(p.Ref)) {
				t.Errorf("want it stated what became of %s, got %q", p.Ref, got)
			}
			prepare(t, s)
			if !slices.ContainsFunc(events(t, s), func(e plimsoll.Event) bool { return e.Kind == plimsoll.EventUnread }) {
				t.Error("want an event")
			}
		})
	}
}

// A fullStore is a store whose disk is full: it takes records, which are short, and no contents.
type fullStore struct{ store.Memory }

func (*fullStore) Put(context.Context, string, []edit.Blob) error { return syscall.ENOSPC }

func (*fullStore) PutFrom(context.Context, string, io.Reader) (llm.Ref, int64, error) {
	return "", 0, syscall.ENOSPC
}

// TestNoRoomToStore: an output that cannot be stored is shown whole where it fits. Where it does
// not, nothing leaves and the error says why.
func TestNoRoomToStore(t *testing.T) {
	for _, name := range []string{"guard", "cache-compact", "layered", "balanced"} {
		t.Run("law12_"+name, func(t *testing.T) {
			s := open(t, plimsoll.Options{ID: "s", Store: &fullStore{}, Policy: preset(t, name), Targets: []budget.Target{windowOf("gpt-4o", 60_000)}})
			add(t, s, human("How high is the mast?"))
			prepare(t, s)
			add(t, s, calls("read", 2))
			text := strings.Repeat("the mast is 31 m high\n", 1000) // some 9,000 tokens
			if p, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c1", Body: strings.NewReader(text)}); err != nil || p.Shown != plimsoll.ShownWhole {
				t.Fatalf("want it whole, got %+v (%v)", p, err)
			}
			large := strings.Repeat("how high is the mast of this ship, and of that one\n", 8000) // more than the window
			_, err := s.ToolResult(t.Context(), plimsoll.Result{CallID: "c2", Body: strings.NewReader(large)})
			if err == nil {
				var send *engine.Send
				if send, err = s.Prepare(t.Context()); err == nil && send.StillOver && name == "guard" {
					err = syscall.ENOSPC // its document has a last request sent all the same, which says that it is over
				}
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("want the error of a full disk, got %v", err)
			}
			if !strings.Contains(outputs(s)[0], text) {
				t.Error("what had been taken is not there any more")
			}
		})
	}
}
