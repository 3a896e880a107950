package formats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/llm"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// drawLine draws a Claude Code line whose text is its number. Ids come from a small
// pool, so that parents are missing, later in the file, in circles, used twice.
func drawLine(t *rapid.T, no int) string {
	id := func(label string) string { return fmt.Sprintf("u%d", rapid.IntRange(0, 12).Draw(t, label)) }
	uuid, parent := id("uuid"), fmt.Sprintf("%q", id("parent"))
	if rapid.IntRange(0, 5).Draw(t, "root") == 0 {
		parent = "null"
	}
	call := fmt.Sprintf("toolu_%d", rapid.IntRange(0, 4).Draw(t, "call"))
	head := fmt.Sprintf(`"uuid":%q,"parentUuid":%s,"logicalParentUuid":%q,"sessionId":%q,"isSidechain":%v`,
		uuid, parent, id("logical"), rapid.SampledFrom([]string{"s", "s", "r"}).Draw(t, "session"), rapid.IntRange(0, 9).Draw(t, "side") == 0)
	text := fmt.Sprintf(`{"type":"text","text":"line %d."}`, no)
	switch rapid.SampledFrom([]string{"user", "result", "reply", "call", "progress", "compact", "micro", "summary"}).Draw(t, "type") {
	case "user":
		return fmt.Sprintf(`{"type":"user",%s,"message":{"content":[%s]}}`, head, text)
	case "result":
		return fmt.Sprintf(`{"type":"user",%s,"message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":[%s]}]}}`, head, call, text)
	case "reply":
		return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"msg_%d","content":[%s]}}`, head, rapid.IntRange(0, 4).Draw(t, "msg"), text)
	case "call":
		return fmt.Sprintf(`{"type":"assistant",%s,"message":{"id":"msg_%d","content":[%s,{"type":"tool_use","id":%q,"name":"f","input":{}}]}}`,
			head, rapid.IntRange(0, 4).Draw(t, "msg"), text, call)
	case "compact":
		return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary",%s,"compactMetadata":{"preservedMessages":{"anchorUuid":%q,"uuids":[%q,%q]}}}`,
			head, id("anchor"), id("kept"), id("kept too"))
	case "micro":
		return fmt.Sprintf(`{"type":"system","subtype":"microcompact_boundary",%s,"microcompactMetadata":{"compactedToolIds":[%q]}}`, head, call)
	case "summary":
		return fmt.Sprintf(`{"type":"user","isCompactSummary":true,%s,"message":{"content":[%s]}}`, head, text)
	}
	return fmt.Sprintf(`{"type":"progress",%s}`, head)
}

// TestTreeLosesNothing reads trees of every shape. Calls and results must fit
// together in every segment, and each line of the conversation must be in a
// segment, on a branch that is listed, or named by a problem.
func TestTreeLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "lines")
		lines := make([]string, n)
		for i := range lines {
			lines[i] = drawLine(rt, i+1)
		}
		text := []byte(strings.Join(lines, "\n"))
		s, err := Read("file", bytes.NewReader(text))
		if err != nil {
			rt.Fatal(err)
		}
		checkSession(t, s)
		checkAgain(t, text, s)
		if t.Failed() {
			rt.Fatalf("the session does not hold together:\n%s", strings.Join(lines, "\n"))
		}
		there := map[string]bool{}
		for _, segment := range s.Segments {
			for _, e := range segment.Entries {
				collect(there, e.Message.Parts)
			}
		}
		for i, l := range lines {
			if !strings.Contains(l, `"message"`) || there[fmt.Sprintf("line %d.", i+1)] || accounted(s, i+1) {
				continue
			}
			rt.Fatalf("line %d is nowhere:\n%s\n%s", i+1, strings.Join(lines, "\n"), show(s))
		}
	})
}

func collect(there map[string]bool, parts []llm.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			there[p.Text] = true
		case llm.ToolResult:
			collect(there, p.Content)
		}
	}
}

// accounted reports whether a line that is in no segment is listed. The cleared
// results of a microcompaction are in the segment before it.
func accounted(s *sessionfile.Session, line int) bool {
	for _, b := range s.Abandoned {
		if b.First <= line && line <= b.Last {
			return true
		}
	}
	for _, p := range s.Problems {
		if p.Line == line {
			return true
		}
	}
	return false
}

// TestTreeIsLinear reads long chains that break at every line, which must not
// take quadratic time: the test would not end.
func TestTreeIsLinear(t *testing.T) {
	const lines = 100_000
	shapes := map[string]func(i int) string{
		"missing parents": func(i int) string { return said(fmt.Sprintf("u%d", i), `"lost"`, "x") },
		"circles":         func(i int) string { return said(fmt.Sprintf("u%d", i), fmt.Sprintf(`"u%d"`, i), "x") },
		"later parents":   func(i int) string { return said(fmt.Sprintf("u%d", i), fmt.Sprintf(`"u%d"`, i^1), "x") },
		"one parent":      func(i int) string { return said(fmt.Sprintf("u%d", i), `"u0"`, "x") },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range lines {
				b.WriteString(shape(i) + "\n")
			}
			s := readText(t, b.String())
			messages := 0
			for _, a := range s.Abandoned {
				messages += a.Messages
			}
			for _, segment := range s.Segments {
				messages += len(segment.Entries)
			}
			if messages != lines {
				t.Errorf("want %d messages in segments and branches, got %d", lines, messages)
			}
		})
	}
}

// TestCarriedOverIsBounded reads files in which every other line repeats all that
// came before.
func TestCarriedOverIsBounded(t *testing.T) {
	const lines = 3000
	clear := `{"type":"system","subtype":"microcompact_boundary","uuid":"%[1]s","parentUuid":"%[2]s","microcompactMetadata":{}}`
	rollback := `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`
	user := `{"type":"response_item","payload":{"type":"message","role":"user","content":"x"}}`
	shapes := map[string]func(i int) string{
		"microcompactions": func(i int) string {
			if i%2 == 0 {
				return said(fmt.Sprintf("u%d", i), fmt.Sprintf(`"u%d"`, i-1), "x")
			}
			return fmt.Sprintf(clear, fmt.Sprintf("u%d", i), fmt.Sprintf("u%d", i-1))
		},
		"rollbacks": func(i int) string { return user + "\n" + user + "\n" + rollback },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range lines {
				b.WriteString(shape(i) + "\n")
			}
			s, err := Read("file", strings.NewReader(b.String()))
			if err != nil {
				t.Fatal(err)
			}
			entries, whole := 0, true
			for _, segment := range s.Segments {
				entries += len(segment.Entries)
				whole = whole && segment.NotRun == ""
			}
			if entries > read.MaxRepeated+3*lines || whole || len(s.Problems) == 0 {
				t.Errorf("%d entries from %d lines, problems %v", entries, lines, s.Problems)
			}
		})
	}
}
