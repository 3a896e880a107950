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
	Frame          Frame // of the chat template, where it is known
}

// A Frame is what a chat template puts around the messages of a prompt beside the names of their
// roles, in tokens. With it and the model's own tokenizer a prompt of texts is counted as the
// server does it. The zero Frame is of a template that is not known.
type Frame struct {
	Message int // around each message, the system prompt among them
	Opening int // around the role behind the last one, where the reply begins
	// Joined: the server makes one message, with empty lines between, of those of one role that follow
	// each other.
	Joined bool
}

// UnknownFamily is the name of the family of models that nothing is known of.
const UnknownFamily = "unknown"
