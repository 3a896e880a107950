package catalog

// A Family is a group of models that share a tokenizer, with the constants that
// the size of a prompt is estimated with. The table names the sources.
type Family struct {
	Name           string // such as "unknown"; see UnknownFamily
	Estimator      string // id of the raw count E, see package token
	ReplyEstimator string // id of the count that a reported output is checked against
	Prior          int    // true tokens in 1,000 raw ones, before anything was learnt; permille
	First          int    // tokens that the first result of a Round adds beside its text
	More           int    // tokens that each further result of the same Round adds
	Message        int    // tokens that each other message adds
	Use            int    // tokens that each tool call of an unreported reply adds
	Signature      int    // raw tokens in 1,000 bytes of a signature that hides its text
	SignatureSkip  int    // bytes at the start of a signature that hide nothing
	Image          ImageRule
}

// UnknownFamily is the name of the family of models that nothing is known of.
const UnknownFamily = "unknown"

// An ImageRule says what an image costs. Its long side is first scaled down to
// LongSide pixels (0: never); then each started cell of Cell x Cell pixels costs
// Num/Den tokens, and the whole image Plus tokens more.
type ImageRule struct {
	Cell, Num, Den, Plus int
	LongSide             int
	Fallback             int // tokens of an image whose size is not known
}

// maxSide keeps the arithmetic of absurd sizes in range; no provider takes an
// image of a million pixels a side.
const maxSide = 1 << 20

// Tokens returns the tokens of an image of width x height pixels, rounded up.
// A side that is zero or negative is unknown.
func (r ImageRule) Tokens(width, height int) int {
	if width <= 0 || height <= 0 || r.Cell <= 0 || r.Den <= 0 {
		return r.Fallback
	}
	width, height = min(width, maxSide), min(height, maxSide)
	if long := max(width, height); r.LongSide > 0 && long > r.LongSide {
		width = max(1, width*r.LongSide/long)
		height = max(1, height*r.LongSide/long)
	}
	cells := started(width, r.Cell) * started(height, r.Cell)
	return started(cells*r.Num, r.Den) + r.Plus
}

// started returns how many groups of size are begun by n.
func started(n, size int) int { return (n + size - 1) / size }
