package wire

import (
	"cmp"
	"strings"
)

// windowWords and usedWords are what stands before the tokens of the window and of the
// prompt in a message about a prompt that is too long.
var (
	windowWords = []string{
		"maximum context length is ", "maximum context length of ", "maximum context length (", "maximum prompt length is ", "context length is only ",
		"exceed context window of ", "context window of ", "maximum model length of ", "maximum number of tokens allowed (",
		"maximum number of tokens allowed ", "allowed input length of ", "configured limit of ", "exceeds the limit of ", "context size (",
		"context length of only ", "context length of ", "context length (", "too large for model with ", "model token limit: ", "only supports up to ",
		"must be <= ", "length should be [1, ", "tokens > ", "context: ", "exceed context limit: ",
		"while limit is ",
	}
	usedWords = []string{
		"resulted in ", "prompt contains at least ", "prompt contains ", "your request has ", "requested a total of ", "requested about ",
		"you requested ", "you passed ", "prompt is too long: ", "requested tokens (", "(requested: ", "input token count (", "input token count is ",
		"token count of ", "request contains ", "keep the first ", "prompt (length ", "input length (", "input length ", "input (", "request (", "given: ", "maximum output tokens (",
		"current length is ",
	}
)

// figures returns the tokens that the prompt has and those of the window, as a message that
// [plainText] returned states them; 0 for what it does not state. Where it also states the
// output that was asked for, only the prompt counts: "(A in the messages, B in the
// completion)", "A + B > C".
func figures(plain string) (used, window int) {
	if _, sum, ok := strings.Cut(plain, "exceed context limit: "); ok {
		_, limit, _ := strings.Cut(sum, " > ")
		return leadingNumber(sum), leadingNumber(limit)
	}
	window = firstAfter(plain, windowWords)
	if used = inBrackets(plain); used == 0 {
		used = cmp.Or(numberBefore(plain, " tokens from the input"), firstAfter(plain, usedWords))
	}
	if used > 0 && window > 0 {
		return used, window
	}
	return inGeneralFigures(plain, used, window)
}

// inBrackets adds up the prompt's pieces in "(A in the messages, B in the functions, and C
// in the completion)" and "(A of text input, B of tool input, C in the output)".
func inBrackets(plain string) int {
	_, rest, ok := strings.Cut(plain, " tokens (")
	inner, _, closed := strings.Cut(rest, ")")
	if !ok || !closed {
		return 0
	}
	sum := 0
	for piece := range strings.SplitSeq(inner, ",") {
		piece = strings.TrimPrefix(strings.TrimSpace(piece), "and ")
		if strings.Contains(piece, "completion") || strings.Contains(piece, "output") {
			continue
		}
		if strings.Contains(piece, " in the ") || strings.Contains(piece, " of ") || strings.Contains(piece, "prompt") {
			sum += leadingNumber(piece)
		}
	}
	return sum
}

// firstAfter returns the number behind the first of words that has one.
func firstAfter(plain string, words []string) int {
	for _, w := range words {
		if n, rest := numberAndRest(plain, w); n > 0 && !countsOther(rest) {
			return n
		}
	}
	return 0
}

// numberAfter returns the whole number that follows words in a text that [plainText]
// returned; 0 if none does.
func numberAfter(plain, words string) int {
	n, _ := numberAndRest(plain, words)
	return n
}

// numberAndRest returns also what stands behind the number.
func numberAndRest(plain, words string) (int, string) {
	for rest := plain; ; {
		_, after, ok := strings.Cut(rest, words)
		if !ok {
			return 0, ""
		}
		if n := leadingNumber(after); n > 0 && isWhole(plain, len(plain)-len(after)) {
			return n, after[digits(after):]
		}
		rest = after
	}
}

// numberBefore returns the number that stands before words; 0 if none does.
func numberBefore(plain, words string) int {
	before, _, ok := strings.Cut(plain, words)
	at := len(strings.TrimRight(before, "0123456789"))
	if !ok || at == len(before) || !isWhole(plain, at) {
		return 0
	}
	return leadingNumber(before[at:])
}

// plainText returns text in lower case without the commas that stand within numbers.
func plainText(text string) string {
	text = strings.ToLower(text)
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if text[i] == ',' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1]) {
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// leadingNumber returns the number that text begins with; 0 for one that no size can be.
func leadingNumber(text string) int {
	const most = 15 // digits that fit
	n := 0
	for i, c := range []byte(text) {
		if !isDigit(c) {
			break
		}
		if i == most {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
