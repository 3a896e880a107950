package turn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// TestOrder is law 3 for a request as providers read it. A word is a message: "human",
// "text", or calls and results by their ids, hosted ones with a capital.
func TestOrder(t *testing.T) {
	message := func(word string) llm.Message {
		what, ids, _ := strings.Cut(word, ":")
		m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
		switch what {
		case "human":
			m.Role, m.Origin = llm.RoleUser, llm.Human
		case "result":
			m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		}
		for _, id := range strings.Split(ids, ",") {
			switch what {
			case "call":
				m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Hosted: strings.ToUpper(id) == id})
			case "result":
				m.Parts = append(m.Parts, llm.ToolResult{CallID: id})
			default:
				m.Parts = append(m.Parts, llm.Text{Text: word})
			}
		}
		return m
	}
	unanswered, misplaced := turn.ReasonUnanswered, turn.ReasonMisplaced
	for _, tt := range []struct {
		words, id, reason string
		at                int
	}{
		{"human text human", "", "", 0},
		{"human call:a,b result:b human result:a text", "", "", 0},
		{"human call:a text call:b result:a,b text", "", "", 0}, // one reply in three messages
		{"human call:a,a result:a result:a", "", "", 0},
		{"human call:a result:a call:a result:a", "", "", 0},
		{"human call:W,a result:a text result:W human", "", "", 0}, // a hosted one may come late
		{"human call:W text", "", "", 0},
		{"human call:a", "a", unanswered, 1},
		{"human call:a human", "a", unanswered, 1},
		{"human call:a,b result:a text result:b", "b", unanswered, 1},
		{"human call:a human text", "a", unanswered, 1},
		{"human result:a", "a", misplaced, 1},
		{"human call:a result:a result:a", "a", misplaced, 3},
		{"result:a human call:a", "a", misplaced, 0},
	} {
		t.Run("law3_"+tt.words, func(t *testing.T) {
			var o turn.Order
			var err error
			words := strings.Fields(tt.words)
			for _, w := range words {
				if err = o.Next(message(w)); err != nil {
					break
				}
			}
			if err == nil {
				err = o.End()
			}
			var torn *turn.TornError
			switch {
			case tt.reason == "":
				if err != nil || o.Len() != len(words) {
					t.Errorf("got %v after %d of %d messages", err, o.Len(), len(words))
				}
			case !errors.As(err, &torn) || torn.CallID != tt.id || torn.Reason != tt.reason || torn.Position != tt.at:
				t.Errorf("got %v, want call %q at message %d: %s", err, tt.id, tt.at, tt.reason)
			}
		})
	}
}
