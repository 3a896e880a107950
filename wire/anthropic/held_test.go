package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/wire/internal/codectest"
)

// The blocks that are open may hold so much together, however the stream goes on.
func TestOpenBlocksAreBounded(t *testing.T) {
	start := func(i int) string {
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, i)
	}
	delta := func(i int, kind, member string) string {
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":"%s"}}`, i, kind, member, strings.Repeat("x", 1000))
	}
	stop := func(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }
	var open, one, other, closed []string
	for i := range 100 {
		open = append(open, start(i))
		one = append(one, delta(0, "text_delta", "text"))
		other = append(other, delta(0, "x_delta", "text"))
		closed = append(closed, start(i), delta(i, "text_delta", "text"), stop(i))
	}
	tests := []struct {
		name     string
		payloads []string
		full     bool
	}{
		{"many blocks", open, true},
		{"one block", append([]string{start(0)}, one...), true},
		{"a member that is not known", append([]string{start(0)}, other...), true},
		{"blocks that end", closed, false},
	}
	for _, test := range tests {
		d := &decoder{}
		d.parts.Most = codectest.Most
		_, err := d.Feed([]byte(framed(append([]string{startPayload}, test.payloads...)...)))
		codectest.Holds(t, test.name, err, test.full)
	}
}
