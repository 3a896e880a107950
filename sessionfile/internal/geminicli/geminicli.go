// Package geminicli reads the sessions of Gemini CLI in all three forms: a chat as one
// JSON object, a chat as JSON lines with patches, and the stream of events that it writes
// to standard output. The package comment of sessionfile says what is made of them. It is
// for sessionfile/formats only.
package geminicli

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// headBytes is how much of a file is looked at to tell lines from one object.
const headBytes = 64 << 10

// Reader returns the reader of Gemini CLI's sessions.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatGeminiCLI},
		Line:     detect,
		Document: func(d *read.Document) sessionfile.Format { return detect(d.Fields()) },
		Read:     readFile,
	}
}

// detect tells the head of a chat, a message of one, or an event.
func detect(f read.Fields) sessionfile.Format {
	switch {
	case f.Has("sessionId", "projectHash", "startTime"), isEvent(f):
		return sessionfile.FormatGeminiCLI
	case f.Str("type") == "gemini" && f.Has("id", "timestamp", "content"):
		return sessionfile.FormatGeminiCLI
	}
	return ""
}

// isEvent reports whether a line is an event that only this client's stream has.
func isEvent(f read.Fields) bool {
	switch f.Str("type") {
	case "init":
		return f.Has("timestamp", "session_id", "model")
	case "tool_use":
		return f.Has("timestamp", "tool_name", "tool_id", "parameters")
	}
	return false
}

// readFile reads a session.
func readFile(r *read.Reading, in *read.Input) error {
	r.Session.Client, r.Session.Dialect = "gemini-cli", gemini.Dialect
	head, err := in.Head(headBytes)
	if err != nil {
		return err
	}
	c := newChat(r)
	if !isLines(head) {
		if d, err := in.Document(); err == nil {
			c.head(d.Line(d.Bytes), d.Fields(), d.Line)
			c.finish()
			return nil
		}
	}
	s := newStream(r)
	in.Each(r, func(l read.Line) {
		b, ok := r.Object(l)
		if !ok {
			return
		}
		if f := read.FieldsOf(b); !s.event(l.No, f) {
			c.line(l.No, f)
		}
	})
	s.finish()
	c.finish()
	return nil
}

// isLines reports whether the first line is an object of its own, with more behind it.
func isLines(head []byte) bool {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '{' {
			continue // a warning of the client before its events
		}
		if len(line) > 0 {
			return read.IsJSON(line)
		}
	}
	return false
}
