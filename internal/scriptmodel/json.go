package scriptmodel

import (
	"bytes"
	"encoding/json"
)

// rawJSON is JSON that is a value of an [object] as it stands.
type rawJSON string

// object returns a JSON object of names and values in turn: texts, whole numbers, booleans,
// rawJSON, bytes that are JSON, lists of them, or nil.
func object(pairs ...any) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(value(pairs[i]))
		b.WriteByte(':')
		b.Write(value(pairs[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes()
}

func value(v any) []byte {
	switch v := v.(type) {
	case rawJSON:
		return []byte(v)
	case []byte:
		return v
	case [][]byte:
		return append(append([]byte("["), bytes.Join(v, []byte(","))...), ']')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null") // of the kinds above none fails
	}
	return bytes.TrimSpace(b.Bytes())
}
