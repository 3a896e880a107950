package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/plimsoll-dev/plimsoll/agent/loop"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// A loopScreen shows what the agents of a loop say, line by line, without what would move or
// colour the terminal, and below it, on a terminal, a line that says where the loop is.
type loopScreen struct {
	mu     sync.Mutex
	s      streams
	status bool   // there is a terminal for it
	drawn  bool   // it is on the terminal
	line   []byte // that has not ended yet
	begun  loop.Notice
	since  time.Time
	last   string // of the last iteration
}

// maxScreenLine is how much of a line is held back, in bytes; a longer one is shown in pieces.
const maxScreenLine = 64 << 10

func newLoopScreen(s streams) *loopScreen {
	return &loopScreen{s: s, status: console.IsTerminal(s.err)}
}

// Write implements io.Writer.
func (l *loopScreen) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = append(l.line, p...)
	for {
		end := bytes.IndexAny(l.line, "\n\r")
		if end < 0 && len(l.line) < maxScreenLine {
			return len(p), nil
		}
		if end < 0 {
			end = len(l.line)
		}
		l.show(l.s.out, string(l.line[:end]))
		l.line = append(l.line[:0], l.line[min(end+1, len(l.line)):]...)
	}
}

// show writes a line above the status line.
func (l *loopScreen) show(w io.Writer, text string) {
	if l.drawn {
		_, _ = io.WriteString(l.s.err, "\r\x1b[K")
		l.drawn = false
	}
	_, _ = fmt.Fprintln(w, console.Safe(strings.ReplaceAll(ansi.Strip(text), "\t", "    "))) // nobody to tell
}

// started says which loop it is.
func (l *loopScreen) started(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show(l.s.err, "loop "+id)
}

// note tells of something that a person may want to know.
func (l *loopScreen) note(text string) { l.notify(loop.Notice{Kind: loop.NoticeNote, Text: text}) }

// notify tells what happens.
func (l *loopScreen) notify(n loop.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.show(l.s.out, string(l.line))
		l.line = l.line[:0]
	}
	switch n.Kind {
	case loop.NoticeBegin:
		l.begun, l.since = n, time.Now()
		l.show(l.s.err, fmt.Sprintf("iteration %d: %s, prompt of %s tokens", n.Iteration, n.CLI, edit.Thousands(n.Prompt)))
	case loop.NoticeNote:
		l.show(l.s.err, n.Text)
	default:
		l.last = n.Text
		l.show(l.s.err, n.Text)
	}
}

// follow draws the status line each second, until what it returns is called.
func (l *loopScreen) follow() (stop func()) {
	if !l.status {
		return func() {}
	}
	tick, done := time.NewTicker(time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				l.draw()
			}
		}
	}()
	return func() {
		tick.Stop()
		close(done)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.drawn {
			_, _ = io.WriteString(l.s.err, "\r\x1b[K")
		}
	}
}

func (l *loopScreen) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun.Iteration == 0 {
		return
	}
	text := fmt.Sprintf("iteration %d · %s · %s", l.begun.Iteration, l.begun.CLI, time.Since(l.since).Round(time.Second))
	if l.last != "" {
		text += " · " + l.last
	}
	_, _ = io.WriteString(l.s.err, "\r\x1b[K"+ansi.Truncate(console.Safe(text), 100, "…"))
	l.drawn = true
}
