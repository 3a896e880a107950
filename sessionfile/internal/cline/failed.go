package cline

import (
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// failed takes in a shown message that says that a call came to nothing. One whose stream
// broke, or that a person stopped, says so itself; of one that the provider refused a
// question to the person does.
func failed(r *read.Reading, no int, f read.Fields) {
	o := read.Outcome{Line: no, Time: read.Time(f["ts"])}
	switch {
	case isCall(f):
		report := read.FieldsOf([]byte(f.Str("text")))
		o.Words, o.Stopped = report.Str("streamingFailedMessage"), report.Str("cancelReason") == "user_cancelled"
	case f.Str("ask") == "api_req_failed":
		o.Words = f.Str("text")
	default:
		return
	}
	r.Fail(o)
}
