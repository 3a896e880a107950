package journal

import "unicode/utf8"

// odd holds the values of an object that are no UTF-8, by their keys.
// encoding/json writes it in the order of the keys, base64.
type odd map[string][]byte

// put returns what to write for s under key.
func (o *odd) put(key, s string) string {
	if utf8.ValidString(s) {
		return s
	}
	o.keep(key, []byte(s))
	return ""
}

// get returns what was given to put.
func (o odd) get(key, s string) string {
	if b, ok := o[key]; ok {
		return string(b)
	}
	return s
}

// putBytes is put for bytes that may be missing.
func (o *odd) putBytes(key string, b []byte) *string {
	switch {
	case b == nil:
		return nil
	case utf8.Valid(b):
		s := string(b)
		return &s
	}
	o.keep(key, b)
	return nil
}

// getBytes returns what was given to putBytes.
func (o odd) getBytes(key string, s *string) []byte {
	switch b, ok := o[key]; {
	case ok:
		return b
	case s == nil:
		return nil
	}
	return []byte(*s)
}

func (o *odd) keep(key string, b []byte) {
	if *o == nil {
		*o = odd{}
	}
	(*o)[key] = b
}
