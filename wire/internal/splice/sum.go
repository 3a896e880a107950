package splice

import (
	"bytes"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// Sum returns the sum of two figures of usage, checked JSON: of numbers and, member by
// member, of objects. Lists are joined; elements that have the same text in the member
// key are summed. Of anything else b counts, a if b says nothing.
func Sum(a, b []byte, key string) []byte {
	switch {
	case raw.IsNone(b):
		return a
	case raw.IsNone(a):
		return b
	case raw.IsObject(a) && raw.IsObject(b):
		return sumObjects(a, b, key)
	case raw.IsArray(a) && raw.IsArray(b):
		return sumLists(a, b, key)
	case raw.Number(a) != "" && raw.Number(b) != "":
		return sumNumbers(a, b)
	}
	return b
}

func sumObjects(a, b []byte, key string) []byte {
	for k, v := range raw.Members(b) {
		name := string(raw.Name(raw.Slice(b, k)))
		a = raw.Set(a, name, Sum(raw.Value(a, name), raw.Slice(b, v), key))
	}
	return a
}

func sumLists(a, b []byte, key string) []byte {
	var all [][]byte
	for _, at := range raw.Elements(a) {
		all = append(all, raw.Slice(a, at))
	}
	for _, at := range raw.Elements(b) {
		element := raw.Slice(b, at)
		name := raw.Value(element, key)
		i := 0
		for i < len(all) && !(raw.IsString(name) && bytes.Equal(raw.Value(all[i], key), name)) {
			i++
		}
		if i == len(all) {
			all = append(all, element)
			continue
		}
		all[i] = Sum(all[i], element, key)
	}
	return raw.Array(all)
}

// sumNumbers adds whole numbers exactly, others as well as a reader would.
func sumNumbers(a, b []byte) []byte {
	x, errX := strconv.ParseInt(string(a), 10, 64)
	y, errY := strconv.ParseInt(string(b), 10, 64)
	if sum := x + y; errX == nil && errY == nil && (sum >= x) == (y >= 0) {
		return strconv.AppendInt(nil, sum, 10)
	}
	f, errF := strconv.ParseFloat(string(a), 64)
	g, errG := strconv.ParseFloat(string(b), 64)
	if errF != nil || errG != nil {
		return b
	}
	return strconv.AppendFloat(nil, f+g, 'g', -1, 64)
}
