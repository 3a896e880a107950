package formats

import (
	"strings"
	"testing"
)

// TestReadTimes: a message has the time of its first line, a Step that of the last line
// of its reply.
func TestReadTimes(t *testing.T) {
	const claude = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-11-01T09:00:00.000Z","message":{"role":"user","content":"Dig."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-11-01T09:00:01.500Z","message":{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Yes."}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","timestamp":"2026-11-01T09:00:02.000Z","message":{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"dug"}]}}
`
	const codex = `{"timestamp":"2026-11-01T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}}
{"timestamp":"2026-11-01T09:00:01.500Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}}
{"timestamp":"2026-11-01T09:00:02.000Z","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"dug"}}
`
	const start = 1793523600000 // 2026-11-01T09:00:00Z
	for _, text := range []string{claude, codex} {
		s := readText(t, text)
		entries := s.Segments[0].Entries
		if len(entries) != 3 {
			t.Fatalf("%s: want three messages, got %d", s.Format, len(entries))
		}
		for i, want := range []int64{start, start + 1500, 0} {
			if entries[i].Time != want {
				t.Errorf("%s: message %d: want %d, got %d", s.Format, i, want, entries[i].Time)
			}
		}
		if got := entries[1].Step.Time; got != start+2000 {
			t.Errorf("%s: step: want %d, got %d", s.Format, start+2000, got)
		}
	}
}

// TestReadLargeDocument: a document may be larger than a line of a session may be.
func TestReadLargeDocument(t *testing.T) {
	const size = 65 << 20
	s := readText(t, `{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":"`+strings.Repeat("dig ", size/4)+`"}]}`)
	if got := texts(s); len(got) != 2 || len(got[1]) != size {
		t.Errorf("want two messages, one of %d bytes, got %d", size, len(got))
	}
}
