package tokenizers

import "github.com/plimsoll-dev/plimsoll/core/token/bpe"

// quickSplitter returns the hand-written splitter that does what the stages do, if there is one.
func quickSplitter(stages []stage) (bpe.Splitter, bool) {
	if len(stages) != 1 {
		return bpe.Splitter{}, false
	}
	s, ok := stages[0].(split)
	if !ok || s.behavior != isolated { // whether matches or the rest are the delimiters does not matter then
		return bpe.Splitter{}, false
	}
	return bpe.SplitterFor(s.regex)
}

// cut counts or encodes a text by the quick splitter.
func (t *Tokenizer) cut(s *scratch, text string) {
	s.piece = append(s.piece[:0], text...)
	for i := 0; i < len(s.piece); {
		end := t.quick.Cut(s.piece, i)
		t.piece(s, s.piece[i:end])
		i = end
	}
}
