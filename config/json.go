package config

import (
	"bytes"
	"encoding/json"
	"errors"
)

// readJSON reads a JSON text.
func readJSON(data []byte) (*node, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		at := place{}
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = placeAt(data, int(se.Offset)-1)
		}
		return nil, &problem{at, "JSON: " + err.Error()}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{data: data, dec: dec}
	return r.value(r.next())
}

// A jsonReader reads one text whose syntax has been checked.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
}

// next returns the place of the next token.
func (r *jsonReader) next() place {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return placeAt(r.data, at)
}

func (r *jsonReader) value(at place) (*node, error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, &problem{at, "JSON: " + err.Error()}
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(at)
		}
		return r.list(at)
	case string:
		return &node{kind: text, text: t, at: at}, nil
	case json.Number:
		return &node{kind: number, text: t.String(), at: at}, nil
	case bool:
		return &node{kind: flag, text: flagText(t), at: at}, nil
	}
	return &node{kind: null, at: at}, nil
}

func (r *jsonReader) object(at place) (*node, error) {
	n := &node{kind: object, at: at}
	for r.dec.More() {
		key := r.next()
		t, err := r.dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, &problem{key, "JSON: want a name"}
		}
		if n.get(name) != nil {
			return nil, &problem{key, "JSON: name " + name + " stated before"}
		}
		v, err := r.value(key)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{name, v})
	}
	return n, r.end(n.at)
}

func (r *jsonReader) list(at place) (*node, error) {
	n := &node{kind: list, at: at}
	for r.dec.More() {
		v, err := r.value(r.next())
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
	}
	return n, r.end(n.at)
}

// end reads the closing bracket of what began at at.
func (r *jsonReader) end(at place) error {
	if _, err := r.dec.Token(); err != nil {
		return &problem{at, "JSON: " + err.Error()}
	}
	return nil
}

func flagText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
