package openai

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// A chatCall is a call whose fragments are coming in.
type chatCall struct {
	key   int    // the index that the server gives it
	index int    // of the part, once it has begun
	begun bool   // its name is known
	nth   int    // among the calls of the reply
	id    string // empty if the server gave none yet
	first []byte // the first fragment, without its index, and what later ones add to it
	inner string // the member that holds name and arguments: function or custom
	name  []byte
	args  literal
	size  sse.Size
}

// toolCalls reads the fragments in a member tool_calls.
func (d *chatDecoder) toolCalls(list []byte) error {
	if !raw.IsArray(list) {
		return raw.Wrong("an array", list)
	}
	w := raw.NewWalk(list)
	w.Enter()
	for i := 0; w.Item(); i++ {
		if next := w.Next(); !raw.IsObject(next) {
			return raw.In(raw.Wrong("an object", next), index(i))
		}
		d.fragment(fragmentOf(&w))
		if err := d.held.Check(); err != nil {
			return err
		}
	}
	return nil
}

// A fragment is one element of tool_calls in a chunk.
type fragment struct {
	index, id, name, args []byte
	custom                bool // it is in the member custom
	more                  bool // there are others than index and what is called with what
	whole                 []byte
}

// fragmentOf reads the fragment that is next.
func fragmentOf(w *raw.Walk) (f fragment) {
	var function, custom invocation
	start := w.At()
	w.Enter()
	for name := w.Member(); name != nil; name = w.Member() {
		switch string(name) {
		case "index":
			f.index = w.Value()
		case "id":
			f.id, f.more = w.Value(), true
		case "function":
			function = invocationOf(w)
		case "custom":
			custom = invocationOf(w)
		default:
			f.more = true
			w.Value()
		}
	}
	f.whole = w.Bytes(start)
	inner := function
	if custom.there {
		inner, f.custom = custom, true
	}
	f.name, f.args = inner.name, inner.arguments
	if inner.input != nil {
		f.args = inner.input
	}
	return f
}

// invocationOf reads the value that is next: what is called with what, if it is an object.
func invocationOf(w *raw.Walk) (x invocation) {
	if x.there = raw.IsObject(w.Next()); !x.there {
		w.Value()
		return x
	}
	w.Enter()
	for name := w.Member(); name != nil; name = w.Member() {
		value := w.Value()
		switch string(name) {
		case "name":
			x.name = value
		case "arguments":
			x.arguments = value
		case "input":
			x.input = value
		}
	}
	return x
}

// fragment tells one fragment.
func (d *chatDecoder) fragment(f fragment) {
	c := d.callOf(f)
	if c == nil && d.late(f) {
		return
	}
	if c == nil {
		c = d.newCall(f)
	} else if f.more && len(c.first) > 0 {
		before := len(c.first)
		c.learn(f.whole)
		d.held.Grow(&c.size, len(c.first)-before)
	}
	d.held.Grow(&c.size, len(f.args))
	if c.id == "" {
		c.id = raw.Unquote(f.id)
	}
	if len(c.name) <= len(`""`) && raw.IsString(f.name) {
		c.name = append([]byte(nil), f.name...)
	}
	if !c.begun && len(c.name) > len(`""`) {
		d.beginCall(c)
	}
	switch {
	case raw.IsNone(f.args):
	case raw.IsString(f.args):
		text := c.args.add(f.args)
		if c.begun {
			d.delta(c.index, llm.DeltaArgs, text)
		}
	default: // some servers send the arguments themselves, at once
		text := c.args.addText(string(f.args))
		if c.begun {
			d.delta(c.index, llm.DeltaArgs, text)
		}
	}
}

// callOf returns the open call that f goes on with; nil if it begins another one. The
// index names it. But some servers give every call the index 0, or none: then an id and
// a name that are new begin a call.
func (d *chatDecoder) callOf(f fragment) *chatCall {
	if len(d.calls) == 0 {
		return nil
	}
	id := raw.Unquote(f.id)
	named := len(f.name) > len(`""`)
	n, ok := raw.Int(f.index)
	if !ok {
		for _, c := range d.calls {
			if id != "" && c.id == id {
				return c
			}
		}
		if named {
			return nil
		}
		return d.calls[len(d.calls)-1]
	}
	for _, c := range slices.Backward(d.calls) {
		if c.key == n {
			if named && id != "" && c.id != "" && c.id != id {
				return nil
			}
			return c
		}
	}
	return nil
}

