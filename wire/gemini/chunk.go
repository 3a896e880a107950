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

// read reads the reply that is next in one pass, also one that is wrapped.
func (r *chunk) read(w *raw.Walk) {
	for w.Enter(); ; {
		name := w.Member()
		if name == nil {
			return
		}
		switch string(name) {
		case "candidates":
			r.known = true
			r.candidates(w)
		case "usageMetadata":
			r.known = true
			r.usage = w.Value()
		case "promptFeedback":
			r.known = true
			r.feedback = w.Value()
		case "modelVersion":
			r.known = true
			r.model = w.Value()
		case "responseId":
			r.known = true
			r.id = w.Value()
		case "response":
			if !raw.IsObject(w.Next()) {
				w.Value()
				continue
			}
			r.read(w)
		case "error":
			r.failed = raw.IsObject(w.Value())
		default:
			w.Value()
		}
	}
}

func (r *chunk) candidates(w *raw.Walk) {
	switch next := w.Next(); {
	case raw.IsNone(next):
		w.Value()
		return
	case !raw.IsArray(next):
		r.wrong(w.Wrong("an array"), "candidates")
		w.Value()
		return
	}
	w.Enter()
	for i := 0; w.Item(); i++ {
		if !raw.IsObject(w.Next()) {
			r.wrong(raw.In(w.Wrong("an object"), "["+strconv.Itoa(i)+"]"), "candidates")
			w.Value()
			continue
		}
		r.candidate(w, i)
	}
}

// wrong keeps the first fault.
func (r *chunk) wrong(err error, step string) {
	if r.err == nil {
		r.err = raw.In(err, step)
	}
}

// candidate reads candidate i, which is next. Only at its end it is known which one it is.
func (r *chunk) candidate(w *raw.Walk, i int) {
	begin, index := len(r.parts), 0
	var reason []byte
	for w.Enter(); ; {
		name := w.Member()
		if name == nil {
			break
		}
		switch string(name) {
		case "content":
			if err := r.content(w); err != nil {
				r.wrong(raw.In(raw.In(err, "content"), "["+strconv.Itoa(i)+"]"), "candidates")
			}
		case "index":
			index, _ = raw.Int(w.Value())
		case "finishReason":
			reason = w.Value()
		default:
			w.Value()
		}
	}
	if index != 0 {
		r.parts = r.parts[:begin]
		return
	}
	if reason != nil {
		r.reason = reason
	}
}

func (r *chunk) content(w *raw.Walk) (err error) {
	if !raw.IsObject(w.Next()) {
		w.Value()
		return nil
	}
	for w.Enter(); ; {
		name := w.Member()
		switch {
		case name == nil:
			return err
		case string(name) != "parts" || raw.IsNone(w.Next()):
			w.Value()
		case raw.IsObject(w.Next()):
			r.parts = append(r.parts, membersIn(w))
		case raw.IsArray(w.Next()):
			w.Enter()
			for i := 0; w.Item(); i++ {
				if !raw.IsObject(w.Next()) {
					err = raw.In(w.Wrong("an object"), "parts["+strconv.Itoa(i)+"]")
					w.Value()
					continue
				}
				r.parts = append(r.parts, membersIn(w))
			}
		default:
			err = raw.In(w.Wrong("an array"), "parts")
			w.Value()
		}
	}
}
