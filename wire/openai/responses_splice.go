package openai

import (
	"bytes"
	"slices"

	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/splice"
)

// NewSplice returns a [wire.Splice] at the start of a reply.
//
// The reply has the id of the first Round's response, for its first event has told it. A
// provider that keeps responses knows the whole under the id of the last one: under the
// first it has a call that nobody answered. So who splices has to keep the conversation
// under the first id itself, and to send it whole where a request goes on with that id.
func (c Responses) NewSplice(hidden func(tool string) bool, streamed bool) wire.Splice {
	return splice.New(splice.Dialect{
		Codec: c,
		Rules: &responsesSplice{hidden: hidden, open: map[int]splicedItem{}, sequence: -1},
		Cut:   new(splice.Events),
		Merge: func(bodies [][]byte) ([]byte, error) { return mergedResponse(bodies, hidden), nil },
	}, hidden, streamed)
}

// responsesSplice is how the events of a stream are spliced: those of hidden items are taken
// out, items and events are numbered on, and the whole response at the end has the items
// that the client has seen.
type responsesSplice struct {
	hidden   func(tool string) bool
	first    []byte // the response as the first event tells it
	later    bool   // this is not the first Round
	sequence int    // number of the last event that the client got
	open     map[int]splicedItem
	last     splicedItem // that began
	base     int         // index of the first item of this Round, for the client
	next     int         // index of the next one
	taken    int         // items of this Round that are hidden
	items    [][]byte    // those of this Round that the client gets
	before   [][]byte    // those of the Rounds before
	usage    []byte      // of this Round
	past     []byte      // of those before
}

// A splicedItem is where an item is for the client.
type splicedItem struct {
	index  int
	hidden bool
}

// Payload implements [splice.Rules].
func (r *responsesSplice) Payload(name, data []byte) (splice.Piece, error) {
	v := raw.Values(data, "type", "output_index", "item", "response")
	kind := word(v[0])
	if kind == nil {
		kind = name
	}
	switch string(kind) {
	case "response.created", "response.in_progress", "response.queued":
		if r.later {
			return splice.Piece{}, nil
		}
		if r.first == nil {
			r.first = bytes.Clone(v[3])
		}
	case "response.completed", "response.incomplete", "response.cancelled", "response.done":
		r.completed(v[3])
		return splice.Piece{Last: true}, nil
	case "response.output_item.added":
		r.place(v[1], v[2])
	case "response.output_item.done":
		if at := r.at(v[1], v[2]); !at.hidden {
			r.items = append(r.items, bytes.Clone(v[2]))
		}
	}
	return r.event(string(kind), data, v[1]), nil
}

// event returns what the client gets of an event.
func (r *responsesSplice) event(kind string, data, output []byte) splice.Piece {
	index, ok := raw.Int(output)
	at, known := r.open[index]
	if !ok { // some servers leave it out, where only one item is open
		at, known = r.last, inCall(kind)
	}
	if known && at.hidden {
		return splice.Piece{Hidden: true}
	}
	if ok && known && at.index != index {
		data = raw.Set(data, "output_index", raw.Digits(at.index))
	}
	return splice.Piece{Data: r.numbered(data)}
}

// inCall reports whether an event tells of the arguments of a call.
func inCall(kind string) bool {
	switch kind {
	case "response.function_call_arguments.delta", "response.function_call_arguments.done",
		"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done",
		"response.output_item.added", "response.output_item.done":
		return true
	}
	return false
}

// numbered returns an event with its number, which is the provider's as long as nothing
// was taken out.
func (r *responsesSplice) numbered(data []byte) []byte {
	n, ok := raw.Int(raw.Value(data, "sequence_number"))
	if !ok {
		return data
	}
	if !r.later && r.taken == 0 {
		r.sequence = n
		return data
	}
	r.sequence++
	return raw.Set(data, "sequence_number", raw.Digits(r.sequence))
}

// at returns the place of an item, which begins if it has none yet.
func (r *responsesSplice) at(output, item []byte) splicedItem {
	if index, ok := raw.Int(output); ok {
		if at, known := r.open[index]; known {
			r.last = at
			return at
		}
	}
	return r.place(output, item)
}

