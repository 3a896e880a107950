package codecs

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// In every dialect a message of nothing but a client's tags is a Note, and bears the flag of
// standing instructions if it holds some; what a person typed is Human.
func TestWhoWroteIt(t *testing.T) {
	for text, want := range map[string]struct {
		origin llm.Origin
		flags  llm.Flags
	}{
		"Read the plan.": {llm.Human, 0},
		"<system-reminder>The file has changed.</system-reminder>":                   {llm.Note, 0},
		"<system-reminder>\n# claudeMd\nNever touch the rudder.\n</system-reminder>": {llm.Note, llm.FlagRules},
		"<system-reminder>x</system-reminder> and read the plan":                     {llm.Human, 0},
	} {
		for _, c := range All() {
			r := llm.Request{Model: "m", Messages: []llm.Message{llm.UserText(text)}}
			if m := decoded(t, c.Dialect(), encoded(t, c.Dialect(), r)).Messages[0]; m.Origin != want.origin || m.Flags != want.flags {
				t.Errorf("%s: %q: got %v %b, want %v %b", c.Dialect(), text, m.Origin, m.Flags, want.origin, want.flags)
			}
		}
	}
}
