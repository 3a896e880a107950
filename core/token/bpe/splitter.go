package bpe

import "encoding/binary"

// A Splitter cuts text into the pieces of one published pattern, by hand-written code. It serves encoders of vocabularies
// that are not embedded here (package tokenizers). It is a value without state; the zero value is not usable.
type Splitter struct {
	pattern pattern
	digits  int // longest piece of numbers
}

// The patterns as tokenizer.json files have them. The first is that of gpt-oss, the second that of Llama 3, the third
// that of Qwen 2 and 3.
const (
	textO200k = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	textLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	textQwen   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// SplitterFor returns the splitter of a pattern, given as the text that a tokenizer.json has; false if there is none.
func SplitterFor(pattern string) (Splitter, bool) {
	switch pattern {
	case textO200k:
		return Splitter{patternO200k, 3}, true
	case textLlama3:
		return Splitter{patternCl100k, 3}, true
	case textQwen:
		return Splitter{patternCl100k, 1}, true
	}
	return Splitter{}, false
}

// Cut returns the end of the piece that starts at b[i], which is above i. b must be valid UTF-8, i the start of a
// character in it.
func (s Splitter) Cut(b []byte, i int) int {
	if s.pattern == patternO200k {
		return patternO200k.cut(b, i)
	}
	if s.digits == 1 {
		if class, width := classAt(b, i); class == classNumber {
			return i + width
		}
	}
	if len(b)-i >= 8 {
		switch n := patternCl100k.plain(binary.LittleEndian.Uint64(b[i:])); n {
		case 0:
		case 8:
			return patternCl100k.longWord(b, i)
		default:
			return i + n
		}
	}
	return nextLlama3(b, i)
}

// nextLlama3 is nextCl100k but for white space at the end of the text: cl100k_base takes all of it as one piece, this
// older form of the pattern only up to its last newline.
func nextLlama3(b []byte, i int) int {
	end := nextCl100k(b, i)
	if end < len(b) {
		return end
	}
	class, width := classAt(b, i)
	if class&classBlank == 0 || i+width == end {
		return end
	}
	if follow, _ := classAt(b, i+width); follow&classBlank == 0 {
		return end // a word with a blank in front
	}
	return blanks(b, i, false)
}
