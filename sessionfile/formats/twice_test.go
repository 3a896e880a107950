package formats

import "testing"

// TestUsageTwice: a count that stands twice in a report of usage is told, with its line.
func TestUsageTwice(t *testing.T) {
	s := readText(t, `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Dig."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"Yes."}],"usage":{"input_tokens":9,"output_tokens":30,"input_tokens":900}}}
`)
	wantProblem(t, s, 2, `"input_tokens"`)
}
