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
