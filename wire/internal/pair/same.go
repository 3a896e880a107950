package pair

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// Arguments returns the salt of a call's arguments. Clients write them anew when they send
// a call back, so that it is the same for all spellings of one JSON value: white space, the
// order of members, escapes, and numbers that are one float64 (1, 1.0, 1e0), which is all
// that many clients keep of a number. Of members with one name the last counts. A text that
// is not JSON is its own salt.
func Arguments(args []byte) []byte {
	if raw.Check(args) != nil {
		return args
	}
	return binary.BigEndian.AppendUint64(nil, digest(raw.NewCursor(args)))
}

// A member is a member of an object, its value as a digest.
type member struct {
	name  string
	value uint64
}

// digest returns the digest of the value at c. It is made from the digests of the values
// inside, so that the work grows only with the length, however deep they are nested.
func digest(c *raw.Cursor) uint64 {
	switch kind := raw.KindOf(c.Next()); kind {
	case "object":
		var members []member
		c.Object(func(name []byte) {
			key := string(name) // name may lie in the text that the cursor leaves
			members = append(members, member{key, digest(c)})
		})
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
		b := []byte(kind)
		for i, m := range members {
			if i+1 < len(members) && members[i+1].name == m.name {
				continue
			}
			b = append(binary.BigEndian.AppendUint64(b, uint64(len(m.name))), m.name...)
			b = binary.BigEndian.AppendUint64(b, m.value)
		}
		return sum(b)
	case "array":
		b := []byte(kind)
		c.Array(func(int) bool {
			b = binary.BigEndian.AppendUint64(b, digest(c))
			return true
		})
		return sum(b)
	case "string":
		return sum([]byte(kind + raw.Unquote(c.Value())))
	case "number":
		return sum([]byte(kind + number(string(c.Value()))))
	default:
		return sum(c.Value())
	}
}

// number returns the shortest text of the float64 that a number is; of one that is too big
// for that its own text.
func number(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return text
	case f == 0:
		return "0" // also of -0, whose sign many clients lose
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func sum(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // a hash takes everything
	return h.Sum64()
}

// Signature returns the salt of a signature: the bytes that it is base64 of, in either
// alphabet (RFC 4648 sections 4 and 5), with padding or without, because clients read and
// write it in their own way; the text itself if it is no base64.
func Signature(text string) []byte {
	alphabet := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		alphabet = base64.RawURLEncoding
	}
	b, err := alphabet.DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(b) == 0 {
		return []byte(text)
	}
	return b
}
