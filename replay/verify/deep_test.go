package verify_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// What is nested as deep as a reader takes it is found in an archive like anything
// else: by its bytes, and in another spelling by what its strings say.
func TestDeepContent(t *testing.T) {
	const depth = 9_990 // readers take 10,000 levels, with what is around the content
	content := func(space, leaf string) string {
		return strings.Repeat("["+space+`{"k":`, depth/2) + `["` + leaf + `"]` + strings.Repeat("}"+space+"]", depth/2)
	}
	result := func(content string) string {
		return `{"type":"tool_result","tool_use_id":"a","content":` + content + `}`
	}
	const ask, answer = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":"ho"}`
	const call = `{"type":"tool_use","id":"a","name":"look","input":{}}`
	messages := func(list ...string) []byte { return []byte(`{"messages":[` + strings.Join(list, ",") + `]}`) }
	raw := messages(ask, `{"role":"assistant","content":[`+call+`]}`, `{"role":"user","content":[`+result(content("", "bow"))+`]}`, answer)
	for name, c := range map[string]struct {
		kept string
		want []string
	}{
		"bytes":          {result(content("", "bow")), nil},
		"other spelling": {result(content(" ", "bow")), nil},
		"other leaf":     {result(content("", "bov")), []string{"uncovered: message 2 part 0: result a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := store{}
			last := `{"message":3,"role":"tool","origin":"o","part":0,"kind":"tool_result","raw":` + quote(c.kept) + `}`
			ref := s.put(`{"archive":1,"from":2,"to":4}` + "\n" +
				`{"message":2,"role":"assistant","origin":"o","part":0,"kind":"tool_call","raw":` + quote(call) + "}\n" + last + "\n")
			edited := messages(ask, `{"role":"user","content":"[ref=`+ref+`]"}`, answer)
			want(t, check(t, anthropic, raw, edited, verify.Options{Load: s.load}), c.want...)
		})
	}
}
