package tokenizers

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// translate turns a pattern written for Oniguruma (Ruby syntax, UTF-8), which the original uses, into one that means the
// same to regexp2. Its fault names what does not mean the same, or would need more than a look to say so: word
// characters and borders (other sets of characters), line anchors (of every line there), intersections and nested sets,
// possessive quantifiers, and escapes that only one of the two has.
func translate(expr string) (out, fault string) {
	t := translator{rest: expr}
	for t.rest != "" && t.fault == "" {
		t.step()
	}
	return t.out.String(), t.fault
}

type translator struct {
	rest  string
	out   strings.Builder
	class bool   // inside [...]
	fold  []bool // by open group: case does not matter
	after bool   // the last thing was a quantifier
	last  byte   // the last thing if it was a literal ASCII letter, in lower case
	fault string
}

// folding reports whether case does not matter here.
func (t *translator) folding() bool { return len(t.fold) > 0 && t.fold[len(t.fold)-1] }

// take moves n bytes to the output.
func (t *translator) take(n int) {
	t.out.WriteString(t.rest[:n])
	t.rest = t.rest[n:]
}

func (t *translator) step() {
	quantifier, last := false, t.last
	t.last = 0
	switch c := t.rest[0]; {
	case c == '\\':
		t.escape()
	case t.class:
		t.inClass(c)
	case c == '[':
		t.openClass()
	case c == '(':
		t.open()
	case c == ')':
		if len(t.fold) > 0 {
			t.fold = t.fold[:len(t.fold)-1]
		}
		t.take(1)
	case c == '^' || c == '$':
		t.fault = fmt.Sprintf("the anchor %c", c)
	case c == '+' && t.after:
		t.fault = "a possessive quantifier"
	case c == '*' || c == '+' || c == '?' && !t.after:
		quantifier = true
		t.take(1)
	case c == '{':
		quantifier = true
		t.repeat()
	default:
		t.literal(last)
	}
	t.after = quantifier
}

// repeat takes {n}, {n,} or {n,m}; other braces differ between the engines.
func (t *translator) repeat() {
	end := strings.IndexByte(t.rest, '}')
	if end < 2 || strings.Trim(t.rest[1:end], "0123456789,") != "" || t.rest[1] == ',' {
		t.fault = "a brace that is no repetition"
		return
	}
	if exact := !strings.Contains(t.rest[:end], ","); exact && strings.HasPrefix(t.rest[end+1:], "?") {
		t.fault = "an exact repetition with a question mark" // optional to one, lazy to the other
		return
	}
	t.take(end + 1)
}

// literal takes one character; before is the one before it, if that was a literal too. Where case does not matter, s is also U+017F and k also U+212A: so Unicode folds them
// (CaseFolding.txt), and regexp2 does not.
func (t *translator) literal(before byte) {
	_, n := utf8.DecodeRuneInString(t.rest)
	t.last = t.rest[0] | 0x20
	if t.folding() {
		switch string([]byte{before, t.last}) { // one letter in the original: \u00DF and ligatures
		case "ss", "ff", "fi", "fl", "st":
			t.fault = "letters that fold into one where case does not matter"
			return
		}
		switch t.last {
		case 's':
			t.out.WriteString("[s\u017F]")
			t.rest = t.rest[1:]
			return
		case 'k':
			t.out.WriteString("[k\u212A]")
			t.rest = t.rest[1:]
			return
		}
		if n > 1 {
			t.fault = "a character beyond ASCII where case does not matter"
			return
		}
	}
	t.take(n)
}

// escape takes a backslash and what it escapes.
func (t *translator) escape() {
	if len(t.rest) < 2 {
		t.fault = "a backslash at the end"
		return
	}
	switch c := t.rest[1]; {
	case strings.IndexByte("pP", c) >= 0:
		t.property()
	case strings.IndexByte("sSdDrntfv", c) >= 0 && (c != 'v' || t.class):
		t.take(2)
	case c < 0x80 && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
		t.take(2)
	default:
		t.fault = "the escape " + t.rest[:2]
	}
}

// properties are the names of \p{...} that mean the same to both: general categories but those of unassigned code points,
// and the script of Chinese characters.
const properties = " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Han "

// property takes \p{...} or \P{...}.
func (t *translator) property() {
	end := strings.IndexByte(t.rest, '}')
	if end < 4 || t.rest[2] != '{' || !strings.Contains(properties, " "+t.rest[3:end]+" ") {
		t.fault = fmt.Sprintf("the property %.20q", t.rest)
		return
	}
	if t.folding() {
		t.fault = "a property where case does not matter"
		return
	}
	t.take(end + 1)
}

// openClass takes [ or [^ and a ] that stands first, which the engines read differently, is a fault.
func (t *translator) openClass() {
	if t.folding() {
		t.fault = "a set where case does not matter"
		return
	}
	t.class = true
	n := 1
	if strings.HasPrefix(t.rest, "[^") {
		n = 2
	}
	if strings.HasPrefix(t.rest[n:], "]") {
		t.fault = "an empty set"
	}
	t.take(n)
}

func (t *translator) inClass(c byte) {
	switch {
	case c == ']':
		t.class = false
		t.take(1)
	case c == '[':
		t.fault = "a set inside a set"
	case strings.HasPrefix(t.rest, "&&"):
		t.fault = "an intersection of sets"
	default:
		_, n := utf8.DecodeRuneInString(t.rest)
		t.take(n)
	}
}

// open takes the beginning of a group: plain, without capture, with look-around, atomic, or without regard to case.
func (t *translator) open() {
	for _, kind := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"} {
		if strings.HasPrefix(t.rest, kind) {
			t.fold = append(t.fold, t.folding())
			t.take(len(kind))
			return
		}
	}
	switch {
	case strings.HasPrefix(t.rest, "(?i:"):
		t.fold = append(t.fold, true)
		t.take(4)
	case strings.HasPrefix(t.rest, "(?"):
		t.fault = fmt.Sprintf("the group %.4q", t.rest)
	default:
		t.fold = append(t.fold, t.folding())
		t.take(1)
	}
}
