package claudecode

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A failure is what a line says beside the words of an error that stands in a reply's place.
type failure struct{ kind, details, status []byte }

// apiError begins the words of an error that the provider answered; its status follows.
const apiError = "API Error: "

// interrupted begins what the client says in a person's place who stopped a call.
const interrupted = "[Request interrupted by user"

// stopped notes that a person stopped a call, if a message says so.
func stopped(r *read.Reading, no int, time int64, m llm.Message) {
	if words := m.Text(); strings.HasPrefix(words, interrupted) {
		r.Fail(read.Outcome{Line: no, Time: time, Words: words, Stopped: true})
	}
}

// failed notes a reply that is an error, of which o has the place and the words.
func failed(r *read.Reading, o read.Outcome, f failure) {
	if n, err := strconv.Atoi(string(f.status)); err == nil {
		o.Status = n
	}
	if _, rest, ok := strings.Cut(o.Words, apiError); ok {
		if n, err := strconv.Atoi(rest[:min(len(rest), 3)]); err == nil && o.Status == 0 {
			o.Status = n
		}
		o.Words = rest
	}
	o.Words, o.Code = cmp.Or(read.Str(f.details), o.Words), read.Str(f.kind)
	r.Fail(o)
}
