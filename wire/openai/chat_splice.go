package openai

import (
	"bytes"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// NewSplice returns a [wire.Splice] at the start of a reply.
func (c Chat) NewSplice(hidden func(tool string) bool, streamed bool) wire.Splice {
	return splice.New(splice.Dialect{
		Codec: c,
		Rules: &chatSplice{hidden: hidden},
		Cut:   new(splice.Events),
		Merge: func(bodies [][]byte) ([]byte, error) { return mergedChat(bodies, hidden) },
	}, hidden, streamed)
}

// chatSplice is how the chunks of a stream are spliced. All chunks have the id and the time
// of the first one, as the format has it and readers check; the role is told once.
type chatSplice struct {
	hidden  func(tool string) bool
	id      []byte // of the first chunk that has one, as a literal
	created []byte
	role    bool   // the client knows the role
	later   bool   // this is not the first Round
	details int    // index of the next of reasoning_details
	next    int    // index of the client's next call
	past    []byte // the usage of the Rounds before

	// Of this Round:
	finished bool // there was a finish_reason
	calls    []*splicedCall
	legacy   *splicedCall
	base     int    // index of the first of reasoning_details
	taken    int    // calls that are hidden
	shown    int    // calls that the client gets
	usage    []byte // as far as it is stated
}

// A splicedCall is a call of the Round.
type splicedCall struct {
	key    int // the index that the server gives it
	keyed  bool
	id     string
	passed bool // something else has begun since
	hidden bool
	index  int  // for the client
	same   bool // which is what the server says
}

// Payload implements [splice.Rules].
func (r *chatSplice) Payload(_, data []byte) (splice.Piece, error) {
	v := raw.Values(data, "id", "created", "choices", "usage")
	if r.id == nil {
		r.id, r.created = bytes.Clone(v[0]), bytes.Clone(v[1])
	}
	if raw.IsObject(v[3]) {
		r.usage = bytes.Clone(v[3])
	}
	choices := splice.Elements(v[2])
	if len(choices) == 0 {
		piece := splice.Piece{Data: r.headed(data)}
		if piece.Last = raw.IsObject(v[3]); piece.Last {
			piece.Data = nil
		}
		return piece, nil
	}
	choice, err := onlyChoice(choices)
	if err != nil {
		return splice.Piece{}, err
	}
	inner := raw.Values(choice, "delta", "finish_reason")
	before := r.taken
	delta, err := r.delta(inner[0])
	if err != nil {
		return splice.Piece{}, err
	}
	used := raw.IsObject(v[3])
	r.finished = r.finished || raw.Unquote(inner[1]) != ""
	same := bytes.Equal(delta, inner[0])
	piece := splice.Piece{Last: raw.Unquote(inner[1]) != "" || r.finished && used}
	piece.Hidden = r.taken > before || !same && !r.later
	if !piece.Last && (same || used) || r.says(delta) {
		if !same {
			choice = raw.Set(choice, "delta", delta)
		}
		if piece.Last {
			choice = raw.Set(choice, "finish_reason", []byte("null"))
			data = raw.Delete(data, "usage")
		}
		if piece.Last || !same {
			data = withChoice(data, choice)
		}
		piece.Data = r.headed(data)
	}
	r.role = r.role || raw.IsString(raw.Value(delta, "role"))
	return piece, nil
}

// onlyChoice returns the one choice of a reply.
func onlyChoice(choices [][]byte) ([]byte, error) {
	if n, _ := raw.Int(raw.Value(choices[0], "index")); len(choices) > 1 || n != 0 {
		return nil, fmt.Errorf("openai: chat splice: %w", wire.ErrUnspliced)
	}
	return choices[0], nil
}

// withChoice returns data, which has one choice, with another one.
func withChoice(data, choice []byte) []byte {
	with, _ := splice.Filter(data, "choices", func([]byte) []byte { return choice })
	return with
}

// headed returns a chunk of a later Round as one of the first: with its id and its time, and
// the usage of all Rounds.
func (r *chatSplice) headed(data []byte) []byte {
	if !r.later {
		return data
	}
	for _, f := range []raw.Field{{Name: "id", Value: r.id}, {Name: "created", Value: r.created}} {
		if f.Value != nil && !bytes.Equal(raw.Value(data, f.Name), f.Value) {
			data = raw.Set(data, f.Name, f.Value)
		}
	}
	if usage := raw.Value(data, "usage"); raw.IsObject(usage) {
		data = raw.Set(data, "usage", splice.Sum(r.past, usage, ""))
	}
	return data
}

// says reports whether a delta has something that the client does not know.
func (r *chatSplice) says(delta []byte) bool {
	for k, v := range raw.Members(delta) {
		value := raw.Slice(delta, v)
		if raw.IsNone(value) || len(value) == len(`""`) || r.role && raw.Named(raw.Slice(delta, k), "role") {
			continue
		}
		return true
	}
	return false
}

// delta returns a delta as the client gets it.
func (r *chatSplice) delta(delta []byte) ([]byte, error) {
	v := raw.Values(delta, "content", "reasoning_content", "reasoning", "tool_calls", legacyName, "reasoning_details", "role")
	for _, text := range v[:3] {
		for _, c := range r.calls {
			c.passed = c.passed || raw.IsString(text) && len(text) > len(`""`)
		}
	}
	if v[3] == nil && v[4] == nil && v[5] == nil && (v[6] == nil || !r.later) { // as most are
		return delta, nil
	}
	var wrong error
	with, out := splice.Filter(delta, "tool_calls", func(f []byte) []byte {
		f, err := r.fragment(f)
		if err != nil {
			wrong = err
		}
		return f
	})
	if wrong != nil {
		return nil, wrong
	}
	if out > 0 && len(raw.Elements(raw.Value(with, "tool_calls"))) == 0 {
		with = raw.Delete(with, "tool_calls")
	}
	if call := raw.Value(with, legacyName); raw.IsObject(call) && r.hidesLegacy(call) {
		with = raw.Delete(with, legacyName)
	}
	with, _ = splice.Filter(with, "reasoning_details", r.detail)
	if r.later && r.role {
		with = raw.Delete(with, "role")
	}
	return with, nil
}

// detail returns an element of reasoning_details, which readers join by its index.
func (r *chatSplice) detail(b []byte) []byte {
	at, ok := raw.Int(raw.Value(b, "index"))
	if !ok {
		return b
	}
	r.details = max(r.details, r.base+at+1)
	if r.base == 0 {
		return b
	}
	return raw.Set(b, "index", raw.Digits(r.base+at))
}

// fragment returns a fragment of a call, nil if it is hidden.
func (r *chatSplice) fragment(b []byte) ([]byte, error) {
	w := raw.NewWalk(b)
	if !raw.IsObject(b) {
		return b, nil
	}
	f := fragmentOf(&w)
	c := r.callOf(f)
	if c == nil {
		if len(f.name) <= len(`""`) {
			return nil, fmt.Errorf("openai: chat splice: call without a name: %w", wire.ErrUnspliced)
		}
		c = r.newCall(f)
	}
	if c.id == "" {
		c.id = raw.Unquote(f.id)
	}
	switch {
	case c.hidden:
		return nil, nil
	case c.same:
		return b, nil
	}
	return raw.Set(b, "index", raw.Digits(c.index)), nil
}

// callOf returns the call that f goes on with, as [chatDecoder.callOf] finds it.
func (r *chatSplice) callOf(f fragment) *splicedCall {
	id := raw.Unquote(f.id)
	named := len(f.name) > len(`""`)
	n, keyed := raw.Int(f.index)
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := r.calls[i]
		switch {
		case keyed && c.keyed && c.key == n:
			if named && (c.passed && id == "" || id != "" && c.id != "" && c.id != id) {
				return nil
			}
			return c
		case !keyed && id != "" && c.id == id:
			return c
		}
	}
	if keyed || named || len(r.calls) == 0 {
		return nil
	}
	return r.calls[len(r.calls)-1]
}

