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
	Image          ImageRules
}

// UnknownFamily is the name of the family of models that nothing is known of.
const UnknownFamily = "unknown"
