package engine

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// ErrStopped is returned by Feed after the records of a Ready could not be
// written. Only Restore is accepted then.
var ErrStopped = errors.New("engine: stopped: records could not be written, want Restore")

// A Config is what a machine starts with.
type Config struct {
	Policy    policy.Policy
	Targets   []budget.Target // until Prepare names others; at least one
	Catalog   catalog.Catalog
	Encodings token.Encodings
	// Offline is set by a host that replays: once the view is edited, no usage
	// belongs to it any more, so it is counted from scratch.
	Offline bool
	// Calibration, if not nil, is used for the preferred target and taught by
	// somebody else.
	Calibration *token.Calibration
	// Exactly, if not empty, is the estimator whose figures are the count of every target as
	// they stand: no margin, and no usage teaches. For what compares policies.
	Exactly string
	// Modelled says that the host has a model write summaries: rules that want one act.
	Modelled bool
	// Effort is how hard models are asked to think, one of catalog.Efforts; empty: they are
	// asked nothing.
	Effort string
	// Reasoning is the budget of thinking in tokens, for display only.
	Reasoning int
	// Trace fills Ready.Traces.
	Trace bool
	// KeepOutputs stores every tool output as it comes, whether a rule acts on it or not, so
	// that each has a Ref from then on.
	KeepOutputs bool
}

// NoLimit as MaxBytes or MaxImages of a target's window says that the target has no
// such limit. 0 does not: it takes the catalogue's, if that knows one.
const NoLimit = 1 << 40

// Stats count what a machine did.
type Stats struct {
	Edits     map[edit.Kind]int
	Backstop  int // edits of the backstop
	StillOver int
	Refused   int
}
