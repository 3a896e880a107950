package config

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML reads a TOML document. It is read twice: by the decoder, which knows
// all rules of the language, and then by its parser, which keeps the digits of
// numbers and says where things stand.
func readTOML(data []byte) (*node, error) {
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		at := place{}
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			at.line, at.column = de.Position()
		}
		return nil, &problem{at, "TOML: " + err.Error()}
	}
	r := tomlReader{root: &node{kind: object}}
	r.p.Reset(data)
	r.table = r.root
	for r.p.NextExpression() {
		if err := r.expression(r.p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := r.p.Error(); err != nil {
		return nil, &problem{place{}, "TOML: " + err.Error()}
	}
	return r.root, nil
}

// A tomlReader builds the tree of one document.
type tomlReader struct {
	p           unstable.Parser
	root, table *node // table: the one whose header came last
}

func (r *tomlReader) expression(n *unstable.Node) error {
	var err error
	switch n.Kind {
	case unstable.KeyValue:
		err = r.keyValue(r.table, n)
	case unstable.Table, unstable.ArrayTable:
		r.table, err = r.header(n.Key(), n.Kind == unstable.ArrayTable)
	}
	return err
}

// header returns the table that a header opens.
func (r *tomlReader) header(keys unstable.Iterator, array bool) (*node, error) {
	at := r.root
	for keys.Next() {
		key := keys.Node()
		if !array || !keys.IsLast() {
			next, err := r.step(at, key)
			if err != nil {
				return nil, err
			}
			at = next
			continue
		}
		items := at.get(string(key.Data))
		if items == nil {
			items = &node{kind: list, at: r.place(key)}
			at.set(string(key.Data), items)
		}
		at = &node{kind: object, at: r.place(key)}
		items.items = append(items.items, at)
	}
	return at, nil
}

// step goes from a table to the one that key names in it; of an array of tables
// that is the last.
func (r *tomlReader) step(from *node, key *unstable.Node) (*node, error) {
	next := from.get(string(key.Data))
	if next == nil {
		next = &node{kind: object, at: r.place(key)}
		from.set(string(key.Data), next)
	}
	if next.kind == list && len(next.items) > 0 {
		next = next.items[len(next.items)-1]
	}
	if next.kind != object {
		return nil, &problem{r.place(key), fmt.Sprintf("TOML: %s is no table", key.Data)}
	}
	return next, nil
}

// keyValue puts a value into a table, below the tables of a dotted name.
func (r *tomlReader) keyValue(table *node, n *unstable.Node) error {
	keys := n.Key()
	for keys.Next() {
		key := keys.Node()
		if !keys.IsLast() {
			next, err := r.step(table, key)
			if err != nil {
				return err
			}
			table = next
			continue
		}
		value, err := r.value(n.Value(), r.place(key))
		if err != nil {
			return err
		}
		table.set(string(key.Data), value)
	}
	return nil
}

func (r *tomlReader) value(n *unstable.Node, at place) (*node, error) {
	switch n.Kind {
	case unstable.String:
		return &node{kind: text, text: string(n.Data), at: at}, nil
	case unstable.Integer, unstable.Float:
		return &node{kind: number, text: string(n.Data), at: at}, nil
	case unstable.Bool:
		return &node{kind: flag, text: string(n.Data), at: at}, nil
	case unstable.InlineTable:
		out := &node{kind: object, at: at}
		members := n.Children()
		for members.Next() {
			if err := r.keyValue(out, members.Node()); err != nil {
				return nil, err
			}
		}
		return out, nil
	case unstable.Array:
		return r.list(n, at)
	}
	return nil, &problem{at, fmt.Sprintf("TOML: want text, a number, true or false, a list or a table, got %s", n.Kind)}
}

func (r *tomlReader) list(n *unstable.Node, at place) (*node, error) {
	out := &node{kind: list, at: at}
	items := n.Children()
	for items.Next() {
		item := items.Node()
		where := at
		if item.Raw.Length > 0 {
			where = r.place(item)
		}
		value, err := r.value(item, where)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, value)
	}
	return out, nil
}

func (r *tomlReader) place(n *unstable.Node) place {
	start := r.p.Shape(n.Raw).Start
	return place{start.Line, start.Column}
}