// newCall begins a call.
func (r *chatSplice) newCall(f fragment) *splicedCall {
	c := &splicedCall{hidden: r.hidden(raw.Unquote(f.name))}
	c.key, c.keyed = raw.Int(f.index)
	r.calls = append(r.calls, c)
	if c.hidden {
		r.taken++
		return c
	}
	r.shown++
	c.index, c.same = r.next, !r.later && r.taken == 0
	if c.same && c.keyed {
		c.index = c.key
	}
	c.same = c.same || c.keyed && c.index == c.key
	r.next = max(r.next, c.index+1)
	return c
}

// hidesLegacy reports whether a fragment of the older form is of a hidden call.
func (r *chatSplice) hidesLegacy(call []byte) bool {
	if name := raw.Value(call, "name"); r.legacy == nil && len(name) > len(`""`) {
		r.legacy = &splicedCall{hidden: r.hidden(raw.Unquote(name))}
		if r.legacy.hidden {
			r.taken++
		} else {
			r.shown++
		}
	}
	return r.legacy != nil && r.legacy.hidden
}

// Next implements [splice.Rules].
func (r *chatSplice) Next() {
	r.past = splice.Sum(r.past, r.usage, "")
	r.later, r.finished, r.base = true, false, r.details
	r.calls, r.legacy, r.taken, r.shown, r.usage = nil, nil, 0, 0, nil
}

