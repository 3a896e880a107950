package openai

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// EncodeChatMessage returns m as one wire message of the Chat format, or no bytes if
// there is nothing to send. Untouched, that is the envelope it came with. A message of
// another dialect may hold several results, or results and text, which this format
// sends as several messages: that is an error here, [EncodeChat] writes them.
func EncodeChatMessage(m llm.Message) ([]byte, error) {
	all := chatWire(m, nil)
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0].bytes, nil
	}
	return nil, fmt.Errorf("openai: encode chat message: want one wire message, got a message that is %d", len(all))
}

// A chatUnit is one wire message to be.
type chatUnit struct {
	bytes  []byte
	calls  []string // the calls that wait for a result
	result string   // the call that it answers
	user   bool     // not of the assistant
	at     int      // the element of the body that it was; -1 if none
}

// chatWire returns the wire messages that m becomes; legacy are the calls whose results are
// messages of the role function.
func chatWire(m llm.Message, legacy map[string]bool) []chatUnit {
	if m.Dialect == DialectChat && raw.Fits(m) {
		if b, ok := chatPatch(m); ok {
			return []chatUnit{unitOf(m, b)}
		}
	}
	w := newWriter(DialectChat, m)
	var units []chatUnit
	var rest []llm.Part
	for _, p := range m.Parts {
		r, ok := p.(llm.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		o := new(raw.Object).Text("role", "tool").Text("tool_call_id", r.CallID)
		if legacy[r.CallID] {
			o = new(raw.Object).Text("role", "function").Text("name", r.CallID)
		}
		units = append(units, chatUnit{bytes: o.Raw("content", w.chatResult(r)).Bytes(), result: r.CallID, user: true, at: -1})
	}
	m.Parts = rest
	if b := w.chatMessage(m); b != nil {
		units = append(units, unitOf(m, b))
	}
	return units
}

func unitOf(m llm.Message, b []byte) chatUnit {
	u := chatUnit{bytes: b, user: m.Role != llm.RoleAssistant, at: -1}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if !p.Hosted {
				u.calls = append(u.calls, p.CallID)
			}
		case llm.ToolResult:
			u.result = p.CallID
		}
	}
	return u
}

// chatResult returns the content of a tool message, which takes only text. (Elements that
// came so in this format stay: the provider takes more than the format says.)
func (w writer) chatResult(r llm.ToolResult) []byte {
	w.noMedia = true
	old := r.Data
	if old == nil {
		old = r.Base
	}
	if w.native && r.Data != nil {
		return r.Data
	}
	return w.resultValue(r, w.native && raw.IsArray(old))
}

// chatMessage returns a new wire message without results, or nil if it says nothing.
func (w writer) chatMessage(m llm.Message) []byte {
	role := "user"
	switch m.Role {
	case llm.RoleSystem:
		role, w.noMedia = "system", true
	case llm.RoleAssistant:
		role, w.noMedia = "assistant", true
	}
	var content []llm.Part
	var calls, members [][]byte
	called := false
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if w.native && isLegacy(p) {
				members, called = append(members, legacyMember(p)), true
				continue
			}
			if b := w.chatCall(p); b != nil {
				calls, called = append(calls, b), true
			}
		case llm.Thinking:
			if w.native && raw.IsString(p.Data) {
				members = append(members, p.Data)
			}
		case llm.Opaque:
			if isMember(p) && w.native {
				members = append(members, p.Data)
				continue
			}
			content = append(content, p)
		default:
			content = append(content, p)
		}
	}
	value := w.value(content)
	if value == nil && !called {
		return nil
	}
	o := new(raw.Object).Text("role", role).Raw("content", value)
	for _, member := range mergeMembers(members) {
		o.Member(member)
	}
	if len(calls) > 0 {
		o.Raw("tool_calls", raw.Array(calls))
	}
	return o.Bytes()
}

