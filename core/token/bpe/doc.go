// Package bpe is the exact byte-pair encoder of OpenAI's published vocabularies: cl100k_base, o200k_base and
// o200k_harmony. It turns text into the ids that tiktoken's encode_ordinary gives, and counts them without building
// them. It is not a general tokenizer: vocabularies that a user brings are package tokenizers, estimates and the choice
// of a counter for a model are package token.
//
//	enc, err := bpe.O200kBase()        // once; the caller keeps it
//	n := enc.Count(text)               // no allocation, linear time, any number of goroutines
//
// An Encoding is a value that the caller loads and owns: the package keeps nothing. Loading decompresses the embedded
// vocabulary and builds its tables.
//
// # Text
//
// Everything handed to an Encoding is ordinary text: characters that look like a special token ("<|endoftext|>") are
// encoded as characters. The special tokens themselves are listed by Specials; a caller that writes a chat format
// places their ids itself.
//
// Text that is not valid UTF-8 is read as a JSON transport would send it: every byte that is not part of a valid
// sequence counts as one U+FFFD. So Append(x) equals Append(y), and Decode of either gives y, where y is x with each
// such byte replaced.
//
// # How it works
//
// A hand-written splitter cuts the text into pieces exactly where the vocabulary's published regular expression does
// (split.go). The characters' classes come from an embedded table of Unicode 16.0, the version that tiktoken's regular
// expressions use, so that counts do not change with the Go release. A piece that is itself a token is one look-up. Any
// other short piece is merged as defined; a long one is encoded from left to right: take the longest token, step back to a
// shorter one while it could not stand beside its left neighbour (merge.go). That visits each position of the piece a
// bounded number of times, so that no input is quadratic; the idea is that of the bpe crate of github.com/github/rust-gems
// (MIT). Counts of short pieces are remembered in a fixed-size scratch that lives in a sync.Pool.
//
// The files under vocab/ are written by internal/genvocab; vocab/README.md names their source, licence and hashes.
package bpe

//go:generate go run ../../../internal/genvocab -out vocab
