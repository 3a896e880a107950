package formats

import (
	"fmt"
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

// TestReadDamagedTimes: a time that is none is told once for the file, at its line, and a
// message without one is no damage.
func TestReadDamagedTimes(t *testing.T) {
	for name, text := range map[string]string{
		"claude-code": `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"","message":{"role":"user","content":"Dig."}}
{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","timestamp":"2026-13-01T09:00:00Z","message":{"role":"user","content":"Deeper."}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","timestamp":"soon","message":{"role":"user","content":"Stop."}}`,
		"codex": `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}}
{"timestamp":"2026-13-01T09:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Deeper."}]}}
{"timestamp":-4,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Stop."}]}}`,
		"copilot-cli": `{"type":"user.message","data":{"content":"Dig."},"id":"e1","timestamp":null,"parentId":null}
{"type":"user.message","data":{"content":"Deeper."},"id":"e2","timestamp":"2026-13-01T09:00:00Z","parentId":"e1"}
{"type":"user.message","data":{"content":"Stop."},"id":"e3","timestamp":[],"parentId":"e2"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := readText(t, text)
			wantProblem(t, s, 2, `"2026-13-01T09:00:00Z" is no time`)
			if got := texts(s); len(got) != 3 {
				t.Errorf("want all three messages, got %q", got)
			}
		})
	}
}

// TestReadTimesOfACopy: what a fork copied has no time of its own where its lines have that
// of the copying, and the time that it had where they say so.
func TestReadTimesOfACopy(t *testing.T) {
	const fork = `{"timestamp":"2026-11-01T09:00:00.000Z","type":"session_meta","payload":{"id":"c-1","timestamp":"2026-11-01T09:00:00.000Z","forked_from_id":"c-0"}}
{"timestamp":"%[1]s","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dig."}]}}
{"timestamp":"%[1]s","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Dug."}]}}
{"timestamp":"2026-11-01T09:10:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Deeper."}]}}
{"timestamp":"2026-11-01T09:10:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Deep."}]}}
`
	const start, own = 1793523600000, 1793523600000 + 605_000 // 2026-11-01T09:00:00Z, and of the fork's own reply
	for written, want := range map[string]int64{
		"2026-11-01T09:00:00.002Z": 0,
		"2026-11-01T08:00:00.000Z": start - 3600_000,
	} {
		s := readText(t, fmt.Sprintf(fork, written))
		entries := s.Segments[0].Entries
		if len(entries) != 4 || entries[1].Step.Copied != "c-0" || entries[3].Step.Copied != "" {
			t.Fatalf("want one copied call and one of its own, got\n%s", show(s))
		}
		if e := entries[1]; entries[0].Time != want || e.Time != want || e.Step.Time != want {
			t.Errorf("copied with the time %s: want the time %d, got %d, %d and %d", written, want, entries[0].Time, e.Time, e.Step.Time)
		}
		if e := entries[3]; e.Time != own || e.Step.Time != own {
			t.Errorf("the fork's own call: want the time %d, got %d and %d", own, e.Time, e.Step.Time)
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
