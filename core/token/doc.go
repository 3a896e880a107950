// Package token counts: the tokens of texts, messages and tools by one of
// several estimators, and the size of the next prompt as learnt from what a
// provider reported. It holds no limits and decides nothing; package meter counts
// a view with it, and package budget compares the numbers with windows.
//
// # Counters
//
// A [Counter] is an estimator with a name. [NewCounter] makes one of an id:
//
//	chars/4        UTF-16 units / 4, rounded up: the length of a text in the language of the document
//	               that states it. For all but rare characters these are the characters, and where
//	               they differ they are more
//	approximate    the same
//	bytes/4        UTF-8 bytes / 4, rounded up
//	bytes/4+10     bytes / 4 rounded down, + 10 a block or prompt; a tool is name/4 + description/4 +
//	               schema/4 + 30
//	runes*2/5      (characters + 12 a message + 20 a tool or system part) x 2/5 rounded down, + 256 a media
//	pieces         word pieces in quarter tokens, no vocabulary; see below
//	tiktoken:X     exact, X being an encoding or a model
//	anthropic, claude:X             pieces by the tokenizer generation of model X, or of the newest models
//	gemini, google:gemini, google-gemini   o200k_base x 1.06
//	anthropic:X, gemini-X, google:gemini-X, google-gemini-X   the same of a model (they are prefixes)
//	max(A,B)       the larger of two, each of which may be any of these
//
// The ids hf:FILE and spm:FILE need a file and so come from outside the core.
//
// [SizeOf] measures a message. A [Size] has text and media apart, so that media are
// never counted as text.
//
// # Pieces
//
// The unit is a quarter of a token, counted in one pass:
//
//	4 a letter piece, that is [A-Z]?[a-z]+ or [A-Z]+, and 4 for each started further 6 letters
//	5 for each started 3 digits of a run
//	4 a run of other ASCII signs, and 4 for each started further 3
//	3 a newline; 2 a run of two or more other blanks; a single blank is free
//	4 a CJK, kana, hangul or full-width character; 5 any other one
//
// A byte that is not UTF-8 counts as one other character. The weights are
// fitted on recorded sessions; docs/benchmarks.md says how far they are off.
//
// # Calibration
//
// A [Calibration] predicts the next prompt from the last reported one and what
// came since, and learns the ratio of true to raw tokens from each report. Its
// constants are those of a catalog.Family. All arithmetic is in integers; shares
// are permille.
package token
