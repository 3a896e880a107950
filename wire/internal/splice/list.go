package splice

import "github.com/plimsoll-dev/plimsoll/wire/internal/raw"

// Filter returns obj, a checked object, with what element returns for each element of the
// array at a member, and how many are left out: those for which that is nil.
func Filter(obj []byte, member string, element func(b []byte) []byte) (with []byte, out int) {
	_, at := raw.Member(obj, member)
	if at.Len() == 0 {
		return obj, 0
	}
	value := raw.Slice(obj, at)
	var kept []raw.Element
	spans := raw.Elements(value)
	for i, s := range spans {
		if b := element(raw.Slice(value, s)); b != nil {
			kept = append(kept, raw.Element{Bytes: b, At: i})
		}
	}
	list := raw.NewList(value, spans)
	switch {
	case len(spans) == 0 || list.Same(kept):
		return obj, 0
	case len(kept) == 0:
		return raw.Replace(obj, at, []byte("[]")), len(spans)
	}
	return raw.Replace(obj, at, list.With(kept)), len(spans) - len(kept)
}

// Joined returns the elements of the arrays as one array.
func Joined(arrays ...[]byte) []byte {
	var all [][]byte
	for _, a := range arrays {
		all = append(all, Elements(a)...)
	}
	return raw.Array(all)
}

// Elements returns the elements of an array.
func Elements(array []byte) [][]byte {
	spans := raw.Elements(array)
	if len(spans) == 0 {
		return nil
	}
	all := make([][]byte, len(spans))
	for i, at := range spans {
		all[i] = raw.Slice(array, at)
	}
	return all
}
