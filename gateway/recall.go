package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// mostResponses is how many responses a history may have that is held by the provider.
const mostResponses = 10_000

// An UnknownHistoryError says that a request goes on with a response that was not seen
// here, so that nobody can say how long the whole is.
type UnknownHistoryError struct{ ID string }

// Error implements error.
func (e *UnknownHistoryError) Error() string {
	return fmt.Sprintf("gateway: previous_response_id: want a response that passed through here, got %q", e.ID)
}

// A response is what is kept of an exchange whose history the provider holds
// (previous_response_id): what the client sent and what the model answered, as items of
// an input, byte for byte.
type response struct {
	previous string
	items    [][]byte
}

// responseName names a response in the store.
func responseName(c Call, id string) string { return nameOf(c.Owner, c.Provider, "response", id) }

// goesOn reports whether a body is one of a request whose history the provider holds.
func goesOn(d llm.Dialect, body []byte) bool {
	return d == openai.DialectResponses && gjson.GetBytes(body, "previous_response_id").String() != ""
}

// heldElsewhere reports whether a request goes on with a conversation that the provider
// keeps under a name, and of which others may write: how long the whole is nobody here knows.
func (x *Exchange) heldElsewhere() bool {
	if x.call.Dialect != openai.DialectResponses {
		return false
	}
	held := gjson.GetBytes(x.call.Body, "conversation")
	if held.IsObject() {
		held = held.Get("id")
	}
	return held.Str != ""
}

// statedModel returns the model of a request that is not read.
func (x *Exchange) statedModel() string { return gjson.GetBytes(x.call.Body, "model").Str }

// recall returns the body that a request would have if it brought the history that its
// provider holds.
func (x *Exchange) recall(ctx context.Context) ([]byte, error) {
	c := x.call
	id := gjson.GetBytes(c.Body, "previous_response_id")
	var rounds []response
	others := x.gateway.store.others(ctx)
	for next := id.Str; next != ""; next = rounds[len(rounds)-1].previous {
		r, err := x.gateway.recalled(ctx, c, next, others)
		if err != nil {
			return nil, err
		}
		if rounds = append(rounds, r); len(rounds) > mostResponses {
			return nil, &UnknownHistoryError{ID: next}
		}
	}
	var items [][]byte
	for _, r := range slices.Backward(rounds) {
		items = append(items, r.items...)
	}
	input := gjson.GetBytes(c.Body, "input")
	items = append(items, itemsOf(input)...)
	list := slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	return spliced(c.Body, splice{id, []byte("null")}, splice{input, list}), nil
}

// A splice puts other bytes in the place of a value.
type splice struct {
	at   gjson.Result
	with []byte
}

// spliced returns body with other values. Those that are not in it are left out.
func spliced(body []byte, all ...splice) []byte {
	slices.SortFunc(all, func(a, b splice) int { return a.at.Index - b.at.Index })
	var out []byte
	done := 0
	for _, s := range all {
		if s.at.Index <= 0 {
			continue
		}
		out = append(append(out, body[done:s.at.Index]...), s.with...)
		done = s.at.Index + len(s.at.Raw)
	}
	return append(out, body[done:]...)
}

// response reads a response from the store: a record with the id of the one before it, and
// one for each item.
func (g *Gateway) response(ctx context.Context, c Call, id string) (r response, err error) {
	ctx, cancel := within(ctx, mostHeard)
	defer cancel()
	known := false
	for record, err := range g.options.Store.Records(ctx, responseName(c, id), 0) {
		switch {
		case err != nil:
			return response{}, late(ctx, err)
		case !known:
			r.previous, known = string(record), true
		default:
			r.items = append(r.items, record)
		}
	}
	if !known {
		return response{}, &UnknownHistoryError{ID: id}
	}
	return r, nil
}

// itemsOf returns the items of an input, which may be a text alone.
func itemsOf(input gjson.Result) (items [][]byte) {
	if input.Type == gjson.String {
		return [][]byte{[]byte(`{"type":"message","role":"user","content":` + input.Raw + `}`)}
	}
	for _, item := range input.Array() {
		items = append(items, []byte(item.Raw))
	}
	return items
}

// remember keeps the response of a reply, if the provider does.
func (x *Exchange) remember(ctx context.Context, reply gjson.Result) error {
	c, id := x.call, reply.Get("id").Str
	if keep := gjson.GetBytes(c.Body, "store"); x.branch == nil || id == "" || keep.Exists() && !keep.Bool() {
		return nil
	}
	records := [][]byte{[]byte(gjson.GetBytes(c.Body, "previous_response_id").Str)}
	records = append(append(records, itemsOf(gjson.GetBytes(c.Body, "input"))...), itemsOf(reply.Get("output"))...)
	ctx, cancel := within(ctx, mostHeard)
	defer cancel()
	return promptly(ctx, func() error { return x.gateway.keep(ctx, c, id, records) })
}

// keep writes the records of a response.
func (g *Gateway) keep(ctx context.Context, c Call, id string, records [][]byte) error {
	name := responseName(c, id)
	err := g.options.Store.Append(ctx, name, 0, records)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	switch r, read := g.response(ctx, c, id); {
	case read != nil:
		return read
	case r.previous == string(records[0]) && slices.EqualFunc(r.items, records[1:], bytes.Equal): // it was kept already
		return nil
	}
	// A server that counts its responses has begun again: the id means this one now.
	d, ok := g.options.Store.(store.Deleter)
	if !ok {
		return err
	}
	defer g.responses.forget(name)
	if err := d.Delete(ctx, name); err != nil {
		return err
	}
	return g.options.Store.Append(ctx, name, 0, records)
}

// unknown is the answer to a request that goes on with a response nobody here knows, as
// the provider has it.
func (x *Exchange) unknown(e *UnknownHistoryError) error {
	status, body := x.codec.EncodeError(&wire.Error{
		Class: wire.BadRequest, Param: "previous_response_id", Message: fmt.Sprintf("Previous response with id '%s' not found.", e.ID),
	})
	if code := gjson.GetBytes(body, "error.code"); code.Index > 0 {
		body = spliced(body, splice{code, []byte(`"previous_response_not_found"`)})
	}
	x.report.Class, x.report.Model = wire.BadRequest, x.statedModel()
	x.report.Refused = "previous_response_id: a response that did not pass through here" // its id is the client's word
	return &RefusalError{Status: status, Body: body, Report: x.report, Err: e}
}

// completed returns the response that an event of a stream brings whole. One that has run out of
// room for its output can be gone on with as well.
func completed(e llm.Event) (gjson.Result, bool) {
	if len(e.Raw) > 0 {
		switch gjson.GetBytes(e.Raw, "type").Str {
		case "response.completed", "response.incomplete", "response.done":
			return gjson.GetBytes(e.Raw, "response"), true
		}
	}
	return gjson.Result{}, false
}
