package bpe

// An Encoder is a byte-pair encoder of a vocabulary that is not embedded here. It is immutable and safe for concurrent
// use. Text that is not valid UTF-8 is its own affair.
type Encoder interface {
	// Count returns the number of tokens of s.
	Count(s string) int
	// Append appends the ids of s to dst and returns the extended slice.
	Append(dst []uint32, s string) []uint32
	// Decode returns the bytes that the ids stand for.
	Decode(ids []uint32) ([]byte, error)
}

// Outside makes an Encoding of an encoder that the caller built, such as one of a user's file (package tokenizers), so
// that it can be used wherever an embedded vocabulary can. It has no Specials: its encoder knows them.
func Outside(name string, e Encoder) *Encoding { return &Encoding{name: name, outside: e} }
