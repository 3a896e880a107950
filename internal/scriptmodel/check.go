package scriptmodel

import (
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

// check holds the body against the rules of its dialect, which know nothing of the codecs.
// The first fault is what the provider would answer with.
func (x *exchange) check() *wire.Error {
	var faults []check.Fault
	switch x.route.action {
	case actCount:
		faults = check.CountTokens(x.route.dialect, x.body)
	case actReply:
		faults = check.Options{Model: x.route.model}.Request(x.route.dialect, x.body)
	}
	if len(faults) == 0 {
		return nil
	}
	x.call.Faults = faults
	return x.bad(faults[0].Message, faults[0].Path)
}
