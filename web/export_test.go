package web

import (
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// Redacted returns the copies that a page is built from with Options.Redact.
func Redacted(results []replay.Result, reports []inspect.Report) ([]replay.Result, []inspect.Report, error) {
	r, err := newRedactor()
	if err != nil {
		return nil, nil, err
	}
	return r.results(results), r.reports(reports), nil
}
