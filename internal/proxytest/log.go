package proxytest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// A Log is what a server has logged as lines of JSON. It may be used by several goroutines.
type Log struct {
	mu   sync.Mutex
	more *sync.Cond
	text bytes.Buffer
}

// NewLog returns an empty log.
func NewLog() *Log {
	l := &Log{}
	l.more = sync.NewCond(&l.mu)
	return l
}

// Write implements [io.Writer]; it has no errors.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more.Broadcast()
	return l.text.Write(p)
}

// String returns all that was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Requests returns the lines of requests, of which it waits for n: one is written when its
// answer has left.
func (l *Log) Requests(t testing.TB, n int) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for strings.Count(l.text.String(), `"msg":"request"`) < n {
		l.more.Wait()
	}
	for text := range strings.SplitSeq(strings.TrimSpace(l.text.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("log: %v in %q", err, text)
		}
		if line["msg"] == "request" {
			lines = append(lines, line)
		}
	}
	return lines
}
