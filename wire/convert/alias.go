package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// Aliases are the names of tools and arguments and the ids of calls that a format does not
// take, and what stands for them. The alias of a name depends on nothing but the name and the
// format, so that the same conversation always gives the same bytes.
type Aliases struct {
	Calls map[string]string // what stands for an id, to the id
	Tools map[string]string // what stands for a name, to the name
	Args  map[string]string // what stands for the name of an argument, to the name
}

func newAliases() Aliases {
	return Aliases{Calls: map[string]string{}, Tools: map[string]string{}, Args: map[string]string{}}
}

// Restore returns r with the names and ids that the conversation has.
func (a Aliases) Restore(r llm.Response) llm.Response {
	if len(a.Calls)+len(a.Tools)+len(a.Args) == 0 {
		return r
	}
	parts := append([]llm.Part(nil), r.Message.Parts...)
	for i, p := range parts {
		call, ok := p.(llm.ToolCall)
		if !ok {
			continue
		}
		id, name := original(a.Calls, call.CallID), original(a.Tools, call.Name)
		args := a.arguments(call)
		if id == call.CallID && name == call.Name && args == call.Args {
			continue
		}
		call.CallID, call.Name, call.Args, call.Raw = id, name, args, llm.Raw{} // its bytes have the alias
		parts[i] = call
	}
	r.Message.Parts, r.Raw = parts, nil
	return r
}

// arguments returns the arguments of a call under the names that its tool has for them.
func (a Aliases) arguments(call llm.ToolCall) string {
	if len(a.Args) == 0 || call.Custom {
		return call.Args
	}
	args := []byte(call.Args)
	if _, err := raw.CheckObject(args); err != nil {
		return call.Args
	}
	var changes []raw.Change
	for name := range raw.Members(args) {
		if own, ok := a.Args[string(raw.Name(args[name.Start:name.End]))]; ok {
			changes = append(changes, raw.Change{At: name, New: raw.Quote(own)})
		}
	}
	return string(raw.Apply(args, changes))
}

func original(of map[string]string, alias string) string {
	if name, ok := of[alias]; ok {
		return name
	}
	return alias
}

// call returns what stands for the id of a call.
func (a Aliases) call(id string, rule catalog.NameRule) string { return alias(a.Calls, id, rule) }

// repeated returns what stands for an id that the nth call with it has. The hash keeps it
// apart from ids that other calls may have, earlier or later.
func (a Aliases) repeated(id string, n int, rule catalog.NameRule) string {
	fit := marked(id, id+"\x00"+strconv.Itoa(n), rule)
	a.Calls[fit] = id
	return fit
}

// tool returns what stands for the name of a tool.
func (a Aliases) tool(name string, rule catalog.NameRule) string { return alias(a.Tools, name, rule) }

// alias returns name if rule allows it, else what stands for it: its allowed characters
// and a hash, so that two names never share one.
func alias(known map[string]string, name string, rule catalog.NameRule) string {
	if rule.Allows(name) {
		return name
	}
	fit := marked(name, name, rule)
	known[fit] = name
	return fit
}

// marked returns what rule allows of name, with a hash of mark.
func marked(name, mark string, rule catalog.NameRule) string {
	const hashed = 10 // hexadecimal digits, 40 bits
	sum := sha256.Sum256([]byte(mark))
	suffix := "_" + hex.EncodeToString(sum[:hashed/2])
	var b strings.Builder
	inside := rule // of the characters behind the first
	inside.Letter = false
	for i, r := range name {
		if i == 0 && rule.Letter && inside.Allows(string(r)) && !rule.Allows(string(r)) {
			b.WriteByte('_') // before a digit
		}
		if rule.Max > 0 && b.Len()+len(suffix) >= rule.Max {
			break
		}
		if s := string(r); inside.Allows(s) {
			b.WriteString(s)
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		b.WriteByte('x')
	}
	b.WriteString(suffix)
	return b.String()
}
