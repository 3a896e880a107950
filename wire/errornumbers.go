package wire

import (
	"slices"
	"strings"
)

// leastSize is the smallest number that can be a size: smaller ones are counts and codes.
const leastSize = 256

// A role is what a number in a message is.
type role uint8

const (
	noRole     role = iota // an id, a date, a difference
	usedRole               // tokens of the prompt
	windowRole             // tokens of the window
	outputRole             // tokens of the output that was asked for
)

// The words that tell a number's role where they stand before it, in its own clause and with
// none but those of between: a number that stands elsewhere has none.
var (
	windowNear = strings.Fields("max maximum limit limited exceed exceeds exceeding than > >= <= window n_ctx n_ctx_slot allows accepts supports")
	usedNear   = strings.Fields("n_keep n_prompt_tokens given received requested passed sent got has have contains current actual used your long large")
	outputNear = strings.Fields("output outputs completion completions generate generated new reply response max_tokens max_new_tokens max_completion_tokens")
	unitNear   = strings.Fields("token tokens length prompt input inputs count conversation")
	between    = strings.Fields("is are was of the only to for this model model's a an context size number allowed total and value at up be about")
	// otherUnits are what a number counts that counts no tokens of the prompt.
	otherUnits = strings.Fields("output completion completions generate generated new per words fewer characters bytes images pages files seconds")
)

// inGeneralFigures adds to used and window what the words around the other numbers tell, if
// they tell it of one number only. What was used of a window is more than the window, by
// itself or with the output that was asked for.
func inGeneralFigures(plain string, used, window int) (int, int) {
	var found [outputRole + 1][]int
	last := 0 // behind the number before
	for i := 0; i < len(plain); i++ {
		if !isDigit(plain[i]) || i > 0 && isDigit(plain[i-1]) {
			continue
		}
		n := leadingNumber(plain[i:])
		if n < leastSize || !isWhole(plain, i) {
			continue
		}
		end := i + digits(plain[i:])
		r := roleOf(plain[last:i], plain[end:])
		if len(found[r]) < 2 && !slices.Contains(found[r], n) {
			found[r] = append(found[r], n)
		}
		last = end
	}
	u, w := used, window
	if used == 0 && len(found[usedRole]) == 1 {
		u = found[usedRole][0]
	}
	if window == 0 && len(found[windowRole]) == 1 {
		w = found[windowRole][0]
	}
	sum := u
	if len(found[outputRole]) == 1 {
		sum += found[outputRole][0]
	}
	if u > 0 && w > 0 && sum <= w || (u == 0 || w == 0) && !strings.Contains(plain, "token") {
		return used, window // a number alone may be of anything, or a code
	}
	return u, w
}

// roleOf tells what a number is that stands between before and after.
func roleOf(before, after string) role {
	if countsOther(after) {
		return noRole
	}
	if strings.HasPrefix(strings.TrimPrefix(strings.TrimLeft(after, ") "), "tokens "), ">") {
		return usedRole
	}
	return roleBehind(strings.Fields(strings.ReplaceAll(before, "=", " ")))
}

// countsOther reports whether the number before after counts no tokens of the prompt.
func countsOther(after string) bool {
	const near, most = 60, 4 // bytes, words
	next := strings.Fields(after[:min(len(after), near)])
	for _, word := range next[:min(len(next), most)] {
		if slices.Contains(otherUnits, strings.Trim(word, quoting)) {
			return true
		}
		if endsClause(word) {
			break
		}
	}
	return false
}

// roleBehind goes from the number back through the words before it.
func roleBehind(words []string) role {
	found := noRole
	for _, word := range slices.Backward(words) {
		if endsClause(word) {
			break
		}
		word = strings.Trim(word, quoting)
		switch {
		case word == "" || slices.Contains(between, word):
		case slices.Contains(outputNear, word):
			return outputRole
		case found != windowRole && slices.Contains(usedNear, word):
			return usedRole
		case slices.Contains(windowNear, word):
			found = windowRole
		case slices.Contains(unitNear, word):
			found = max(found, usedRole)
		default:
			return found
		}
	}
	return found
}

// quoting is what may stand around a word.
const quoting = "()[]{}`'\":,.;"

func endsClause(word string) bool {
	return strings.ContainsRune(",.;", rune(word[len(word)-1]))
}

// isWhole reports whether the number at an index of text is a word of its own: no piece of
// an id, a date, a fraction, a version or a name.
func isWhole(text string, at int) bool {
	if at > 0 && !strings.ContainsRune(" \n\t([`'\"<>=~,", rune(text[at-1])) {
		return false
	}
	rest := text[at+digits(text[at:]):]
	switch {
	case rest == "":
		return true
	case rest[0] == '.' || rest[0] == ',' || rest[0] == ':':
		return len(rest) == 1 || !isDigit(rest[1])
	}
	return strings.IndexByte(" \n\t)]`'\"<>=;+!?\\", rest[0]) >= 0
}

// digits returns how many digits text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}