// late reports whether f only adds white space to a call that has ended, which some
// servers send behind the arguments.
func (d *chatDecoder) late(f fragment) bool {
	n, ok := raw.Int(f.index)
	if d.callCount == 0 || ok && n > d.lastKey || strings.TrimSpace(raw.Unquote(f.args)) != "" {
		return false
	}
	id := raw.Unquote(f.id)
	return len(f.name) <= len(`""`) || id != "" && id == d.lastID
}

// newCall begins a call with its first fragment.
func (d *chatDecoder) newCall(f fragment) *chatCall {
	d.closePart()
	d.closeWhole()
	key, ok := raw.Int(f.index)
	if !ok {
		key = -1
	}
	c := &chatCall{key: key, nth: d.callCount, inner: "function", first: raw.Delete(f.whole, "index")}
	if len(f.index) == 0 {
		c.first = append([]byte(nil), f.whole...)
	}
	if f.custom {
		c.inner = "custom"
	}
	d.held.Begin(&c.size, len(c.first))
	d.callCount++
	d.lastKey, d.lastID = max(d.lastKey, key), raw.Unquote(f.id)
	d.called = true
	d.calls = append(d.calls, c)
	return c
}

// learn takes the members of a later fragment that the first one did not have.
func (c *chatCall) learn(b []byte) {
	for k, v := range raw.Members(b) {
		switch name := string(raw.Name(b[k.Start:k.End])); name {
		case "index", "function", "custom":
		case "id", "type":
			if raw.Unquote(raw.Value(c.first, name)) == "" {
				c.first = raw.Set(c.first, name, raw.Slice(b, v))
			}
		default:
			c.first = raw.Set(c.first, name, raw.Slice(b, v))
		}
	}
}

// beginCall sends the beginning of c, and the arguments that came before its name.
func (d *chatDecoder) beginCall(c *chatCall) {
	c.begun = true
	if c.id == "" {
		c.id = derivedCall(d.id, c.nth)
	}
	c.index = d.open(llm.ToolCall{CallID: c.id, Name: raw.Unquote(c.name), Custom: c.inner == "custom"})
	if !c.args.empty() {
		d.delta(c.index, llm.DeltaArgs, c.args.text())
	}
}

// closeWhole ends the calls whose arguments are whole: nothing can follow.
func (d *chatDecoder) closeWhole() {
	d.calls = slices.DeleteFunc(d.calls, func(c *chatCall) bool {
		if !c.begun || c.inner == "custom" || raw.Check([]byte(c.args.text())) != nil {
			return false
		}
		d.closeCall(c)
		return true
	})
}

// closeCall ends c. Its data is the element that a reply in one piece would have.
func (d *chatDecoder) closeCall(c *chatCall) {
	d.held.End(&c.size)
	if !c.begun {
		d.beginCall(c) // without a name: whoever runs it will say so
	}
	d.delta(c.index, llm.DeltaArgs, c.args.rest())
	field := "arguments"
	if c.inner == "custom" {
		field = "input"
	} else if c.args.empty() {
		d.delta(c.index, llm.DeltaArgs, c.args.addText("{}"))
	}
	lit := c.args.bytes()
	inner := raw.Value(c.first, c.inner)
	if !raw.IsObject(inner) {
		inner = []byte("{}")
	}
	if raw.Unquote(raw.Value(inner, "name")) == "" && len(c.name) > 0 {
		inner = raw.Set(inner, "name", c.name)
	}
	b := raw.Set(c.first, c.inner, raw.Set(inner, field, lit))
	if raw.Unquote(raw.Value(b, "id")) == "" {
		b = raw.Set(b, "id", raw.Quote(c.id))
	}
	d.done(c.index, llm.ToolCall{
		CallID: c.id, Name: raw.Unquote(c.name), Args: raw.Unquote(lit), Custom: c.inner == "custom", Raw: llm.Raw{Data: b},
	})
}
