package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// TestMessagesWithImages: where messages alone are looked at, an output with an image, of which a
// word is left there, can become one line, and the judge finds nothing that nobody wrote.
func TestMessagesWithImages(t *testing.T) {
	s := looking(24, 10)
	s.Dialect = "anthropic"
	for i, e := range s.Segments[0].Entries {
		if len(e.Message.Results()) == 0 {
			continue
		}
		r := e.Message.Results()[0]
		text := r.Text()
		data := fmt.Appendf(nil, `{"tool_use_id":%q,"type":"tool_result","content":[{"type":"text","text":%q},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`, r.CallID, text)
		r.Content, r.Raw = []llm.Part{llm.Text{Text: text}, llm.Media{Type: "image/png", Size: 12}}, llm.Raw{Data: data}
		s.Segments[0].Entries[i].Message.Parts = []llm.Part{r}
	}
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.New(replay.Options{
		Policies: []policy.Policy{p}, Windows: []replay.WindowSpec{{Percent: 50}}, Base: replay.BaseMessages, Judge: true, Every: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Session(t.Context(), s, func(res replay.Result) error {
		if run := res.Runs[0]; len(run.Edits) == 0 || run.Uncovered+run.UnresolvedRefs+run.Orphans > 0 || !strings.Contains(fmt.Sprint(run.Edits), "stub") {
			t.Errorf("got %+v", run)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
