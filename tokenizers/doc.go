// Package tokenizers builds exact token counters of the tokenizer files that users have: today the tokenizer.json of
// byte-level BPE models (Llama 3, Qwen, DeepSeek, gpt-oss and their like), under the estimator id hf:FILE. It reads the
// file and nothing else; the core, which may not read files, gets the result handed in. It is not a general tokenizer
// library: it does not train, truncate, pad, or fill in chat templates.
//
//	t, err := tokenizers.Load("tokenizer.json") // once: it takes up to a second; 18 to 31 MB are kept
//	n := t.Count(text)                          // any number of goroutines
//	c, err := tokenizers.Counter("hf:tokenizer.json") // as a token.Counter
//
// # What is counted
//
// Count is the number of ids that the library "tokenizers" of Hugging Face gives for encode(text,
// add_special_tokens=False) without truncation and padding. So an added token that stands in the text, special or not,
// is one token: a server that fills in the chat template first and tokenizes then sees it so too. This differs from
// package bpe, which follows providers that read everything in a message as ordinary text. The post-processor of the
// file (which puts a begin-of-text token in front) is not applied: what a message costs beside its text are constants
// of the model's family, like everywhere else in Plimsoll.
//
// Text that is not valid UTF-8 is read as a JSON transport would send it: every byte outside a valid sequence counts as
// one U+FFFD.
//
// # What a file may ask for
//
//	model           BPE: vocab, merges in both forms, ignore_merges; a byte without a token (SmolLM2 has such) counts
//	                nothing. Not: dropout, prefixes and suffixes of subwords, and, where bytes have no token,
//	                byte_fallback and unk_token
//	normalizer      none, NFC, NFD, NFKC, NFKD, Sequence of these
//	pre_tokenizer   ByteLevel as the last or only one; before it Split (Regex or String, every behavior, invert), Digits;
//	                Sequence of these
//	added_tokens    all their flags
//
// Anything else is an *UnsupportedError that names it and where it stands: a count would be wrong.
//
// Patterns are written for another regular expression engine (Oniguruma). A pattern that would mean something else here
// is refused (pattern.go). Those that the models named above use are run by hand-written splitters of package bpe, all
// others by github.com/dlclark/regexp2, which knows the look-aheads that Go's regexp lacks but can be made to search for
// very long by a pattern written for that. So a search that takes longer than a second is given up, and from then on the
// Tokenizer counts every byte as a token, which is never too few (see Tokenizer.Err).
//
// Two limits are known. Character classes of patterns are those of Go's Unicode tables in what regexp2 runs, and
// normal forms those of golang.org/x/text; the original's may be newer, so that a script of the newest Unicode versions
// can be cut differently. And golang.org/x/text breaks up a character with more than 30 combining marks.
package tokenizers
