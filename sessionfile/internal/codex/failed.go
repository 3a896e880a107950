package codex

import (
	"cmp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// tooLong are the client's words for a refusal for length, and its word for it. They are
// all that there is in early versions and in what codex exec prints.
const (
	tooLong     = "ran out of room in the model's context window"
	tooLongCode = "context_window_exceeded"
)

// codeOf returns the client's word for what its words say.
func codeOf(words string) string {
	if strings.Contains(words, tooLong) {
		return tooLongCode
	}
	return ""
}

// failed takes in an event that tells of a call without a reply. What went wrong stands
// beside the words as a word, or as an object whose one key is it.
func (c *codex) failed(no int, f read.Fields) {
	if c.Session.Parent != "" && !c.origin.own {
		return
	}
	if f.Str("type") == "turn_aborted" {
		c.Fail(read.Outcome{Line: no, Time: c.time, Words: f.Str("reason"), Stopped: true})
		return
	}
	o := read.Outcome{Line: no, Time: c.time, Words: f.Str("message"), Code: f.Str("codex_error_info")}
	for key, value := range f.Of("codex_error_info") {
		o.Code, o.Status = key, c.Count(no, "http_status_code", read.FieldsOf(value)["http_status_code"])
	}
	o.Code = cmp.Or(o.Code, codeOf(o.Words))
	c.Fail(o)
}
