package gemini

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A node is a value of arguments that come in pieces, each with its path. The zero node
// is a value that has not come yet.
type node struct {
	kind nodeKind
	text []byte   // of a leaf: its JSON; of a text: what it says so far
	more bool     // the text goes on
	made int      // of the root: nodes that have been made below it
	keys []string // of an object, in the order in which they came
	kids []node   // of an object or an array
}

type nodeKind uint8

const (
	noNode nodeKind = iota
	leafNode
	textNode
	objectNode
	arrayNode
)

// Bounds on what a path may make: how deep, and how many empty elements before its own.
const (
	maxSteps = 256
	maxGap   = 16
)

// piece takes {"jsonPath", "stringValue" | "numberValue" | "boolValue" | "nullValue",
// "willContinue"} (genai v1.77 PartialArg; paths as in RFC 9535, only names and indexes).
// A piece whose path cannot be followed is left out.
func (n *node) piece(p []byte) {
	v := raw.Values(p, "jsonPath", "stringValue", "numberValue", "boolValue", "nullValue", "willContinue")
	steps, ok := stepsOf(raw.Unquote(v[0]))
	if !ok {
		return
	}
	at := n
	for _, s := range steps {
		before := len(at.kids)
		next := at.child(s)
		n.made += max(len(at.kids)-before, 0)
		if at = next; at == nil {
			return
		}
	}
	switch {
	case v[1] != nil:
		if at.kind != textNode || !at.more {
			*at = node{kind: textNode}
		}
		at.text = append(at.text, raw.Unquote(v[1])...)
		at.more = string(v[5]) == "true"
	case v[2] != nil:
		*at = node{kind: leafNode, text: bytes.Clone(v[2])}
	case v[3] != nil:
		*at = node{kind: leafNode, text: bytes.Clone(v[3])}
	case v[4] != nil:
		*at = node{kind: leafNode, text: []byte("null")}
	}
}

// A step is one step of a path: a name, or an index if the name is empty.
type step struct {
	name  string
	index int
	named bool
}

// child returns the value one step below n, which becomes an object or an array for it;
// nil if the step leaves too big a gap.
func (n *node) child(s step) *node {
	want := arrayNode
	if s.named {
		want = objectNode
	}
	if n.kind != want {
		*n = node{kind: want}
	}
	if !s.named {
		if s.index > len(n.kids)+maxGap {
			return nil
		}
		for len(n.kids) <= s.index {
			n.kids = append(n.kids, node{})
		}
		return &n.kids[s.index]
	}
	for i, k := range n.keys {
		if k == s.name {
			return &n.kids[i]
		}
	}
	n.keys, n.kids = append(n.keys, s.name), append(n.kids, node{})
	return &n.kids[len(n.kids)-1]
}

// append appends the JSON of n. What has not come is null.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case leafNode:
		return append(dst, n.text...)
	case textNode:
		return raw.AppendQuote(dst, string(n.text))
	case arrayNode:
		dst = append(dst, '[')
		for i := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = n.kids[i].append(dst)
		}
		return append(dst, ']')
	case objectNode:
		dst = append(dst, '{')
		for i := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(raw.AppendQuote(dst, n.keys[i]), ':')
			dst = n.kids[i].append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// stepsOf reads a path such as $.a.b[0]['c d']. false if it is another kind of path, or
// one that names the arguments themselves.
func stepsOf(path string) ([]step, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, false
	}
	var steps []step
	for rest != "" && len(steps) < maxSteps {
		var s step
		if s, rest, ok = nextStep(rest); !ok {
			return nil, false
		}
		steps = append(steps, s)
	}
	return steps, rest == "" && len(steps) > 0 && steps[0].named
}

func nextStep(path string) (s step, rest string, ok bool) {
	switch path[0] {
	case '.':
		end := strings.IndexAny(path[1:], ".[")
		if end < 0 {
			end = len(path) - 1
		}
		s = step{name: path[1 : 1+end], named: true}
		return s, path[1+end:], end > 0
	case '[':
		if len(path) > 1 && (path[1] == '\'' || path[1] == '"') {
			return quotedStep(path)
		}
		inner, rest, found := strings.Cut(path[1:], "]")
		n, err := strconv.Atoi(inner)
		return step{index: n}, rest, found && err == nil && n >= 0
	}
	return s, "", false
}

// quotedStep reads ['name'] or ["name"] with backslash escapes.
func quotedStep(path string) (s step, rest string, ok bool) {
	quote := path[1]
	var name strings.Builder
	for i := 2; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			name.WriteByte(path[i])
		case c == quote:
			rest, ok = strings.CutPrefix(path[i+1:], "]")
			return step{name: name.String(), named: true}, rest, ok
		default:
			name.WriteByte(c)
		}
	}
	return s, "", false
}
