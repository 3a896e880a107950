package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// What is open may hold so much together, however the stream goes on.
func TestOpenPartsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	repeat := func(delta string) []string {
		var all []string
		for range 100 {
			all = append(all, delta)
		}
		return all
	}
	call := func(i int, args string) string {
		return fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"%s"}}]}`, i, i, args)
	}
	var open, closed []string
	for i := range 100 {
		open = append(open, call(i, "{"))
		closed = append(closed, call(i, `{\"x\":\"`+long+`\"}`))
	}
	tests := []struct {
		name   string
		deltas []string
		full   bool
	}{
		{"text", repeat(`{"content":"` + long + `"}`), true},
		{"thinking", repeat(`{"reasoning":"` + long + `"}`), true},
		{"details", repeat(`{"reasoning_details":[{"type":"a","text":"x"},{"type":"b","text":"x"}]}`), true},
		{"a refusal", repeat(`{"refusal":"` + long + `"}`), true},
		{"arguments", append([]string{call(0, "{")}, repeat(`{"tool_calls":[{"index":0,"function":{"arguments":"`+long+`"}}]}`)...), true},
		{"a function", repeat(`{"function_call":{"arguments":"` + long + `"}}`), true},
		{"many calls", open, true},
		{"calls that end", closed, false},
	}
	for _, test := range tests {
		d := newChatDecoder()
		d.held.Most = codectest.Most
		_, err := d.Feed([]byte(chunksOf(test.deltas...)))
		codectest.Holds(t, test.name, err, test.full)
	}
}

func TestOpenItemsAreBounded(t *testing.T) {
	added := func(i int) string {
		return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"message","role":"assistant","content":[]}}`, i)
	}
	done := func(i int) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"message","role":"assistant","content":[]}}`, i)
	}
	delta := `{"type":"response.output_text.delta","output_index":0,"delta":"` + strings.Repeat("x", 1000) + `"}`
	var open, closed []string
	one := []string{added(0)}
	for i := range 100 {
		open, closed, one = append(open, added(i)), append(closed, added(i), done(i)), append(one, delta)
	}
	for name, payloads := range map[string][]string{"many items": open, "one item": one, "items that end": closed} {
		d := newResponsesDecoder()
		d.held.Most = codectest.Most
		_, err := d.Feed([]byte(framed(payloads...)))
		codectest.Holds(t, name, err, name != "items that end")
	}
}
