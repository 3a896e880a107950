package raw

// validText reports whether b is one JSON value (RFC 8259) with white space around it.
// Bytes that are not UTF-8 are let pass inside strings. Text nested deeper than
// MaxDepth is not valid.
func validText(b []byte) bool {
	i := validValue(b, skip(b, 0), 0)
	return i >= 0 && skip(b, i) == len(b)
}

// validValue returns where the value that begins at i ends, or -1 if there is none.
func validValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return validString(b, i)
	case '{':
		return validObject(b, i, depth+1)
	case '[':
		return validArray(b, i, depth+1)
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	}
	return validNumber(b, i)
}

func validObject(b []byte, i, depth int) int {
	i = skip(b, i+1)
	if depth > MaxDepth || i >= len(b) {
		return -1
	}
	if b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return -1
		}
		if i = validString(b, i); i < 0 {
			return -1
		}
		if i = skip(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = validValue(b, skip(b, i+1), depth); i < 0 {
			return -1
		}
		if i = skip(b, i); i >= len(b) {
			return -1
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i = skip(b, i+1)
	}
}

func validArray(b []byte, i, depth int) int {
	i = skip(b, i+1)
	if depth > MaxDepth || i >= len(b) {
		return -1
	}
	if b[i] == ']' {
		return i + 1
	}
	for {
		if i = validValue(b, i, depth); i < 0 {
			return -1
		}
		if i = skip(b, i); i >= len(b) {
			return -1
		}
		if b[i] == ']' {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i = skip(b, i+1)
	}
}

// validString returns where the string that begins at i ends, or -1.
func validString(b []byte, i int) int {
	i++
	if end := quick(b, i); end > 0 {
		return end
	}
	for i+block <= len(b) {
		mask := specials(b, i)
		next := i + block
		for mask != 0 {
			k := first(mask)
			at := i + k
			if b[at] != '\\' {
				return closing(b, at)
			}
			n := 2
			if at+1 >= len(b) || plain[b[at+1]] == 0 {
				if n = validEscape(b[at:]); n == 0 {
					return -1
				}
			}
			mask = without(mask, k+1)
			next = max(next, at+n)
		}
		i = next
	}
	return validTail(b, i)
}

// closing returns the place behind the quote at i; -1 if another byte is there.
func closing(b []byte, i int) int {
	if b[i] == '"' {
		return i + 1
	}
	return -1
}

// validTail is validString from i on, for what fills no block.
func validTail(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c != '\\':
			i++
		default:
			n := validEscape(b[i:])
			if n == 0 {
				return -1
			}
			i += n
		}
	}
	return -1
}

// validEscape returns the length of the escape that b begins with, or 0.
func validEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func literal(b []byte, i int, text string) int {
	if end := i + len(text); end <= len(b) && string(b[i:end]) == text {
		return end
	}
	return -1
}

// validNumber returns where the number that begins at i ends, or -1.
func validNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return -1
		}
	}
	return i
}

// digits returns the place of the first byte at or after i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}
