package deferral

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words calls yield for each word of a text, in lower case: letters or figures in a row, and
// of a name in which an upper-case letter begins a word (camelCase) each of its words.
func words(text string, yield func(word string)) {
	from, last := -1, rune(0)
	end := func(at int) {
		if from >= 0 {
			yield(strings.ToLower(text[from:at]))
		}
		from = -1
	}
	for at, r := range text {
		switch letter := unicode.IsLetter(r); {
		case !letter && !unicode.IsDigit(r):
			end(at)
		case from < 0:
			from = at
		case unicode.IsUpper(r) && unicode.IsLower(last), letter != unicode.IsLetter(last):
			end(at)
			from = at
		}
		last = r
	}
	end(len(text))
}

// wordsOf returns the words of a text.
func wordsOf(text string) (out []string) {
	words(text, func(w string) { out = append(out, w) })
	return out
}

// firstSentence splits a text behind its first sentence, or its first line.
func firstSentence(text string) (first, rest string) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n' && i > 0:
			return text[:i], text[i:]
		case text[i] == '.' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && i > 2 && !isInitial(text[:i]):
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// isInitial reports whether a text ends in an abbreviation, as "e.g" does.
func isInitial(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-size])
	return unicode.IsLetter(r) && !unicode.IsLetter(before)
}

// glue are words that say nothing about what is wanted.
var glue = set(`a about again all also am an and any are as at be been but by can could do does done each for from get give had has have
	how i if in into is it its itself just let like make may me more most must my need no not of on one onto only or other our out
	please shall she should so some such than that the their them then there these they this those to too up us use used using
	very via want was we were when where while who whom whose why will with would you your`)

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// meaning returns those of words that say something.
func meaning(words []string) (out []string) {
	for _, w := range words {
		if !glue[w] {
			out = append(out, w)
		}
	}
	return out
}

// asking are words that ask, where a query begins with them.
var asking = set("how what when where which who whose")

// asks reports whether words are a question.
func asks(words []string) bool { return len(words) > 0 && asking[words[0]] }
