package openai

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// mergeMembers returns the members of one message, each name once: of two texts of the
// same name the second goes on with the first, and so with two lists. A stream may have
// cut its thinking in pieces. An entry may itself be several members.
func mergeMembers(entries [][]byte) [][]byte {
	if len(entries) < 2 && !slices.ContainsFunc(entries, severalMembers) {
		return entries
	}
	var names []string
	values := map[string][]byte{}
	for _, entry := range entries {
		whole := append(append([]byte{'{'}, entry...), '}')
		for k, v := range raw.Members(whole) {
			name, value := string(raw.Name(raw.Slice(whole, k))), raw.Slice(whole, v)
			old, there := values[name]
			if !there {
				names = append(names, name)
			}
			values[name] = joinValues(old, value)
		}
	}
	merged := make([][]byte, len(names))
	for i, name := range names {
		merged[i] = memberOfValue(name, values[name])
	}
	return merged
}

func severalMembers(entry []byte) bool {
	n := 0
	for range raw.Members(append(append([]byte{'{'}, entry...), '}')) {
		n++
	}
	return n > 1
}

// joinValues returns a and then b where both are texts or both are lists, else b.
func joinValues(a, b []byte) []byte {
	switch {
	case raw.IsString(a) && raw.IsString(b):
		return slices.Concat(a[:len(a)-1], b[1:])
	case raw.IsArray(a) && raw.IsArray(b):
		var values [][]byte
		for _, list := range [][]byte{a, b} {
			for _, s := range raw.Elements(list) {
				values = append(values, raw.Slice(list, s))
			}
		}
		return raw.Array(values)
	}
	return b
}
