package policy

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Fault is one thing that is wrong with a policy.
type Fault struct {
	Field string // where, such as rules[2].when.permille; empty: the policy as a whole
	Rule  string // the name of the rule that the field belongs to, if any
	What  string // what is wrong
	Want  string // what would be right; may be empty
	Got   string // what is there; may be empty
	Near  string // the known word that was probably meant; may be empty
}

// String returns f as one line: field (rule): what, want X, got Y (did you mean Z?).
func (f Fault) String() string {
	var b strings.Builder
	if f.Field != "" {
		b.WriteString(f.Field)
		if f.Rule != "" {
			fmt.Fprintf(&b, " (rule %q)", f.Rule)
		}
		b.WriteString(": ")
	}
	b.WriteString(f.What)
	if f.Want != "" {
		b.WriteString(", want " + f.Want)
	}
	if f.Got != "" {
		b.WriteString(", got " + f.Got)
	}
	if f.Near != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", f.Near)
	}
	return b.String()
}

// A FaultsError holds everything that Parse or Validate found wrong, in the order
// of the fields.
type FaultsError struct {
	Faults []Fault
	op     string // "parse" or "validate"
}

// Error implements error. It names all faults.
func (e *FaultsError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return fmt.Sprintf("policy: %s: %s", e.op, strings.Join(lines, "; "))
}

// faultsError returns an error for faults, or nil if there are none.
func faultsError(op string, faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &FaultsError{Faults: faults, op: op}
}

// oneOf lists the words that are known.
func oneOf(known []string) string {
	if len(known) > 1 {
		return "one of " + strings.Join(known, ", ")
	}
	return strings.Join(known, "")
}

// Nearest returns the known word that word was most likely meant to be; see
// [token.Nearest].
func Nearest(word string, known []string) string { return token.Nearest(word, known) }
