package tokenizers

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// prefix opens the id of an estimator that is a tokenizer.json.
const prefix = "hf:"

// counter is a Tokenizer as an estimator.
type counter struct {
	id string
	t  *Tokenizer
}

var _ token.Counter = counter{}

// Counter loads the file that an estimator's id names, hf:FILE, as a counter that is exact. Like all counters of
// vocabularies it adds nothing to a message or tool beside the tokens of its texts; media cost what package token takes
// for counters from outside. It fails as Load does, and for spm:FILE with an *UnsupportedError: SentencePiece models are
// not read yet.
func Counter(id string) (token.Counter, error) {
	file, ok := strings.CutPrefix(id, prefix)
	if spm, is := strings.CutPrefix(id, "spm:"); is {
		return nil, &UnsupportedError{File: spm, Path: "estimator", Got: "a SentencePiece model (spm:)", Want: "hf: and a tokenizer.json"}
	}
	if !ok || file == "" {
		return nil, fmt.Errorf("tokenizers: counter: id, want hf:FILE, got %q", id)
	}
	t, err := Load(file)
	if err != nil {
		return nil, err
	}
	return counter{id, t}, nil
}

// ID implements token.Counter.
func (c counter) ID() string { return c.id }

// Kind implements token.Counter.
func (c counter) Kind() token.Kind { return token.Exact }

// Text implements token.Counter.
func (c counter) Text(s string) int { return c.t.Count(s) }

// Message implements token.Counter.
func (c counter) Message(m llm.Message) int { return token.SizeOf(c, m).All() }

// Tools implements token.Counter. A tool that is known by its bytes alone is counted by them.
func (c counter) Tools(tools []llm.Tool) int {
	n := 0
	for _, t := range tools {
		if raw := t.Bytes(); raw != nil && t.Description == "" && t.Schema == "" {
			n += c.t.CountBytes(raw)
			continue
		}
		n += c.t.Count(t.Name) + c.t.Count(t.Description) + c.t.Count(t.Schema)
	}
	return n
}
