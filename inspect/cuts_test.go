package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

func TestCuts(t *testing.T) {
	start := func() *log {
		l := newLog()
		l.human("Read the log.")
		l.reply(cached(0, 10_000), call("c1", "read", "{}"))
		l.result("c1", strings.Repeat("a line of the log\n", 50))
		l.reply(cached(10_000, 400), text("Read."))
		return l
	}
	t.Run("compaction", func(t *testing.T) {
		l := start()
		l.segment(sessionfile.StartCompaction)
		l.summary("The log was read.")
		l.human("And now?")
		l.reply(cached(0, 10_050), text("Nothing."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.What != "compaction" || c.Line != 5 || c.Before != 10_400 || c.After != 10_050 || c.MessagesBefore != 4 || c.MessagesAfter != 1 || c.DroppedMessages != 4 {
			t.Errorf("want 4 messages for 1 at line 5, 10,400 tokens for 10,050, got %+v", c)
		}
		if c.Dropped["outputs"] == 0 || c.Dropped["human"] == 0 || len(c.Added) != 1 || c.Added["summary"] == 0 || c.Time == 0 {
			t.Errorf("want outputs and words out and a summary in, got %+v", c)
		}
	})
	t.Run("microcompaction", func(t *testing.T) {
		l := start()
		kept := slices.Clone(l.seg.Entries)
		kept[2].Message.Parts = []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{text("[cleared]")}}}
		l.segment(sessionfile.StartMicrocompaction, kept...)
		l.human("And now?")
		l.reply(cached(9_000, 1_100), text("Nothing."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.MessagesBefore != 4 || c.MessagesAfter != 4 || c.ChangedMessages != 1 || c.DroppedMessages != 0 || c.Dropped["outputs"] == 0 || len(c.Added) != 0 {
			t.Errorf("want one changed message with less output, got %+v", c)
		}
	})
	t.Run("rollback", func(t *testing.T) {
		l := start()
		l.segment(sessionfile.StartRollback, l.seg.Entries[:1]...)
		l.human("Rather read the map.")
		l.reply(cached(9_900, 100), text("Read."))
		c := l.report(t, withShip(t)).Cuts[0]
		if c.DroppedMessages != 3 || c.MessagesAfter != 1 || len(c.Added) != 0 {
			t.Errorf("want 3 messages taken back and nothing put in, got %+v", c)
		}
	})
}

// Thinking is followed by what the reported prompts say became of it.
func TestThinking(t *testing.T) {
	think := func(second int) inspect.Thinking {
		l := newLog()
		l.human("Think about the tide, and about the berths.")
		l.reply(llm.Usage{CacheWrite5m: 10_000, Output: 2_000}, llm.Thinking{Text: "Hm.", Signature: "sig"}, llm.Thinking{Redacted: true, Signature: "sig"}, text("I did."))
		l.human("Good.")
		l.reply(cached(10_000, second-10_000), text("Thanks."))
		r := l.report(t, withShip(t))
		if len(r.Thinking) != 1 {
			t.Fatalf("want the thinking of one segment, got %+v", r.Thinking)
		}
		return r.Thinking[0]
	}
	kept, gone := think(12_005), think(10_015)
	if kept.Blocks != 2 || kept.Signed != 2 || kept.Hidden != 1 || abs(kept.Tokens-2_000) > 10 || kept.Carried != "kept" || kept.Turns != 1 || kept.Dropped != 0 {
		t.Errorf("want 2 blocks of nearly 2,000 tokens, kept, got %+v", kept)
	}
	if gone.Carried != "dropped" || abs(gone.Dropped-gone.Tokens) > 0 {
		t.Errorf("want all of it dropped, got %+v", gone)
	}
}
