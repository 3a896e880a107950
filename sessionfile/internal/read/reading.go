package read

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// MaxProblems bounds the list of problems: a file of garbage has one per line.
const MaxProblems = 10_000

// MaxRepeated bounds how many messages segments may carry over from earlier ones.
// A real session carries over some hundreds, a few times; a hostile file could make
// it the square of its lines.
const MaxRepeated = 1 << 19

// TooMuch is why a segment whose beginning is left out cannot be run.
const TooMuch = "too much is carried over from the segments before, so its beginning is left out"

// maxTokens is the largest count that is believed in a usage report.
const maxTokens = 1 << 40

// A Reading is the state of reading one file once.
type Reading struct {
	// Session is the header, which the reader fills. Path, Format and Problems are
	// filled already; Segments stays empty.
	Session *sessionfile.Session

	// Again is set when the file was read before, for its header: problems are known.
	Again bool

	sink    func(sessionfile.Segment) bool
	stopped bool
	emitted int
	seen    map[sessionfile.Problem]bool // what was reported, since carried-over entries are checked again
	names   map[string]string

	failures []sessionfile.Failure // of the segment that is emitted next

	repeated int  // messages that segments carry over
	untimed  bool // a value that is no time was found
}

// NewReading starts to read a file of a format. Segments go to sink, which reports
// whether it wants more.
func NewReading(name string, format sessionfile.Format, sink func(sessionfile.Segment) bool) *Reading {
	return &Reading{
		Session: &sessionfile.Session{Path: name, Format: format},
		sink:    sink,
		seen:    map[sessionfile.Problem]bool{},
		names:   map[string]string{},
	}
}

// Emit hands over the next segment, once its entries are paired ([Reading.Pair]). A
// segment that is empty, or is then, is left out, unless it is Final or began empty
// and says why it cannot be run. The reader must not touch what it handed over.
func (r *Reading) Emit(s sessionfile.Segment) {
	if r.stopped {
		return
	}
	stated := s.Final || len(s.Entries) == 0 && s.NotRun != ""
	s.Entries = r.Pair(s.Entries)
	if len(s.Entries) == 0 && !stated {
		return
	}
	r.failed(&s)
	r.emitted++
	r.stopped = !r.sink(s)
}

// Emitted returns the number of segments so far.
func (r *Reading) Emitted() int { return r.emitted }

// Stopped reports whether no more segments are wanted. A reader with much to do
// looks at it and returns.
func (r *Reading) Stopped() bool { return r.stopped }

// NotFormat returns the error of a Reader's Read for a file that its hook took for
// its own, and that it cannot read at all.
func (r *Reading) NotFormat(err error) error {
	return &sessionfile.FormatError{File: r.Session.Path, Seen: fmt.Sprintf("what looks like %s but: %v", r.Session.Format, err)}
}

// Problem reports something at a line, from 1, once; 0 is the file as a whole.
func (r *Reading) Problem(line int, format string, args ...any) {
	if r.Again {
		return
	}
	p := sessionfile.Problem{File: r.Session.Path, Line: line, What: fmt.Sprintf(format, args...)}
	if r.seen[p] || len(r.seen) > MaxProblems {
		return
	}
	r.seen[p] = true
	if len(r.seen) > MaxProblems {
		p = sessionfile.Problem{File: r.Session.Path, What: fmt.Sprintf("more than %d problems, the rest is not listed", MaxProblems)}
	}
	r.Session.Problems = append(r.Session.Problems, p)
}

// Repeat reports whether n more messages may be carried over at a line.
func (r *Reading) Repeat(line, n int) bool {
	if r.repeated > MaxRepeated-n {
		r.Problem(line, "more than %d messages are carried over from segment to segment, the rest is left out", MaxRepeated)
		return false
	}
	r.repeated += n
	return true
}

// Name returns the text of a JSON string that recurs on many lines, such as a
// model's name, without a copy for each of them.
func (r *Reading) Name(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if s, ok := r.names[string(value)]; ok {
		return s
	}
	s := Str(value)
	if len(r.names) < 1000 {
		r.names[string(value)] = s
	}
	return s
}

// Tokens returns the count at a path of a usage report, 0 if it cannot be one.
func (r *Reading) Tokens(line int, report gjson.Result, path string) int {
	v := report.Get(path)
	if !v.Exists() {
		return 0
	}
	return r.count(line, path, v)
}

// Count returns the count that a value of a usage report is, which a problem calls
// what; 0 if it is nil, null, or cannot be a count.
func (r *Reading) Count(line int, what string, value []byte) int {
	const safe = 12 // digits that are below maxTokens
	n := 0
	for i, c := range value {
		if !isDigit(c) || i == safe {
			return r.count(line, what, gjson.ParseBytes(value))
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func (r *Reading) count(line int, what string, v gjson.Result) int {
	if v.Type == gjson.Null {
		return 0
	}
	n := v.Int()
	if v.Type != gjson.Number || n < 0 || n > maxTokens {
		r.Problem(line, "usage: %s is %.40s, want a number of tokens; taken as 0", what, v.Raw)
		return 0
	}
	return int(n)
}

// minFinalOutput is the smallest output that is believed to be final: while a
// reply arrives, Claude Code writes outputs of 1 to 10 tokens.
const minFinalOutput = 12

// charsPerToken is the estimate behind OutputIsFinal. Four characters a token is
// close enough to tell a placeholder, and needs no vocabulary.
const charsPerToken = 4

// OutputIsFinal reports whether output can be the size of a reply with these
// parts: at least 12 tokens and three quarters of what can be seen of it.
func OutputIsFinal(output int, parts []llm.Part) bool {
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

// Time returns the Unix milliseconds that a JSON value says: an RFC 3339 text, or a
// number of seconds or milliseconds (what is 100,000,000,000 or more is
// milliseconds: as seconds it is beyond the year 5000). It returns 0 for anything else.
func Time(value []byte) int64 {
	if len(value) == 0 {
		return 0
	}
	if value[0] == '"' {
		t, err := time.Parse(time.RFC3339, Str(value))
		if err != nil || t.Unix() <= 0 {
			return 0
		}
		return t.UnixMilli()
	}
	const milliseconds, last = 100_000_000_000, 1 << 52
	n, err := strconv.ParseFloat(string(value), 64)
	switch {
	case err != nil || n <= 0 || n >= last:
		return 0
	case n < milliseconds:
		n *= 1000
	}
	return int64(n)
}

// Time is [Time] of what stands on a line. The first value of a file that says something and
// is no time is a problem: what depends on it is not known.
func (r *Reading) Time(line int, value []byte) int64 {
	at := Time(value)
	if at == 0 && !r.untimed && len(value) > 0 && string(value) != "null" && string(value) != `""` && string(value) != "0" {
		r.untimed = true
		r.Problem(line, "%.60s is no time, the first such one in the file: what has none is not dated", value)
	}
	return at
}

// Stop ends the lines of [Input.Each].
func (r *Reading) Stop() { r.stopped = true }
