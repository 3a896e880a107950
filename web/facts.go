package web

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// A fact is one figure with its name.
type fact struct {
	Name, Value, Note string
}

// begun says how a session began from another one.
func begun(parent, kin string, copied bool) string {
	switch {
	case parent == "":
		return ""
	case sessionfile.Kin(kin) != sessionfile.KinFork:
		return "; a sub-agent of session " + parent
	case copied:
		return "; begins with a copy of session " + parent
	}
	return "; goes on from session " + parent
}

// acceptedFacts says that a limit that is known is too small for the session.
func acceptedFacts(a *inspect.Accepted) []fact {
	if a == nil {
		return nil
	}
	return []fact{{"Accepted", count(a.Tokens), fmt.Sprintf(
		"tokens at Step %s: the limit of %s that is known is too small for this session, a window of %s is taken", count(a.Step), count(a.Known), count(a.Window))}}
}

// moreCopied says that n more Steps are another session's.
func moreCopied(n int) string {
	if n == 0 {
		return ""
	}
	return "; " + count(n) + " more Steps are copied, in no sum"
}
