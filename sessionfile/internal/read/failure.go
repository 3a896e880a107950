package read

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// mostFailures bounds the failures of one segment: a client may try again for ever.
const mostFailures = 10_000

// longestWords is how much of what an error says is kept, in bytes.
const longestWords = 2000

// An Outcome is what a client wrote of a call that came to nothing.
type Outcome struct {
	Line    int
	Time    int64
	Status  int    // HTTP status, where it stands apart from the words
	Code    string // the provider's or the client's word for it, likewise
	Words   string
	Stopped bool // by a person
	Limit   bool // of the client's own came before it
}

// Fail notes a call that came to nothing in the segment that is emitted next. What says
// nothing is none.
func (r *Reading) Fail(o Outcome) {
	if len(r.failures) >= mostFailures || o.Words == "" && o.Code == "" && o.Status == 0 && !o.Stopped && !o.Limit {
		return
	}
	f := sessionfile.Failure{Line: o.Line, Time: o.Time, Stopped: o.Stopped, Limit: o.Limit}
	if o.Stopped || o.Limit {
		f.Error.Message = cut(o.Words)
	} else {
		f.Error = errorOf(o)
	}
	r.failures = append(r.failures, f)
}

// errorOf reads the words of a client about an error: a body or a status may stand in them.
func errorOf(o Outcome) wire.Error {
	words := cut(o.Words)
	e, ok := wire.ErrorOf(errors.New(words))
	if !ok || e.Class == wire.Unclassified || o.Status > 0 && e.Status == 0 {
		body := []byte(words)
		if object := objectIn(words); object != nil && wire.TellsError(object) {
			body = object
		} else if o.Code != "" {
			body, _ = json.Marshal(map[string]any{"error": map[string]string{"message": words, "code": o.Code, "type": o.Code}})
		}
		e = wire.DecodeError(o.Status, body)
	}
	out := *e
	out.Message, out.Body = strings.Join(strings.Fields(cmp.Or(out.Message, words, o.Code)), " "), nil
	if out.Class == wire.ServerFault && out.Status == 0 && o.Code == "" {
		out.Class = wire.Unclassified // for want of anything that says so
	}
	return out
}

// objectIn returns the JSON object that words end with; nil if they do not.
func objectIn(words string) []byte {
	from, to := strings.IndexByte(words, '{'), strings.LastIndexByte(words, '}')
	if from < 0 || to < from || !json.Valid([]byte(words[from:to+1])) {
		return nil
	}
	return []byte(words[from : to+1])
}

// cut returns the beginning of a long text, in memory of its own.
func cut(words string) string {
	if len(words) <= longestWords {
		return strings.Clone(words)
	}
	return strings.ToValidUTF8(words[:longestWords], "") + "…"
}

// failed gives a segment the failures noted since the one before, and says that it ends
// with a request without a reply if that was refused for its length.
func (r *Reading) failed(s *sessionfile.Segment) {
	all := r.failures
	r.failures = nil
	for i := range all {
		all[i].After = stepsBefore(s.Entries, all[i])
	}
	slices.SortStableFunc(all, func(a, b sessionfile.Failure) int { return cmp.Compare(a.After, b.After) })
	s.Failures = all
	last, ok := s.Last()
	if !ok || !last.TooLong() || len(s.Entries) == 0 {
		return
	}
	s.Final = true
	if s.Window == 0 {
		s.Window = last.Error.Window
	}
}

// stepsBefore counts the Steps that stand before a failure: by its line, else, as in a
// document of one line, by its time.
func stepsBefore(entries []sessionfile.Entry, f sessionfile.Failure) int {
	n := 0
	for _, e := range entries {
		switch {
		case e.Step == nil:
		case f.Line > 0 && e.Line > f.Line:
		case (f.Line == 0 || f.Line == e.Line) && f.Time > 0 && cmp.Or(e.Step.Time, e.Time) > f.Time:
		default:
			n++
		}
	}
	return n
}