// place gives an item that begins its place.
func (r *responsesSplice) place(output, item []byte) splicedItem {
	index, ok := raw.Int(output)
	switch {
	case hidesItem(item, r.hidden):
		r.taken++
		r.last = splicedItem{hidden: true}
	case ok:
		r.last = splicedItem{index: max(r.base+index-r.taken, 0)}
		r.next = max(r.next, r.last.index+1)
	default:
		r.last = splicedItem{}
	}
	if ok {
		r.open[index] = r.last
	}
	return r.last
}

// hidesItem reports whether an item is a call of a hidden tool.
func hidesItem(item []byte, hidden func(tool string) bool) bool {
	v := raw.Values(item, "type", "name")
	return (raw.Named(v[0], "function_call") || raw.Named(v[0], "custom_tool_call")) && hidden(raw.Unquote(v[1]))
}

// visibleItems returns the items of a response that the client gets.
func visibleItems(response []byte, hidden func(tool string) bool) [][]byte {
	all := splice.Elements(raw.Value(response, "output"))
	return slices.DeleteFunc(all, func(item []byte) bool { return hidesItem(item, hidden) })
}

// withoutTools returns a response, which repeats the tools of its request, without those that
// are hidden.
func withoutTools(response []byte, hidden func(tool string) bool) []byte {
	all := splice.Elements(raw.Value(response, "tools"))
	kept := slices.DeleteFunc(slices.Clone(all), func(tool []byte) bool { return hidden(raw.Unquote(raw.Value(tool, "name"))) })
	if len(kept) == len(all) {
		return response
	}
	return raw.Set(response, "tools", raw.Array(kept))
}

// completed takes the whole response of a Round. Some servers leave its output empty.
func (r *responsesSplice) completed(response []byte) {
	if usage := raw.Value(response, "usage"); raw.IsObject(usage) {
		r.usage = bytes.Clone(usage)
	}
	if len(raw.Elements(raw.Value(response, "output"))) > 0 {
		r.items = visibleItems(bytes.Clone(response), r.hidden)
	}
}

// Next implements [splice.Rules].
func (r *responsesSplice) Next() {
	r.past = splice.Sum(r.past, r.usage, "")
	r.before = append(r.before, r.items...)
	r.later, r.base, r.taken, r.items, r.usage, r.last = true, r.next, 0, nil, nil, splicedItem{}
	clear(r.open)
}

// End implements [splice.Rules].
func (r *responsesSplice) End(_, data []byte) []byte {
	response := withoutTools(raw.Value(data, "response"), r.hidden)
	response = raw.Set(response, "output", raw.Array(slices.Concat(r.before, r.items)))
	if r.later {
		response = firstOf(r.first, response, splice.Sum(r.past, r.usage, ""))
	}
	return r.numbered(raw.Set(data, "response", response))
}

// firstOf returns a response of a later Round as that of the first one.
func firstOf(first, response, usage []byte) []byte {
	for _, name := range []string{"id", "created_at", "previous_response_id"} {
		response = raw.Set(response, name, raw.Value(first, name))
	}
	return raw.Set(response, "usage", usage)
}

// Fail implements [splice.Rules]. The provider's own event has the id and the number of
// another response, so that it is written anew.
func (r *responsesSplice) Fail(dst []byte, e *wire.Error) []byte {
	v := raw.Values(r.first, "id", "model")
	w := responsesEncoder{head: responseHead{id: raw.Unquote(v[0]), model: raw.Unquote(v[1])}, sequence: r.sequence + 1}
	w.begun, w.items = r.first != nil, slices.Concat(r.before, r.items)
	return w.AppendError(dst, bare(e))
}

// mergedResponse returns one body of those of several Rounds: the last one with the id and
// the items of all.
func mergedResponse(bodies [][]byte, hidden func(tool string) bool) []byte {
	var items [][]byte
	var usage []byte
	for _, b := range bodies {
		b = raw.Trim(b)
		items = append(items, visibleItems(b, hidden)...)
		usage = splice.Sum(usage, raw.Value(b, "usage"), "")
	}
	body := raw.Set(withoutTools(raw.Trim(bodies[len(bodies)-1]), hidden), "output", raw.Array(items))
	return firstOf(raw.Trim(bodies[0]), body, usage)
}
