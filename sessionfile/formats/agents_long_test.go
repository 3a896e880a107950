package formats

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longAgents write one Round of a session, and a compaction, as these clients do. n is the
// number of the Round; a compaction ends in what Round n+1 goes on from.
var longAgents = map[string]struct{ head, round, compaction string }{
	"pi": {
		head: `{"type":"session","version":3,"id":"long","timestamp":"","cwd":"/"}` + "\n" +
			`{"type":"message","id":"r0","parentId":null,"timestamp":"","message":{"role":"user","content":"Dig.","timestamp":1}}`,
		round: `{"type":"message","id":"c%[1]d","parentId":"r%[2]d","timestamp":"","message":{"role":"assistant","content":[{"type":"toolCall","id":"t%[1]d","name":"read","arguments":{}}],"api":"x","provider":"p","model":"m","usage":{"input":9000,"output":40},"stopReason":"toolUse","timestamp":1}}` + "\n" +
			`{"type":"message","id":"r%[1]d","parentId":"c%[1]d","timestamp":"","message":{"role":"toolResult","toolCallId":"t%[1]d","toolName":"read","content":[{"type":"text","text":"%[3]s"}],"isError":false,"timestamp":1}}`,
		compaction: `{"type":"compaction","id":"r%[1]d","parentId":"r%[2]d","timestamp":"","summary":"So far: a well.","firstKeptEntryId":"c%[2]d"}`,
	},
	"copilot-cli": {
		head: `{"type":"session.start","data":{"sessionId":"long"},"id":"s","timestamp":"","parentId":null}` + "\n" +
			`{"type":"user.message","data":{"content":"Dig."},"id":"r0","timestamp":"","parentId":"s"}`,
		round: `{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t%[1]d","name":"view","arguments":{}}],"outputTokens":40},"id":"c%[1]d","timestamp":"","parentId":"r%[2]d"}` + "\n" +
			`{"type":"tool.execution_complete","data":{"toolCallId":"t%[1]d","success":true,"result":{"content":"%[3]s","detailedContent":"%[3]s"}},"id":"r%[1]d","timestamp":"","parentId":"c%[1]d"}`,
		compaction: `{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"So far: a well."},"id":"r%[1]d","timestamp":"","parentId":"r%[2]d"}`,
	},
	"gemini-cli": {
		head: `{"sessionId":"long","projectHash":"h","startTime":"t"}` + "\n" +
			`{"id":"r0","timestamp":"","type":"user","content":[{"text":"Dig."}]}`,
		round: `{"id":"c%[1]d","timestamp":"","type":"gemini","content":"","model":"m","tokens":{"input":9000,"output":40},"toolCalls":[{"id":"t%[1]d","name":"read","args":{},"result":[{"functionResponse":{"id":"t%[1]d","name":"read","response":{"output":"%[3]s"}}}]}]}` + "\n" +
			`{"$set":{"lastUpdated":"t"}}`,
		compaction: `{"$set":{"messages":[{"id":"r%[1]d","timestamp":"","type":"user","content":[{"text":"<state_snapshot>So far: a well.</state_snapshot>"}]}]}}`,
	},
	"qwen-code": {
		head: `{"uuid":"r0","parentUuid":null,"sessionId":"long","timestamp":"","type":"user","message":{"role":"user","parts":[{"text":"Dig."}]}}`,
		round: `{"uuid":"c%[1]d","parentUuid":"r%[2]d","sessionId":"long","timestamp":"","type":"assistant","model":"m","message":{"role":"model","parts":[{"functionCall":{"id":"t%[1]d","name":"read","args":{}}}]},"usageMetadata":{"promptTokenCount":9000,"candidatesTokenCount":40}}` + "\n" +
			`{"uuid":"r%[1]d","parentUuid":"c%[1]d","sessionId":"long","timestamp":"","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"t%[1]d","name":"read","response":{"output":"%[3]s"}}}]}}`,
		compaction: `{"uuid":"r%[1]d","parentUuid":"r%[2]d","sessionId":"long","timestamp":"","type":"system","subtype":"chat_compression","systemPayload":{"compressedHistory":[{"role":"user","parts":[{"text":"So far: a well."}]}]}}`,
	},
}

// writeLongAgent writes a session of about size bytes, with a compaction every hundred
// Rounds, and returns its path and the number of segments.
func writeLongAgent(t testing.TB, client string, size int) (path string, segments int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "long.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	lines, output := longAgents[client], strings.Repeat("func dig(depth int) error ", 150)
	written, _ := fmt.Fprintln(w, lines.head) // faults show when it is flushed
	for n := 1; written < size; n++ {
		line := lines.round
		if n%100 == 0 {
			line = lines.compaction
			segments++
		}
		line = strings.NewReplacer("%[1]d", fmt.Sprint(n), "%[2]d", fmt.Sprint(n-1), "%[3]s", output).Replace(line)
		k, _ := fmt.Fprintln(w, line)
		written += k
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, segments
}

// TestAgentStreamMemory: of a session as JSON lines no more than a segment is held.
func TestAgentStreamMemory(t *testing.T) {
	for client := range longAgents {
		t.Run(client, func(t *testing.T) {
			short, _ := writeLongAgent(t, client, 2<<20)
			long, segments := writeLongAgent(t, client, 16<<20)
			small, _ := peakHeap(t, short)
			large, got := peakHeap(t, long)
			if got < segments || segments < 10 {
				t.Errorf("want at least %d segments, got %d", max(10, segments), got)
			}
			if large > 2*small+2<<20 {
				t.Errorf("16 MiB took %d bytes of live heap, 2 MiB took %d", large, small)
			}
			checkStream(t, short)
		})
	}
}

// TestRecordedStreamEqualsOpen: the sessions that clients wrote are the same as a stream.
func TestRecordedStreamEqualsOpen(t *testing.T) {
	paths, err := filepath.Glob("testdata/recorded/*.json*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, path := range paths {
		checkStream(t, path)
	}
}
