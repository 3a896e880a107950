package sessionfile

import (
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// maxProblems bounds the list of problems: a file of garbage has one per line.
const maxProblems = 10_000

// maxRepeated bounds how many messages segments may carry over from earlier ones.
// A real session carries over some hundreds, a few times; a hostile file could make
// it the square of its lines.
const maxRepeated = 1 << 19

// tooMuch is why a segment whose beginning is left out cannot be run.
const tooMuch = "too much is carried over from the segments before, so its beginning is left out"

// maxTokens is the largest count that is believed in a usage report.
const maxTokens = 1 << 40

// reading is the state of reading one file.
type reading struct {
	session *Session
	seen    map[Problem]bool // what was reported, since carried-over entries are checked again
	names   map[string]string

	repeated int // messages that segments carry over
}

func newReading(name string, format Format) *reading {
	return &reading{
		session: &Session{Path: name, Format: format},
		seen:    map[Problem]bool{},
		names:   map[string]string{},
	}
}

// problem reports something at a line, once.
func (r *reading) problem(line int, format string, args ...any) {
	p := Problem{File: r.session.Path, Line: line, What: fmt.Sprintf(format, args...)}
	if r.seen[p] || len(r.seen) > maxProblems {
		return
	}
	r.seen[p] = true
	if len(r.seen) > maxProblems {
		p = Problem{File: r.session.Path, What: fmt.Sprintf("more than %d problems, the rest is not listed", maxProblems)}
	}
	r.session.Problems = append(r.session.Problems, p)
}

// repeat reports whether n more messages may be carried over at a line.
func (r *reading) repeat(line, n int) bool {
	if r.repeated > maxRepeated-n {
		r.problem(line, "more than %d messages are carried over from segment to segment, the rest is left out", maxRepeated)
		return false
	}
	r.repeated += n
	return true
}

// name returns the text of a JSON string that recurs on many lines, such as a
// model's name, without a copy for each of them.
func (r *reading) name(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if s, ok := r.names[string(value)]; ok {
		return s
	}
	s := str(value)
	if len(r.names) < 1000 {
		r.names[string(value)] = s
	}
	return s
}

// tokens returns a count of a usage report, 0 if it cannot be one.
func (r *reading) tokens(line int, report gjson.Result, path string) int {
	v := report.Get(path)
	if !v.Exists() || v.Type == gjson.Null {
		return 0
	}
	n := v.Int()
	if v.Type != gjson.Number || n < 0 || n > maxTokens {
		r.problem(line, "usage: %s is %.40s, want a number of tokens; taken as 0", path, v.Raw)
		return 0
	}
	return int(n)
}

// minFinalOutput is the smallest output that is believed to be final: while a
// reply arrives, Claude Code writes outputs of 1 to 10 tokens
// (research/estimates.md section 2).
const minFinalOutput = 12

// charsPerToken is the estimate behind outputIsFinal. The research used o200k
// tokens; four characters a token is close enough to tell a placeholder, and it
// needs no vocabulary.
const charsPerToken = 4

// outputIsFinal reports whether output can be the size of a reply with these
// parts: at least 12 tokens and three quarters of what can be seen of it.
func outputIsFinal(output int, parts []llm.Part) bool {
	chars := 0
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			chars += utf8.RuneCountInString(p.Text)
		case llm.Thinking:
			chars += utf8.RuneCountInString(p.Text)
		case llm.ToolCall:
			chars += utf8.RuneCountInString(p.Name) + utf8.RuneCountInString(p.Args)
		}
	}
	visible := chars / charsPerToken
	return output >= minFinalOutput && output*4 >= visible*3
}
