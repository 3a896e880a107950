package bpe

// The published patterns, as in tiktoken 0.14 (tiktoken_ext/openai_public.py). The functions below give, for every
// position where a piece starts, the end of the piece that the pattern would match there: its alternatives in their
// order, greedy, with backtracking where the pattern has any. Every function reads a character a bounded number of
// times per piece start, so that splitting is linear.
//
// cl100k_base:
//
//	'(?i:[sdmt]|ll|ve|re)
//	[^\r\n\p{L}\p{N}]?+\p{L}++
//	\p{N}{1,3}+
//	 ?[^\s\p{L}\p{N}]++[\r\n]*+
//	\s++$
//	\s*[\r\n]
//	\s+(?!\S)
//	\s
//
// o200k_base, o200k_harmony:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+

// pattern names the splitter of an encoding.
type pattern uint8

const (
	patternCl100k pattern = iota
	patternO200k
)

// next is cut for any piece, character by character.
func (p pattern) next(b []byte, i int) int {
	if p == patternO200k {
		return nextO200k(b, i)
	}
	return nextCl100k(b, i)
}

func nextCl100k(b []byte, i int) int {
	class, width := classAt(b, i)
	after := i + width
	switch {
	case class&classLetter != 0:
		return skip(b, after, classLetter)
	case class == classNumber:
		return digits(b, after)
	case class == classNewline:
		return blanks(b, i, true)
	}
	if b[i] == '\'' {
		if n := contraction(b, i); n > 0 {
			return i + n
		}
	}
	if after < len(b) {
		follow, w := classAt(b, after)
		if follow&classLetter != 0 {
			return skip(b, after+w, classLetter)
		}
		if b[i] == ' ' && follow&classSymbol != 0 {
			return patternCl100k.symbols(b, after+w)
		}
	}
	if class == classSpace {
		return blanks(b, i, true)
	}
	return patternCl100k.symbols(b, after)
}

func nextO200k(b []byte, i int) int {
	class, width := classAt(b, i)
	after := i + width
	switch {
	case class&classLetter != 0:
		end, _ := word(b, i)
		return suffix(b, end)
	case class == classNumber:
		return digits(b, after)
	case class == classNewline:
		return blanks(b, i, false)
	}
	// What is left can precede a word. A mark is such a prefix and also part of a word, so that the alternatives are
	// tried in this order: first with the mark as prefix, first without, second with.
	end, first := word(b, after)
	switch {
	case class == classMark && !first:
		return suffix(b, after)
	case end > after:
		return suffix(b, end)
	}
	if b[i] == ' ' && after < len(b) {
		if follow, w := classAt(b, after); follow&classSymbol != 0 {
			return patternO200k.symbols(b, after+w)
		}
	}
	if class == classSpace {
		return blanks(b, i, false)
	}
	return patternO200k.symbols(b, after)
}

// word returns the end of the word at b[i] by the first two alternatives of the o200k pattern without their prefix and
// suffix, and whether it was the first; i if there is none.
//
// First alternative: the longest run of head characters, then at least one tail character. If no tail character follows
// the run, it gives characters back until one that is in both sets ends the word.
func word(b []byte, i int) (end int, first bool) {
	head, shared := i, i
	for head < len(b) {
		class, width := ascii[b[head]], 1
		if class == 0 {
			class, width = wideClassAt(b, head)
		}
		if class&classHead == 0 {
			break
		}
		head += width
		if class&classTail != 0 {
			shared = head
		}
	}
	if end = skip(b, head, classTail); end > head {
		return end, true
	}
	if shared > i {
		return shared, true
	}
	return head, false
}

// skip returns the end of the run of characters of the given classes at b[i].
func skip(b []byte, i int, class uint8) int {
	for i < len(b) {
		c, width := ascii[b[i]], 1
		if c == 0 {
			c, width = wideClassAt(b, i)
		}
		if c&class == 0 {
			return i
		}
		i += width
	}
	return i
}

// digits returns the end of a group of at most three numbers whose first ends at b[i].
func digits(b []byte, i int) int {
	for range 2 {
		if i == len(b) {
			return i
		}
		class, width := classAt(b, i)
		if class != classNumber {
			return i
		}
		i += width
	}
	return i
}

// trails reports whether c goes with the symbols before it: newlines, and slashes in the o200k pattern.
func (p pattern) trails(c byte) bool {
	return c == '\n' || c == '\r' || c == '/' && p == patternO200k
}

// symbols returns the end of the run of symbols at b[i] with the newlines and slashes after it.
func (p pattern) symbols(b []byte, i int) int {
	i = skip(b, i, classSymbol)
	for i < len(b) && p.trails(b[i]) {
		i++
	}
	return i
}

// blanks returns the end of the piece of white space at b[i]: up to the last newline of the run if it has one, all of it
// at the end of the text, else all but the last character, which goes with what follows. The cl100k pattern asks for the
// end of the text first (whole), the o200k pattern for newlines.
func blanks(b []byte, i int, whole bool) int {
	end, last, newline := i, i, i
	for end < len(b) {
		class, width := ascii[b[end]], 1
		if class == 0 {
			class, width = wideClassAt(b, end)
		}
		if class&classBlank == 0 {
			break
		}
		last = end
		end += width
		if class == classNewline {
			newline = end
		}
	}
	switch {
	case whole && end == len(b):
		return end
	case newline > i:
		return newline
	case end == len(b) || last == i:
		return end
	default:
		return last
	}
}

// suffix returns the end of the contraction at b[i], or i.
func suffix(b []byte, i int) int {
	if i < len(b) && b[i] == '\'' {
		return i + contraction(b, i)
	}
	return i
}

// contraction returns the length of the contraction that starts at the apostrophe b[i], or 0. Case is folded as Unicode
// does it: ſ (U+017F) is an s.
func contraction(b []byte, i int) int {
	if i+1 == len(b) {
		return 0
	}
	var second byte
	if i+2 < len(b) {
		second = b[i+2]
	}
	switch b[i+1] | 0x20 {
	case 's', 'd', 'm', 't':
		return 2
	case 'l':
		if second|0x20 == 'l' {
			return 3
		}
	case 'v', 'r':
		if second|0x20 == 'e' {
			return 3
		}
	}
	if b[i+1] == 0xC5 && second == 0xBF {
		return 3
	}
	return 0
}
