package plimsoll

import (
	"errors"
	"sync"

	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// Encodings loads each vocabulary once. The zero value is ready; it is
// safe for concurrent use.
type Encodings struct {
	// Other loads what the embedded vocabularies do not have, such as a user's
	// hf:FILE (tokenizers.Encoding); nil: nothing. It is set before the first use.
	Other token.Encodings

	mu     sync.Mutex
	loaded map[string]*bpe.Encoding
}

// ours is kept by the process for all sessions that bring no encodings of their own: a
// vocabulary takes up to 17 MB and some 50 ms, and none of them ever changes.
var ours Encodings

// Load returns the encoding called name. It is a [token.Encodings].
func (e *Encodings) Load(name string) (*bpe.Encoding, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if enc, ok := e.loaded[name]; ok {
		return enc, nil
	}
	enc, err := bpe.Load(name)
	if e.Other != nil && errors.Is(err, bpe.ErrUnknownEncoding) {
		enc, err = e.Other(name)
	}
	if err != nil {
		return nil, err
	}
	if e.loaded == nil {
		e.loaded = map[string]*bpe.Encoding{}
	}
	e.loaded[name] = enc
	return enc, nil
}