// isMember reports whether the data of p is a member of a message, not an element.
func isMember(p llm.Opaque) bool {
	return bytes.HasPrefix(p.Data, raw.Quote(p.Kind))
}

// chatCall returns an element of tool_calls, nil for another provider's own tool.
func (w writer) chatCall(p llm.ToolCall) []byte {
	kind, field, args := "function", "arguments", argsOrEmpty(p)
	if p.Custom {
		kind, field, args = "custom", "input", p.Args
	}
	switch {
	case w.native && raw.IsObject(p.Data):
		return p.Data
	case w.native && raw.IsObject(p.Base):
		inner := raw.Set(raw.Value(p.Base, kind), field, raw.Quote(args))
		return raw.Set(p.Base, kind, inner)
	case p.Hosted:
		return nil
	}
	inner := new(raw.Object).Text("name", p.Name).Text(field, args).Bytes()
	return new(raw.Object).Text("id", p.CallID).Text("type", kind).Raw(kind, inner).Bytes()
}

// argsOrEmpty returns the arguments of p; a call without any has an empty object.
func argsOrEmpty(p llm.ToolCall) string {
	if p.Args == "" && !p.Custom {
		return "{}"
	}
	return p.Args
}

// chatPatch returns the envelope of m with its edited parts written into it. false if
// a part cannot be written into its place, so that the message must be written anew.
func chatPatch(m llm.Message) ([]byte, bool) {
	if raw.Untouched(m) {
		return m.Envelope.Raw, true
	}
	w := newWriter(DialectChat, m)
	with := make([][]byte, len(m.Parts))
	for i, p := range m.Parts {
		at := m.Envelope.Spans[i]
		if raw.InPlace(p, m.Envelope, at) {
			continue
		}
		old := raw.Slice(m.Envelope.Raw, at)
		if !bytes.Equal(raw.Base(p), old) {
			return nil, false
		}
		if with[i] = w.inPlace(p, old); with[i] == nil {
			return nil, false
		}
	}
	return raw.Patch(m.Envelope, with), true
}

// inPlace returns the bytes of p for the place of old, the bytes that it replaced.
func (w writer) inPlace(p llm.Part, old []byte) []byte {
	switch p := p.(type) {
	case llm.ToolResult:
		return w.chatResult(p)
	case llm.ToolCall:
		if isLegacy(p) {
			return legacyMember(p)
		}
		return w.chatCall(p)
	}
	text, ok := textOf(p)
	switch {
	case !ok || text == "":
		return nil
	case raw.IsString(old):
		return raw.Quote(text)
	}
	return w.element(p)
}

// closeRounds moves the results that follow a message with calls to right behind it,
// where something that is not a result stands between. Messages that all came in the
// body stay as they came.
func closeRounds(units []chatUnit) []chatUnit {
	for i, u := range units {
		if len(u.calls) == 0 {
			continue
		}
		after := othersSide(units[i+1:])
		if allFramed(after) {
			continue
		}
		if round := after[:lastResult(after, u.calls)+1]; !allFramed(round) {
			slices.SortStableFunc(round, resultsFirst)
		}
	}
	return units
}

// othersSide returns the units at the start of in that are not the assistant's.
func othersSide(in []chatUnit) []chatUnit {
	n := 0
	for n < len(in) && in[n].user {
		n++
	}
	return in[:n]
}

func allFramed(units []chatUnit) bool {
	return !slices.ContainsFunc(units, func(u chatUnit) bool { return u.at < 0 })
}

// lastResult returns the place of the last unit that answers one of the calls; -1 if
// there is none.
func lastResult(after []chatUnit, calls []string) int {
	ids := map[string]bool{}
	for _, id := range calls {
		ids[id] = true
	}
	last := -1
	for i, u := range after {
		if ids[u.result] && u.result != "" {
			last = i
		}
	}
	return last
}

func resultsFirst(a, b chatUnit) int {
	return rank(a) - rank(b)
}

func rank(u chatUnit) int {
	if u.result != "" {
		return 0
	}
	return 1
}
