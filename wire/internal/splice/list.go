package splice

import "github.com/plimsoll-dev/plimsoll/wire/internal/raw"

// Filter returns obj, a checked object, with the elements of the array at a member that
// keep accepts, and how many it does not.
func Filter(obj []byte, member string, keep func(element []byte) bool) (with []byte, cut int) {
	_, at := raw.Member(obj, member)
	value := raw.Slice(obj, at)
	var kept []raw.Element
	spans := raw.Elements(value)
	for i, s := range spans {
		if element := raw.Slice(value, s); keep(element) {
			kept = append(kept, raw.Element{Bytes: element, At: i})
		}
	}
	if len(kept) == len(spans) {
		return obj, 0
	}
	list := []byte("[]")
	if len(kept) > 0 {
		list = raw.NewList(value, spans).With(kept)
	}
	return raw.Replace(obj, at, list), len(spans) - len(kept)
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
	var all [][]byte
	for _, at := range raw.Elements(array) {
		all = append(all, raw.Slice(array, at))
	}
	return all
}
