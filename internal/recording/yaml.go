package recording

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// members returns the keys and values of a mapping, in their order; none of any other node.
func members(node ast.Node) iter.Seq2[ast.Node, ast.Node] {
	return func(yield func(ast.Node, ast.Node) bool) {
		m, ok := node.(*ast.MappingNode)
		if !ok {
			return
		}
		for _, v := range m.Values {
			if !yield(v.Key, v.Value) {
				return
			}
		}
	}
}

// member returns the value of a key of a mapping, or nil.
func member(node ast.Node, name string) ast.Node {
	for key, value := range members(node) {
		if str(key) == name {
			return value
		}
	}
	return nil
}

// str returns the text of a scalar, and nothing of any other node.
func str(node ast.Node) string {
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return ""
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case ast.ScalarNode:
		return n.GetToken().Value
	}
	return ""
}

// content returns the bytes of a scalar, which may be in base64.
func content(node ast.Node) ([]byte, error) {
	tag, ok := node.(*ast.TagNode)
	if !ok {
		return []byte(str(node)), nil
	}
	if tag.Start.Value != "!!binary" {
		return nil, fmt.Errorf("body, want text or !!binary, got %s", tag.Start.Value)
	}
	text := strings.Join(strings.Fields(str(tag.Value)), "")
	return base64.StdEncoding.DecodeString(text)
}

// appendJSON writes a YAML value as JSON: members in their order, numbers as they are spelled.
func appendJSON(dst []byte, node ast.Node) ([]byte, error) {
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return append(dst, "null"...), nil
	case *ast.BoolNode:
		return fmt.Appendf(dst, "%t", n.Value), nil
	case *ast.IntegerNode:
		return appendNumber(dst, n.Token.Value)
	case *ast.FloatNode:
		// The cassettes are YAML 1.1, where a number without a point is no float.
		if !strings.Contains(n.Token.Value, ".") {
			return appendString(dst, n.Token.Value)
		}
		return appendNumber(dst, n.Token.Value)
	case *ast.StringNode, *ast.LiteralNode:
		return appendString(dst, str(n))
	case *ast.SequenceNode:
		return appendList(dst, n)
	case *ast.MappingNode:
		return appendObject(dst, n)
	}
	return nil, fmt.Errorf("parsed body, want a plain value, got a %s", node.Type())
}

func appendNumber(dst []byte, text string) ([]byte, error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("parsed body, want a number as in JSON, got %q", text)
	}
	return append(dst, text...), nil
}

func appendString(dst []byte, text string) ([]byte, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return nil, err
	}
	return append(dst, strings.TrimSuffix(out.String(), "\n")...), nil
}

func appendList(dst []byte, n *ast.SequenceNode) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i, v := range n.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, v); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, n *ast.MappingNode) ([]byte, error) {
	dst = append(dst, '{')
	for i, v := range n.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendString(dst, str(v.Key)); err != nil {
			return nil, err
		}
		if dst, err = appendJSON(append(dst, ':'), v.Value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
