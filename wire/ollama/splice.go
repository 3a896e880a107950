package ollama

import (
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// NewSplice returns a [wire.Splice] at the start of a reply.
func (c Codec) NewSplice(hidden func(tool string) bool, streamed bool) wire.Splice {
	return splice.New(splice.Dialect{
		Codec: c,
		Rules: &spliceRules{calls: spliceCalls{hidden: hidden}},
		Cut:   &splice.Events{Lines: true},
		Merge: func(bodies [][]byte) ([]byte, error) { return mergedReply(bodies, hidden), nil },
	}, hidden, streamed)
}

// spliceRules are how the lines of a stream are spliced: hidden calls are taken out and the
// others numbered through, and the last line has the figures of all Rounds.
type spliceRules struct {
	calls spliceCalls
	later bool   // this is not the first Round
	usage []byte // of this Round: its figures as an object
	past  []byte // of those before
}

// spliceCalls tells hidden calls from the client's, and numbers those.
type spliceCalls struct {
	hidden func(tool string) bool
	moved  bool // something was taken out
	next   int  // index of the client's next call
}

// figures are the members of a last line that are sums over the Rounds: tokens, and
// nanoseconds.
var figures = [...]string{"total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"}

// figuresOf returns the figures of a line as an object.
func figuresOf(line []byte) []byte {
	o := new(raw.Object)
	for i, value := range raw.Values(line, figures[:]...) {
		if !raw.IsNone(value) {
			o.Raw(figures[i], value)
		}
	}
	return o.Bytes()
}

// withFigures returns a line with other figures.
func withFigures(line, sum []byte) []byte {
	for i, value := range raw.Values(sum, figures[:]...) {
		line = raw.Set(line, figures[i], value)
	}
	return line
}

// Payload implements [splice.Rules].
func (r *spliceRules) Payload(_, data []byte) (splice.Piece, error) {
	v := raw.Values(data, "message", "done")
	shown, out := r.calls.visible(v[0])
	piece := splice.Piece{Hidden: out > 0, Last: string(v[1]) == "true"}
	switch {
	case piece.Last:
		r.usage = figuresOf(data)
		if says(shown) {
			line := raw.Set(raw.Set(data, "message", shown), "done", []byte("false"))
			for _, name := range append(figures[:], "done_reason") {
				line = raw.Delete(line, name)
			}
			piece.Data = line
		}
	case out == 0 || says(shown):
		piece.Data = data
		if len(v[0]) > 0 && (len(shown) != len(v[0]) || &shown[0] != &v[0][0]) {
			piece.Data = raw.Set(data, "message", shown)
		}
	}
	return piece, nil
}

// visible returns a message without hidden calls, and how many there were.
func (c *spliceCalls) visible(message []byte) (with []byte, out int) {
	left := 0
	with, out = splice.Filter(message, "tool_calls", func(call []byte) []byte {
		function := raw.Value(call, "function")
		v := raw.Values(function, "name", "index")
		if c.hidden(raw.Unquote(v[0])) {
			c.moved = true
			return nil
		}
		left++
		index, ok := raw.Int(v[1])
		if !ok || !c.moved {
			c.next = max(c.next, index) + 1
			return call
		}
		if c.next++; index == c.next-1 {
			return call
		}
		return raw.Set(call, "function", raw.Set(function, "index", raw.Digits(c.next-1)))
	})
	if out > 0 && left == 0 {
		with = raw.Delete(with, "tool_calls")
	}
	return with, out
}

// says reports whether a message has more than its role.
func says(message []byte) bool {
	for k, v := range raw.Members(message) {
		value := raw.Slice(message, v)
		if !raw.Named(raw.Slice(message, k), "role") && !raw.IsNone(value) && len(value) > len(`""`) {
			return true
		}
	}
	return false
}

// Next implements [splice.Rules].
func (r *spliceRules) Next() {
	r.past = splice.Sum(r.past, r.usage, "")
	r.later, r.calls.moved, r.usage = true, true, nil
}

// End implements [splice.Rules].
func (r *spliceRules) End(_, data []byte) []byte {
	if message := raw.Value(data, "message"); says(message) { // the client has it, or it is hidden
		role := raw.Value(message, "role")
		data = raw.Set(data, "message", new(raw.Object).Raw("role", role).Text("content", "").Bytes())
	}
	if !r.later {
		return data
	}
	return withFigures(data, splice.Sum(r.past, r.usage, ""))
}

// Fail implements [splice.Rules].
func (r *spliceRules) Fail(dst []byte, e *wire.Error) []byte { return new(encoder).AppendError(dst, e) }

// mergedReply returns one body of those of several Rounds: the last one with what was said
// in all.
func mergedReply(bodies [][]byte, hidden func(tool string) bool) []byte {
	calls := spliceCalls{hidden: hidden}
	var message, sum []byte
	for _, b := range bodies {
		b = raw.Trim(b)
		shown, _ := calls.visible(raw.Value(b, "message"))
		message = joinedMessage(message, shown)
		sum = splice.Sum(sum, figuresOf(b), "")
		calls.moved = true
	}
	return withFigures(raw.Set(raw.Trim(bodies[len(bodies)-1]), "message", message), sum)
}

// joinedMessage returns a message that says what a says and then what b says.
func joinedMessage(a, b []byte) []byte {
	if a == nil {
		return b
	}
	for k, v := range raw.Members(b) {
		name, value := string(raw.Name(raw.Slice(b, k))), raw.Slice(b, v)
		old := raw.Value(a, name)
		switch {
		case name == "role" || raw.IsNone(value):
			continue
		case raw.IsString(old) && raw.IsString(value):
			value = append(old[:len(old)-1:len(old)-1], value[1:]...)
		case raw.IsArray(old) && raw.IsArray(value):
			value = splice.Joined(old, value)
		}
		a = raw.Set(a, name, value)
	}
	return a
}
