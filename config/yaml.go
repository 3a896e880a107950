package config

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML reads one YAML document. Only what JSON can say as well is accepted.
func readYAML(data []byte) (*node, error) {
	file, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return nil, &problem{placeOf(d.Body.GetToken()), "YAML: want one document, got another"}
		}
		body = d.Body
	}
	if body == nil {
		return &node{kind: object}, nil
	}
	return yamlValue(body, placeOfNode(body, place{}))
}

// parseYAML calls the parser and takes a panic of it as an error of the file: a
// file that it cannot read must not end the program.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, &problem{place{}, fmt.Sprintf("YAML: the parser cannot read this file: %v", r)}
		}
	}()
	file, err = parser.ParseBytes(data, 0)
	if err == nil {
		return file, nil
	}
	if ye, ok := errors.AsType[yaml.Error](err); ok {
		return nil, &problem{placeOf(ye.GetToken()), "YAML: " + ye.GetMessage()}
	}
	return nil, &problem{place{}, "YAML: " + err.Error()}
}

func placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	return place{t.Position.Line, t.Position.Column}
}

// placeOfNode returns where a value begins; at, if it has no place of its own.
func placeOfNode(n ast.Node, at place) place {
	switch n := n.(type) {
	case nil:
		return at
	case *ast.MappingNode:
		if len(n.Values) > 0 { // its own token is the first colon
			return placeOf(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key.GetToken())
	}
	return placeOf(n.GetToken())
}

// yamlValue turns n, which was stated at at, into a node.
func yamlValue(n ast.Node, at place) (*node, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return yamlObject(n.Values, at)
	case *ast.MappingValueNode:
		return yamlObject([]*ast.MappingValueNode{n}, at)
	case *ast.SequenceNode:
		return yamlList(n, at)
	case *ast.StringNode:
		return &node{kind: text, text: n.Value, at: at}, nil
	case *ast.LiteralNode:
		return &node{kind: text, text: n.Value.Value, at: at}, nil
	case *ast.IntegerNode:
		return &node{kind: number, text: n.Token.Value, at: at}, nil
	case *ast.FloatNode:
		return &node{kind: number, text: n.Token.Value, at: at}, nil
	case *ast.BoolNode:
		return &node{kind: flag, text: flagText(n.Value), at: at}, nil
	case nil, *ast.NullNode:
		return &node{kind: null, at: at}, nil
	}
	return nil, &problem{at, fmt.Sprintf("YAML: want a plain value, got %s", n.Type())}
}

func yamlObject(values []*ast.MappingValueNode, at place) (*node, error) {
	out := &node{kind: object, at: at}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return nil, &problem{placeOf(v.Key.GetToken()), "YAML: want a plain name"}
		}
		where := placeOf(key.Token)
		if out.get(key.Value) != nil {
			return nil, &problem{where, fmt.Sprintf("YAML: name %s stated before", key.Value)}
		}
		value, err := yamlValue(v.Value, where)
		if err != nil {
			return nil, err
		}
		out.members = append(out.members, member{key.Value, value})
	}
	return out, nil
}

func yamlList(n *ast.SequenceNode, at place) (*node, error) {
	out := &node{kind: list, at: at}
	for _, item := range n.Values {
		value, err := yamlValue(item, placeOfNode(item, at))
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, value)
	}
	return out, nil
}
