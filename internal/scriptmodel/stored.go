package scriptmodel

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/wire"
)

// A stored response of the Responses API, with all that led to it.
type stored struct {
	items [][]byte // input and output, in the form that input has
	body  []byte
}

// recall puts the history that the server holds before the input of a request that only
// names it.
func (x *exchange) recall() *wire.Error {
	previous := x.field("previous_response_id")
	if x.route.dialect != responses || previous.Type != gjson.String {
		return nil
	}
	s, ok := x.state.stored[previous.String()]
	if !ok {
		e := x.bad(fmt.Sprintf("Previous response with id '%s' not found.", previous.String()), "previous_response_id")
		return coded(e, "previous_response_not_found")
	}
	items := append(s.items[:len(s.items):len(s.items)], x.input()...)
	var pairs []any
	gjson.ParseBytes(x.body).ForEach(func(name, v gjson.Result) bool {
		if n := name.String(); n != "input" && n != "previous_response_id" {
			pairs = append(pairs, n, rawJSON(v.Raw))
		}
		return true
	})
	x.body = object(append(pairs, "input", items)...)
	return nil
}

// input returns the items of the request.
func (x *exchange) input() (items [][]byte) {
	input := x.field("input")
	if input.Type == gjson.String {
		return [][]byte{object("type", "message", "role", "user", "content", input.String())}
	}
	for _, item := range input.Array() {
		items = append(items, []byte(item.Raw))
	}
	return items
}

// store keeps a response, unless the client does not want it kept.
func (x *exchange) store(id string, body []byte) {
	if keep := x.field("store"); x.route.dialect != responses || keep.Exists() && !keep.Bool() {
		return
	}
	s := stored{items: x.input(), body: body}
	for _, item := range gjson.GetBytes(body, "output").Array() {
		s.items = append(s.items, []byte(item.Raw))
	}
	x.state.stored[id] = s
}

// fetch answers the request for a stored response, or for its removal.
func (x *exchange) fetch() (answer, *wire.Error) {
	s, ok := x.state.stored[x.route.id]
	if !ok {
		return answer{}, x.fault(404, fmt.Sprintf("Response with id '%s' not found.", x.route.id))
	}
	if x.req.Method == "DELETE" {
		delete(x.state.stored, x.route.id)
		return jsonAnswer(object("id", x.route.id, "object", "response", "deleted", true)), nil
	}
	return jsonAnswer(s.body), nil
}

// compact answers the request to compact a conversation: what the user said stays, and one
// sealed item stands for everything else.
func (x *exchange) compact() (answer, *wire.Error) {
	var output [][]byte
	for _, item := range x.input() {
		v := gjson.ParseBytes(item)
		if v.Get("role").String() == "user" {
			output = append(output, item)
		}
	}
	id := x.id("cmp_")
	sealed := x.seal(id, x.lastSeal())
	x.returned(sealed)
	output = append(output, object("id", id, "type", "compaction", "encrypted_content", sealed))
	use := x.cached()
	usage := object(
		"input_tokens", x.prompt.Tokens(), "input_tokens_details", rawJSON(object("cached_tokens", use.Read)),
		"output_tokens", 1, "output_tokens_details", rawJSON(object("reasoning_tokens", 0)), "total_tokens", x.prompt.Tokens()+1,
	)
	return jsonAnswer(object("id", x.id("resp_"), "object", "response.compaction", "created_at", 0, "output", output, "usage", usage)), nil
}
