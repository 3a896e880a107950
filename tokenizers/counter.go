package tokenizers

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// prefix opens the id of an estimator that is a tokenizer.json.
const prefix = "hf:"

// Encoding loads the file that an estimator's id names, hf:FILE. It fails as Load does; for spm:FILE with an
// *UnsupportedError, as SentencePiece models are not read yet; and for any other id with bpe.ErrUnknownEncoding. It is a
// token.Encodings that keeps nothing.
func Encoding(id string) (*bpe.Encoding, error) {
	if file, ok := strings.CutPrefix(id, "spm:"); ok {
		return nil, &UnsupportedError{File: file, Path: "estimator", Got: "a SentencePiece model (spm:)", Want: "hf: and a tokenizer.json"}
	}
	file, ok := strings.CutPrefix(id, prefix)
	if !ok || file == "" {
		return nil, fmt.Errorf("tokenizers: encoding: %w, want hf:FILE, got %q", bpe.ErrUnknownEncoding, id)
	}
	t, err := Load(file)
	if err != nil {
		return nil, err
	}
	return bpe.Outside(id, t), nil
}

// Encodings is Encoding where the embedded vocabularies, which come first, do not have the name.
func Encodings(name string) (*bpe.Encoding, error) {
	if strings.HasPrefix(name, prefix) || strings.HasPrefix(name, "spm:") {
		return Encoding(name)
	}
	return bpe.Load(name)
}

// Counter makes the counter of an estimator's id as token.NewCounter does, with hf:FILE. One of a file is exact. Like all
// counters of vocabularies it adds nothing to a message or tool beside the tokens of its texts.
func Counter(id string) (token.Counter, error) { return token.NewCounter(id, Encodings) }
