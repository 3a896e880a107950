package read

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeysTwice: a key that hides another one is found on a line and in its objects, and
// nowhere else; validity is what it is without.
func TestKeysTwice(t *testing.T) {
	many := strings.Builder{}
	for i := range 2 * maxKeys {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i)
	}
	for line, want := range map[string]string{
		`{"a":1,"message":{"x":1},"b":2,"message":{"x":2}}`:                       "message",
		`{"message":{"content":"one","id":1,"content":[]}}`:                       "content",
		`{ "a" : [ ] , "a" : [1] }`:                                               "a",
		`{"a":1,"a":1}`:                                                           "", // it hides nothing
		`{"a":{"b":{"c":1,"c":2}}}`:                                               "", // too deep to be a message
		`{"a":{"usage" :{"in":1,"out":5,"in":2}}}`:                                "in",
		`{"a":{"info":{"last_token_usage":{"b":1,"b":2}}}}`:                       "b",
		strings.Repeat(`{"usage":`, 6) + `{"b":1,"b":2}` + strings.Repeat("}", 6): "", // no client nests it so
		`{"a":[{"c":1,"c":2}]}`:                                                   "",
		`{"a":1,"A":2,"ab":3}`:                                                    "",
		`{"a":"\"a\":1","b":"a"}`:                                                 "",
		`{}`:                                                                      "",
		`{"a":1,"a":2`:                                                            "",
		`[{"a":1,"a":2}]`:                                                         "",
		`{` + many.String() + `"end":1}`:                                          "",
	} {
		end, twice := checkLine([]byte(line))
		if string(twice) != want || (end >= 0) != (check([]byte(line)) >= 0) || end >= 0 && end != len(line) {
			t.Errorf("%.60s: want %q, got %q, end %d", line, want, twice, end)
		}
	}
}
