package deferral

import "strings"

// stem takes an English word back to its stem: the algorithm of M. F. Porter (An algorithm
// for suffix stripping, Program 14/3, 1980). A word with other than lower-case letters of
// English, or of two letters, is its own stem.
func stem(word string) string {
	if len(word) < 3 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	w := plural(word)
	w = past(w)
	if strings.HasSuffix(w, "y") && hasVowel(w[:len(w)-1]) {
		w = w[:len(w)-1] + "i"
	}
	w = longest(w, suffixes2, 0)
	w = longest(w, suffixes3, 0)
	w = residual(w)
	if strings.HasSuffix(w, "e") {
		if s := w[:len(w)-1]; measure(s) > 1 || measure(s) == 1 && !endsShort(s) {
			w = s
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// A stemmer has the stems of words that it has met.
type stemmer map[string]string

// of returns the stem of a word.
func (m stemmer) of(word string) string {
	s, ok := m[word]
	if !ok {
		s = stem(word)
		m[word] = s
	}
	return s
}

// all returns the stems of words.
func (m stemmer) all(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = m.of(w)
	}
	return out
}

// plural is step 1a.
func plural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

// past is step 1b: what ends a past tense or a gerund.
func past(w string) string {
	if s, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(s) > 0 {
			return s + "ee"
		}
		return w
	}
	s, ok := strings.CutSuffix(w, "ed")
	if !ok || !hasVowel(s) {
		if s, ok = strings.CutSuffix(w, "ing"); !ok || !hasVowel(s) {
			return w
		}
	}
	switch {
	case strings.HasSuffix(s, "at"), strings.HasSuffix(s, "bl"), strings.HasSuffix(s, "iz"):
		return s + "e"
	case isDouble(s) && !strings.HasSuffix(s, "l") && !strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "z"):
		return s[:len(s)-1]
	case measure(s) == 1 && endsShort(s):
		return s + "e"
	}
	return s
}

// A suffix and what takes its place, of steps 2 and 3.
type suffix struct{ end, instead string }

var suffixes2 = []suffix{
	{"ational", "ate"},
	{"ization", "ize"},
	{"iveness", "ive"},
	{"fulness", "ful"},
	{"ousness", "ous"},
	{"tional", "tion"},
	{"biliti", "ble"},
	{"entli", "ent"},
	{"ousli", "ous"},
	{"ation", "ate"},
	{"alism", "al"},
	{"aliti", "al"},
	{"iviti", "ive"},
	{"enci", "ence"},
	{"anci", "ance"},
	{"izer", "ize"},
	{"abli", "able"},
	{"alli", "al"},
	{"ator", "ate"},
	{"eli", "e"},
}

var suffixes3 = []suffix{
	{"icate", "ic"},
	{"ative", ""},
	{"alize", "al"},
	{"iciti", "ic"},
	{"ical", "ic"},
	{"ness", ""},
	{"ful", ""},
}

// suffixes4 are those of step 4, which go.
var suffixes4 = strings.Fields("ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou")

// longest replaces the first of the suffixes that a word has, if its measure without it is
// more than least.
func longest(w string, all []suffix, least int) string {
	for _, s := range all {
		if rest, ok := strings.CutSuffix(w, s.end); ok {
			if measure(rest) > least {
				return rest + s.instead
			}
			return w
		}
	}
	return w
}

// residual is step 4.
func residual(w string) string {
	for _, end := range suffixes4 {
		rest, ok := strings.CutSuffix(w, end)
		if !ok {
			continue
		}
		if measure(rest) > 1 && (end != "ion" || strings.HasSuffix(rest, "s") || strings.HasSuffix(rest, "t")) {
			return rest
		}
		return w
	}
	return w
}

// isVowel reports whether a letter of a word is one; y is, behind a consonant.
func isVowel(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !isVowel(w, i-1)
	}
	return false
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if isVowel(w, i) {
			return true
		}
	}
	return false
}

// measure counts how often a vowel is followed by a consonant.
func measure(w string) (n int) {
	for i := 1; i < len(w); i++ {
		if isVowel(w, i-1) && !isVowel(w, i) {
			n++
		}
	}
	return n
}

func isDouble(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && !isVowel(w, n-1)
}

// endsShort reports whether a word ends consonant, vowel, consonant, of which the last is not
// w, x or y.
func endsShort(w string) bool {
	n := len(w)
	return n > 2 && !isVowel(w, n-3) && isVowel(w, n-2) && !isVowel(w, n-1) && !strings.ContainsAny(w[n-1:], "wxy")
}
