package proxy_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/testagent"
)

const script = `
window 8000
output 500
reply 20 times when tools
  thinking "Let me look."
  call read {"path": "a.txt"}
reply always
  text "Done."
`

// TestGrows: an agent whose task needs several windows ends it through the proxy, in every
// dialect, streaming or not; the provider refuses nothing, and without the proxy it does.
func TestGrows(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				model, url := scripted(t, script)
				p := start(t, url, nil)
				if err := testagent.New(p.url, d, stream).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				calls := model.Log()
				if len(calls) != 21 {
					t.Errorf("%d calls, want 21", len(calls))
				}
				for i, call := range calls {
					if call.Error != nil || len(call.Faults) > 0 {
						t.Fatalf("call %d: %v %v", i+1, call.Error, call.Faults)
					}
				}
				lines := p.log.Requests(t, 21)
				last := lines[len(lines)-1]
				if len(lines) != 21 || last["edited"] != true || last["match"] != "next" || last["status"] != float64(200) || last["usage_output"] == nil {
					t.Errorf("%d lines, the last one %v", len(lines), last)
				}
				model.Reset()
				if err := testagent.New(url, d, stream).Run(t.Context()); err == nil && d != "ollama" {
					t.Error("without the proxy the task ends, want a refusal")
				}
			})
		}
	}
}
