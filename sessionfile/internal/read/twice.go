package read

import "bytes"

// Bounds on the search for keys that stand twice: an object of a client has some thirty
// keys, and a message is at most one object deep in its line. A report of usage may stand
// deeper, and so may what holds it.
const (
	maxKeys     = 40
	keyLevels   = 2
	usageLevels = 6
)

// A key is where a key of an object stands, with its quotes.
type key struct{ at, size uint32 }

// A keyed checks a line that is an object, and looks for a key that hides another one.
type keyed struct {
	b        []byte
	suspects []int // objects with a key that stands twice
}

// checkLine is check for a line. It also returns a key of the line's object, or of one in
// it, that stands there twice with different values: a reader takes only one of them.
func checkLine(b []byte) (end int, twice []byte) {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '{' {
		return check(b), nil
	}
	k := keyed{b: b}
	if i = k.object(i, 1); i < 0 {
		return i, nil
	}
	if i = skipSpace(b, i); i < len(b) {
		return invalid, nil
	}
	return i, k.differ()
}

// object reads the object that starts at i, as checkComposite does.
func (k *keyed) object(i, depth int) int {
	var held [maxKeys]key
	n, b, start := 0, k.b, i
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return invalid
		}
		at := i
		if i = checkString(b, i); i < 0 {
			return i
		}
		name := b[at:i]
		if n < maxKeys {
			held[n] = key{uint32(at), uint32(i - at)} // a line is shorter than 4 GiB
			k.compare(held[:n], held[n], start)
			n++
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return invalid
		}
		if i = k.value(skipSpace(b, i+1), depth, name); i < 0 {
			return i
		}
		if i = skipSpace(b, i); i >= len(b) {
			return invalid
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return invalid
		}
		i = skipSpace(b, i+1)
	}
}

// value reads the value that starts at i, under a key.
func (k *keyed) value(i, depth int, key []byte) int {
	if i < len(k.b) && k.b[i] == '{' && (depth < keyLevels || depth < usageLevels && isUsage(key)) {
		return k.object(i, depth+1)
	}
	return checkValue(k.b, i, depth)
}

// isUsage reports whether a key is that of a report of usage, or of what holds one.
func isUsage(key []byte) bool {
	return bytes.HasSuffix(key, []byte(`usage"`)) || string(key) == `"info"`
}

// compare looks for a key of the object at start among those before it.
func (k *keyed) compare(before []key, c key, start int) {
	for _, o := range before {
		if o.size == c.size && bytes.Equal(k.text(o), k.text(c)) && !k.known(start) {
			k.suspects = append(k.suspects, start)
		}
	}
}

func (k *keyed) text(c key) []byte { return k.b[c.at : c.at+c.size] }

func (k *keyed) known(start int) bool {
	return len(k.suspects) > 0 && k.suspects[len(k.suspects)-1] == start
}

// differ returns the first key of the suspects that stands twice with different values.
func (k *keyed) differ() (twice []byte) {
	for _, start := range k.suspects {
		values := map[string][]byte{}
		EachField(k.b[start:], func(key, value []byte) {
			if was, ok := values[string(key)]; ok && twice == nil && !bytes.Equal(was, value) {
				twice = key
			}
			values[string(key)] = value
		})
	}
	return twice
}
