package gemini

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A chunk is what one payload of a stream says, as literals of the payload.
type chunk struct {
	parts                              []members // of the first candidate
	reason, usage, feedback, id, model []byte
	known                              bool // it is a reply
	failed                             bool // it is an error of the provider
	err                                error
}

// read reads the reply at c in one pass, also one that is wrapped.
func (r *chunk) read(c *raw.Cursor) {
	c.Object(func(name []byte) {
		switch string(name) {
		case "candidates":
			r.known = true
			r.candidates(c)
		case "usageMetadata":
			r.known = true
			r.usage = c.Value()
		case "promptFeedback":
			r.known = true
			r.feedback = c.Value()
		case "modelVersion":
			r.known = true
			r.model = c.Value()
		case "responseId":
			r.known = true
			r.id = c.Value()
		case "response":
			if raw.IsObject(c.Next()) {
				r.read(c)
			}
		case "error":
			r.failed = raw.IsObject(c.Next())
		}
	})
}

func (r *chunk) candidates(c *raw.Cursor) {
	if raw.IsNone(c.Next()) {
		return
	}
	if !raw.IsArray(c.Next()) {
		r.wrong(c.Wrong("an array"), "candidates")
		return
	}
	c.Array(func(i int) bool {
		if !raw.IsObject(c.Next()) {
			r.wrong(raw.In(c.Wrong("an object"), "["+strconv.Itoa(i)+"]"), "candidates")
			return false
		}
		r.candidate(c, i)
		return true
	})
}

// wrong keeps the first fault.
func (r *chunk) wrong(err error, step string) {
	if r.err == nil {
		r.err = raw.In(err, step)
	}
}

// candidate reads candidate i, which is at c. Only at its end it is known which one it is.
func (r *chunk) candidate(c *raw.Cursor, i int) {
	begin, index := len(r.parts), 0
	var reason []byte
	c.Object(func(name []byte) {
		switch string(name) {
		case "content":
			if err := r.content(c); err != nil {
				r.wrong(raw.In(raw.In(err, "content"), "["+strconv.Itoa(i)+"]"), "candidates")
			}
		case "index":
			index, _ = raw.Int(c.Value())
		case "finishReason":
			reason = c.Value()
		}
	})
	if index != 0 {
		r.parts = r.parts[:begin]
		return
	}
	if reason != nil {
		r.reason = reason
	}
}

func (r *chunk) content(c *raw.Cursor) (err error) {
	c.Object(func(name []byte) {
		if string(name) != "parts" || raw.IsNone(c.Next()) {
			return
		}
		if raw.IsObject(c.Next()) {
			r.parts = append(r.parts, membersOf(c))
			return
		}
		if !raw.IsArray(c.Next()) {
			err = raw.In(c.Wrong("an array"), "parts")
			return
		}
		c.Array(func(i int) bool {
			if !raw.IsObject(c.Next()) {
				err = raw.In(c.Wrong("an object"), "parts["+strconv.Itoa(i)+"]")
				return false
			}
			r.parts = append(r.parts, membersOf(c))
			return true
		})
	})
	return err
}
