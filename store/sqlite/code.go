package sqlite

import (
	"errors"

	"modernc.org/sqlite"
)

// Result codes of SQLite (https://sqlite.org/rescode.html); the higher bits say more.
const (
	codeBusy    = 5
	codeCorrupt = 11
	codeNotADB  = 26
	codeMask    = 0xff
)

func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & codeMask
	}
	return 0
}

func isBusy(err error) bool { return codeOf(err) == codeBusy }

func isDamage(err error) bool { return codeOf(err) == codeCorrupt || codeOf(err) == codeNotADB }
