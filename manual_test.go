package plimsoll_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestForceCompact: a compaction by hand, by a person's command or by the model's tool, says
// what it did in figures and in a sentence.
func TestForceCompact(t *testing.T) {
	t.Run("R002-21_in_figures", func(t *testing.T) {
		s := answered(t, "layered", &summariser{err: errors.New("down")}, 6)
		before := s.Usage().Count.Point
		r, err := s.ForceCompact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.BeforeTokens != before || r.AfterTokens != s.Usage().Count.Point || r.AfterTokens >= r.BeforeTokens {
			t.Errorf("%+v", r)
		}
		if r.BeforeMsgCount != 24 || r.AfterMsgCount != len(s.View().Messages()) || len(r.StrategiesRun) != 1 {
			t.Errorf("%+v, want one means", r)
		}
	})
	t.Run("R002-29_in_a_sentence", func(t *testing.T) {
		s := answered(t, "layered", &summariser{text: "<summary>" + strings.Repeat("They talked. ", 30) + "</summary>"}, 12)
		r, err := s.ForceCompact(t.Context())
		if got := r.String(); err != nil || !strings.HasPrefix(got, "Compacted from ") || !strings.HasSuffix(got, "by summarise.") {
			t.Errorf("%q, %v", got, err)
		}
		r, err = answered(t, "balanced", nil, 0).ForceCompact(t.Context())
		if got := r.String(); err != nil || !strings.HasPrefix(got, "Nothing was compacted: nothing to compact") {
			t.Errorf("%q, %v", got, err)
		}
	})
	for typed, want := range map[string]struct {
		focus string
		ok    bool
	}{
		"/compact": {"", true}, "  /compact\n": {"", true}, "/compact the failing\ntest ": {"the failing\ntest", true}, "/compactor": {}, "please /compact": {}, "": {},
	} {
		t.Run("R002-22_typed_"+typed, func(t *testing.T) {
			if focus, ok := plimsoll.ParseCompact(typed); focus != want.focus || ok != want.ok {
				t.Errorf("got %q, %v", focus, ok)
			}
		})
	}
}

// TestCompactContext: the model's own tool compacts while its call is open, which stays.
func TestCompactContext(t *testing.T) {
	t.Run("R002-22_R002-29_by_the_model", func(t *testing.T) {
		s := answered(t, "layered", &summariser{text: "<summary>" + strings.Repeat("They talked. ", 30) + "</summary>"}, 12)
		add(t, s, human("Make room."))
		send := prepare(t, s)
		offered := false
		for _, tool := range send.Tools {
			offered = offered || tool.Name == "compact_context"
		}
		call := llm.ToolCall{CallID: "k", Name: "compact_context", Args: "{}"}
		add(t, s, llm.AssistantText("", call))
		served, err := s.Builtin(t.Context(), call)
		if !offered || !served || err != nil {
			t.Fatalf("offered %v, served %v, %v", offered, served, err)
		}
		send = prepare(t, s)
		last := send.Messages()[len(send.Messages())-1]
		if got := last.Results()[0].Text(); !strings.HasPrefix(got, "Compacted from ") || !send.Edited {
			t.Errorf("the model reads %q", got)
		}
	})
}
