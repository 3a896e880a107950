package codecs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// BenchmarkSplice passes a stream of a long text and some calls, with nothing in it to hide, in
// chunks as a connection gives them.
func BenchmarkSplice(b *testing.B) {
	for _, c := range All() {
		b.Run(string(c.Dialect()), func(b *testing.B) {
			var stream []byte
			e := c.NewEncoder()
			for _, event := range longReply() {
				var err error
				if stream, err = e.Append(stream, event); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				s := c.NewSplice(nobodys, true)
				if got := finished(s, [][]byte{stream}, func(n int) int { return min(n, 32<<10) }); got.Err != nil || len(got.Out) != len(stream) {
					b.Fatal(len(got.Out), got.Err)
				}
			}
		})
	}
}

// longReply are the events of a reply of 1,000 deltas of text and ten calls.
func longReply() []llm.Event {
	parts := []llm.Part{llm.Text{Text: strings.Repeat("So much for the mast. ", 1000)}}
	for i := range 10 {
		parts = append(parts, llm.ToolCall{CallID: fmt.Sprint("call_", i), Name: "read", Args: fmt.Sprintf(`{"path":%q}`, strings.Repeat("deck/", 20))})
	}
	var out []llm.Event
	for _, e := range wire.Events(llm.Response{
		ID: "reply_1", Model: "m", Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}, Stop: llm.StopTool,
		Usage: llm.Usage{Input: 1000, Output: 5000},
	}) {
		if e.Kind != llm.EventDelta || e.Delta != llm.DeltaText {
			out = append(out, e)
			continue
		}
		for text := e.Text; text != ""; {
			one := e
			one.Text = text[:min(22, len(text))]
			out, text = append(out, one), text[len(one.Text):]
		}
	}
	return out
}