// End implements [splice.Rules].
func (r *chatSplice) End(_, data []byte) []byte {
	if choices := splice.Elements(raw.Value(data, "choices")); len(choices) > 0 {
		choice := choices[0]
		if delta := raw.Value(choice, "delta"); raw.IsObject(delta) && !raw.Empty(delta) {
			choice = raw.Set(choice, "delta", []byte("{}")) // the client has it
		}
		choice = endedChoice(choice, r.taken > 0 && r.shown == 0)
		data = withChoice(data, choice)
		if r.usage == nil && r.past != nil { // no chunk of this Round states any
			return raw.Set(r.headed(data), "usage", r.past)
		}
	}
	return r.headed(data)
}

// endedChoice returns a choice whose end is one if only hidden calls were made.
func endedChoice(choice []byte, hiddenOnly bool) []byte {
	if reason := raw.Value(choice, "finish_reason"); hiddenOnly && chatStop(raw.Unquote(reason)) == llm.StopTool {
		return raw.Set(choice, "finish_reason", []byte(`"stop"`))
	}
	return choice
}

// Fail implements [splice.Rules].
func (r *chatSplice) Fail(dst []byte, e *wire.Error) []byte {
	return new(chatEncoder).AppendError(dst, e)
}

// mergedChat returns one body of those of several Rounds: the last one with the id and what
// was said in all.
func mergedChat(bodies [][]byte, hidden func(tool string) bool) ([]byte, error) {
	first, body := raw.Trim(bodies[0]), raw.Trim(bodies[len(bodies)-1])
	var message, usage, choice []byte
	hiddenOnly := false // of the last Round
	for _, b := range bodies {
		b = raw.Trim(b)
		var err error
		if choice, err = onlyChoice(splice.Elements(raw.Value(b, "choices"))); err != nil {
			return nil, err
		}
		shown, out, left := visibleMessage(raw.Value(choice, "message"), hidden)
		hiddenOnly = out > 0 && left == 0
		message = joinedMessage(message, shown)
		usage = splice.Sum(usage, raw.Value(b, "usage"), "")
	}
	choice = endedChoice(raw.Set(choice, "message", message), hiddenOnly)
	body = withChoice(body, choice)
	v := raw.Values(first, "id", "created")
	return raw.Set(raw.Set(raw.Set(body, "id", v[0]), "created", v[1]), "usage", usage), nil
}

// visibleMessage returns a message without hidden calls, how many there were, and how many
// others.
func visibleMessage(message []byte, hidden func(tool string) bool) (with []byte, out, left int) {
	with, out = splice.Filter(message, "tool_calls", func(call []byte) []byte {
		w := raw.NewWalk(call)
		if raw.IsObject(call) && hidden(raw.Unquote(fragmentOf(&w).name)) {
			return nil
		}
		left++
		return call
	})
	if out > 0 && left == 0 {
		with = raw.Delete(with, "tool_calls")
	}
	if name := raw.Value(raw.Value(with, legacyName), "name"); raw.IsString(name) {
		if !hidden(raw.Unquote(name)) {
			return with, out, left + 1
		}
		with, out = raw.Delete(with, legacyName), out+1
	}
	return with, out, left
}

// joinedMessage returns a message that says what a says and then what b says.
func joinedMessage(a, b []byte) []byte {
	if a == nil {
		return b
	}
	for k, v := range raw.Members(b) {
		name, value := string(raw.Name(raw.Slice(b, k))), raw.Slice(b, v)
		if old := raw.Value(a, name); name != "role" && !raw.IsNone(value) {
			value = joinValues(asContent(name, old, value), asContent(name, value, old))
			a = raw.Set(a, name, value)
		}
	}
	return a
}

// asContent returns value, a list if it is the text of content and other is a list.
func asContent(name string, value, other []byte) []byte {
	if name != "content" || !raw.IsString(value) || !raw.IsArray(other) {
		return value
	}
	return raw.Array([][]byte{new(raw.Object).Text("type", "text").Raw("text", value).Bytes()})
}
