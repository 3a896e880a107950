package turn

import "github.com/plimsoll-dev/plimsoll/core/llm"

// Check returns what Append would return for m, and indexes nothing. The cost is
// linear in the parts of m, and in the open calls that share an id with them.
func (x *Index) Check(m llm.Message) error {
	t := trial{x: x, left: map[waiting]int{}, called: map[string]bool{}}
	var fault *OrphanError
	for i, p := range m.Parts {
		reason, id := "", ""
		switch p := p.(type) {
		case llm.ToolCall:
			reason, id = t.call(p), p.CallID
		case llm.ToolResult:
			reason, id = t.result(p.CallID), p.CallID
		}
		switch {
		case reason == "":
		case fault == nil:
			fault = &OrphanError{CallID: id, Position: x.length, Part: i, Reason: reason}
		default:
			fault.More++
		}
	}
	if fault != nil {
		return fault
	}
	return nil
}

// waiting names the calls of one id that wait for a result, hosted ones apart.
type waiting struct {
	callID string
	hosted bool
}

// A trial follows the calls of one message without indexing them.
type trial struct {
	x      *Index
	left   map[waiting]int // how many wait, of the ids that the message names
	called map[string]bool // ids of the message's own calls
}

// waits returns how many calls wait now.
func (t *trial) waits(w waiting) int {
	n, ok := t.left[w]
	if ok {
		return n
	}
	in := t.x.open
	if w.hosted {
		in = t.x.hosted
	}
	for i, more := in[w.callID]; more && i != none; i = t.x.calls[i].below {
		n++
	}
	t.left[w] = n
	return n
}

func (t *trial) call(c llm.ToolCall) string {
	w := waiting{c.CallID, c.Hosted}
	n := t.waits(w)
	t.left[w] = n + 1
	t.called[c.CallID] = true
	if n > 0 && !c.Hosted {
		return ReasonDuplicate
	}
	return ""
}

func (t *trial) result(callID string) string {
	for _, hosted := range []bool{false, true} {
		w := waiting{callID, hosted}
		if n := t.waits(w); n > 0 {
			t.left[w] = n - 1
			return ""
		}
	}
	if _, known := t.x.latest[callID]; known || t.called[callID] {
		return ReasonAnswered
	}
	return ReasonUnknown
}
