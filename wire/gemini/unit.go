package gemini

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/round"
)

// skipCheck is the signature of a call that Gemini did not write. The provider accepts it
// in place of a real one, as its documentation on thought signatures says.
const skipCheck = "skip_thought_signature_validator"

// contentElements returns the contents that msgs become.
func contentElements(msgs []llm.Message, list *raw.List) []raw.Element {
	shape := shapeOf(list)
	all := shape.Units(msgs)
	elements := make([]raw.Element, 0, len(all)+1)
	if shape.Opens(all) {
		begin := content("user", []block{{bytes: textPart(wire.Opening)}})
		elements = append(elements, raw.Element{Bytes: begin, At: -1})
	}
	for _, u := range all {
		elements = append(elements, u.Element(content))
	}
	return elements
}

// shapeOf returns how messages become contents. list is the list that they came in.
func shapeOf(list *raw.List) round.Shape[block] {
	return round.Shape[block]{
		Model: "model", User: "user", Blocks: blocks,
		Start: func(m llm.Message, before []llm.Message) round.Unit[block] {
			u := round.Unit[block]{Role: wireRole(m.Role), At: -1}
			if enveloped(m) {
				u.At, u.Bytes = list.Find(m.Envelope.Raw), patch(m, before)
			} else {
				u.Built = blocks(m, before)
			}
			return u
		},
	}
}

// content returns a new content: results first, else in order. The first call needs a
// signature if it is not the provider's own.
func content(role string, all []block) []byte {
	values := make([][]byte, 0, len(all))
	for _, b := range all {
		if b.kind == resultBlock {
			values = append(values, b.bytes)
		}
	}
	first := true
	for _, b := range all {
		if b.kind == resultBlock {
			continue
		}
		value := b.bytes
		if b.kind == callBlock || b.kind == foreignCall {
			if first && b.kind == foreignCall {
				value = raw.Set(value, nameSignature.camel, raw.Quote(skipCheck))
			}
			first = false
		}
		values = append(values, value)
	}
	return new(raw.Object).Text("role", role).Raw("parts", raw.Array(values)).Bytes()
}
