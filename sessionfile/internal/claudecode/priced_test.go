package claudecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// TestUnpricedSteps: each Step says why list prices do not hold for it, and the file's
// problems name the reason once.
func TestUnpricedSteps(t *testing.T) {
	var b strings.Builder
	parent := "null"
	for i, tier := range []string{"standard", "priority", "priority"} {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","message":{"role":"user","content":"Sound the bell."}}`+"\n", i, parent)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","parentUuid":"u%d","sessionId":"s","message":{"id":"m%d","role":"assistant","model":"m","content":[{"type":"text","text":"It rings."}],"usage":{"input_tokens":900,"output_tokens":20,"service_tier":%q}}}`+"\n", i, i, i, tier)
		parent = fmt.Sprintf(`"a%d"`, i)
	}
	s, err := formats.Read("session.jsonl", strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, e := range s.Segments[0].Entries {
		if e.Step != nil {
			got = append(got, e.Step.Unpriced == "")
		}
	}
	if fmt.Sprint(got) != "[true false false]" {
		t.Errorf("want list prices for the first step only, got %v", got)
	}
	if len(s.Problems) != 1 || s.Problems[0].Line != 4 || !strings.Contains(s.Problems[0].What, "service tier") {
		t.Errorf("want the reason once, at line 4, got %v", s.Problems)
	}
}

// TestUnpricedOnAnyLine: what one line of a reply says of its prices holds for the whole
// reply, though a later line with its usage does not repeat it.
func TestUnpricedOnAnyLine(t *testing.T) {
	for _, c := range []struct{ first, second string }{
		{`"service_tier":"priority"`, `"service_tier":"standard"`},
		{`"server_tool_use":{"web_search_requests":2}`, `"service_tier":null`},
		{`"service_tier":"standard"`, `"speed":"fast"`},
	} {
		var b strings.Builder
		b.WriteString(`{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Sound the bell."}}` + "\n")
		parent := "u"
		for i, says := range []string{c.first, c.second} {
			fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","parentUuid":%q,"sessionId":"s","message":{"id":"m","role":"assistant","model":"m","content":[{"type":"text","text":"Ring %d."}],"usage":{"input_tokens":900,"output_tokens":20,%s}}}`+"\n", i, parent, i, says)
			parent = fmt.Sprintf("a%d", i)
		}
		s, err := formats.Read("session.jsonl", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		entries := s.Segments[0].Entries
		if last := entries[len(entries)-1]; len(entries) != 2 || last.Step == nil || last.Step.Unpriced == "" {
			t.Errorf("%s, then %s: want one reply without list prices, got %+v", c.first, c.second, entries)
		}
	}
}
