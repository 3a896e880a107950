package loop

import (
	"bytes"
	"encoding/json"
	"strings"
)

// An Answer says where in an agent's JSON output its final answer is, so that what it quotes
// in between cannot end the loop. Paths are names with dots between them.
type Answer struct {
	Lines bool   // the output is a JSON value a line; else it is one value
	Where string // PATH=VALUE of the lines that have text of the agent's; empty: all that have Text
	Text  string // path of the text; empty: the output is no JSON
}

// structured reports whether there is such a form.
func (a Answer) structured() bool { return a.Text != "" }

// maxLine is the longest line of JSON that is looked at, in bytes; a longer one is a tool's
// output.
const maxLine = 4 << 20

// of returns the agent's text in a JSON value.
func (a Answer) of(value []byte) (string, bool) {
	var v any
	if len(value) == 0 || value[0] != '{' || json.Unmarshal(value, &v) != nil {
		return "", false
	}
	if path, want, ok := strings.Cut(a.Where, "="); ok {
		if got, ok := at(v, path); !ok || got != want {
			return "", false
		}
	}
	return at(v, a.Text)
}

// at returns the text at a path.
func at(v any, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return "", false
		}
		v = object[name]
	}
	text, ok := v.(string)
	return text, ok
}

// A listener reads an agent's JSON output as it comes: it keeps the last text, and hands on
// what a person wants to see of it.
type listener struct {
	form Answer
	show func(text string)
	line []byte
	long bool // the line is too long and is passed over
	last string
	any  bool
}

// Write implements io.Writer.
func (l *listener) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece, more, ended := bytes.Cut(rest, []byte("\n"))
		if l.long = l.long || len(l.line)+len(piece) > maxLine; l.long {
			l.line = l.line[:0]
		} else {
			l.line = append(l.line, piece...)
		}
		if ended && !l.form.Lines {
			l.line = append(l.line, '\n') // of a value in several lines
		} else if ended {
			l.take()
		}
		rest = more
	}
	return len(p), nil
}

// take looks at the line that is complete.
func (l *listener) take() {
	line := bytes.TrimSpace(l.line)
	if start := bytes.IndexByte(line, '{'); !l.form.Lines && start > 0 {
		line = line[start:] // behind warnings of the program
	}
	if text, ok := l.form.of(line); ok {
		l.last, l.any = text, true
		l.show(text)
	}
	l.line, l.long = l.line[:0], false
}

// end looks at what came last, and returns the final answer.
func (l *listener) end() (answer string, ok bool) {
	l.take()
	return l.last, l.any
}
