package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A cover looks for what was removed. Each entry of an archive is used once, and each
// member of a frame.
type cover struct {
	*reach
	used   []bool
	framed map[frameMember]bool
}

// A frameMember is a member of a message that is kept in a frame.
type frameMember struct {
	frame int
	name  string
}

func newCover(r *reach) *cover {
	return &cover{r, make([]bool, len(r.entries)), map[frameMember]bool{}}
}

// find returns how p can be got at by its bytes or its text, 0 if it cannot.
func (c *cover) find(p *piece) way {
	for _, name := range p.names() {
		for _, i := range c.exact[name] {
			if c.take(i, p) {
				return c.ways[i]
			}
		}
	}
	for _, name := range p.names() {
		w, ok := c.loaded[name]
		if ok && (p.Kind == Result || slices.Contains(c.cited, name) || slices.Contains(c.covering, name)) {
			return w
		}
	}
	return c.inFrame(p)
}

// inFrame finds a member of a message in the bytes around the message's parts.
func (c *cover) inFrame(p *piece) way {
	if p.Kind == Text || first(p.Raw) != '"' {
		return 0
	}
	for i, f := range c.frames {
		if m := (frameMember{i, p.Name}); !c.framed[m] && bytes.Contains(f, p.Raw) {
			c.framed[m] = true
			return c.frameWays[i]
		}
	}
	return 0
}

// take uses entry i for p, if it is free and holds that kind of part.
func (c *cover) take(i int, p *piece) bool {
	e := c.entries[i]
	if c.used[i] || p.Kind == Text && e.reply != (p.role == roleAssistant) {
		return false
	}
	if e.kind != p.class() && !p.Hosted {
		return false
	}
	c.used[i] = true
	return true
}

// similar finds an entry that says what p says in other bytes: sessions whose own
// format is none of the dialects are archived in their format. It is asked after
// find was asked for every part, so that it takes no entry that another part needs.
func (c *cover) similar(p *piece) way {
	atoms := atomsOf(p.Part)
	if len(atoms) == 0 {
		return 0
	}
	if c.leaves == nil {
		c.index()
	}
	longest := slices.MaxFunc(atoms, func(a, b string) int { return len(a) - len(b) })
	for _, i := range c.leaves[sha256.Sum256([]byte(longest))] {
		if hasAll(c.content(i), atoms) && c.take(i, p) {
			return c.ways[i]
		}
	}
	return 0
}

// index notes which entries have which leaves.
func (c *cover) index() {
	c.leaves = map[[32]byte][]int{}
	for i := range c.entries {
		for _, leaf := range leavesOf(c.content(i)) {
			h := sha256.Sum256([]byte(leaf))
			if at := c.leaves[h]; len(at) == 0 || at[len(at)-1] != i {
				c.leaves[h] = append(at, i)
			}
		}
	}
}

// content returns what entry i holds.
func (c *cover) content(i int) []byte {
	if e := c.entries[i]; !e.apart {
		return e.bytes
	}
	return c.stored[c.entries[i].ref]
}

func hasAll(content []byte, atoms []string) bool {
	leaves := leavesOf(content)
	for _, a := range atoms {
		if !slices.Contains(leaves, a) {
			return false
		}
	}
	return true
}

// unsaid are members whose strings say how something is written, not what.
var unsaid = map[string]bool{"type": true, "role": true, "cache_control": true}

// leavesOf returns the strings in b, decoded; b itself if it is no JSON. What a
// call gives to its tool is one leaf, in one spelling.
func leavesOf(b []byte) []string {
	switch {
	case json.Valid(b):
		return (&cursor{b: b}).leaves(nil)
	case json.Valid(slices.Concat([]byte("{"), b, []byte("}"))): // a member
		return (&cursor{b: slices.Concat([]byte("{"), b, []byte("}"))}).leaves(nil)
	}
	return []string{string(b)}
}

// leaves consumes the value at c, which was checked, and appends its leaves. Each byte
// is read once however deep values are nested; the check bounds the depth.
func (c *cursor) leaves(out []string) []string {
	switch c.space() {
	case '"':
		return append(out, unquote(c.pass()))
	case '[':
		for c.i++; c.more(']'); {
			out = c.leaves(out)
		}
	case '{':
		for c.i++; c.more('}'); {
			name := unquote(c.pass())
			_ = c.take(':') // there: b was checked
			c.space()
			switch {
			case isArgs(name):
				out = append(out, canonical(c.pass()))
			case unsaid[name]:
				c.pass()
			default:
				out = c.leaves(out)
			}
		}
	default:
		c.pass()
	}
	return out
}

// isArgs reports whether a member holds what a call gives to its tool.
func isArgs(name string) bool {
	switch name {
	case "arguments", "input", "args", "parameters", "action", "operation":
		return true
	}
	return false
}

// canonical returns JSON in one spelling, or what else is there.
func canonical(v []byte) string {
	s := argsText(v)
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var x any
	if dec.Decode(&x) != nil || dec.More() {
		return s
	}
	b, err := json.Marshal(x)
	if err != nil {
		return s
	}
	return string(b)
}

// atomsOf returns what has to be found to have p again.
func atomsOf(p Part) []string {
	var out []string
	switch {
	case p.Kind == Call && !p.Hosted:
		out = []string{p.CallID, p.Name, canonical(p.Value)}
	case p.Kind == Result && !p.Hosted:
		if out = leavesOf(p.Value); p.Text == "" && none(p.Value) {
			out = []string{p.CallID} // it said nothing
		}
	case plain(p) != nil:
		out = []string{p.Text}
	default:
		out = leavesOf(p.Raw)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// expands reports whether shown says what original says, when each line that names a
// source (stored content, by its Ref) stands for as many lines as it says, which
// occur in the source one after another.
func (c *Checker) expands(shown, original *piece, load Blobs) bool {
	key := [2]*piece{shown, original}
	if ok, known := c.shown[key]; known {
		return ok
	}
	whole, one := oneText(original.Value)
	ok := one && c.expand(strings.Split(shown.Text, "\n"), strings.Split(whole, "\n"), load)
	if ok { // what does not expand may do so once more is stored
		c.shown[key] = ok
	}
	return ok
}

func (c *Checker) expand(shown, whole []string, load Blobs) bool {
	for _, s := range shown {
		if len(whole) > 0 && s == whole[0] {
			whole = whole[1:]
			continue
		}
		n := c.pointed(s, whole, load)
		if n == 0 {
			return false
		}
		whole = whole[n:]
	}
	return len(whole) == 0
}

// pointed returns for how many of the lines the pointer s stands.
func (c *Checker) pointed(s string, lines []string, load Blobs) int {
	for _, ref := range words(s) {
		source, err := c.blob(ref, load)
		if err != nil {
			continue
		}
		text := "\n" + string(source.data) + "\n"
		for _, n := range numbers(strings.ReplaceAll(s, ref, "")) {
			if n > 0 && n <= len(lines) && strings.Contains(text, "\n"+strings.Join(lines[:n], "\n")+"\n") {
				return n
			}
		}
	}
	return 0
}

// numbers returns the numbers in s, without separators.
func numbers(s string) []int {
	var out []int
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return !isDigit(r) }) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}
