package main

import (
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// attach finds the sub-agents of the session in a file and adds them to its report. What
// is wrong with their files is a problem of the session; the error says that a model's
// counter could not be made.
func attach(r *inspect.Report, name string, o inspect.Options) error {
	files, err := places.Agents(name)
	if err != nil {
		r.Problems = append(r.Problems, inspect.Problem{What: err.Error()})
	}
	var agents []inspect.Report
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			r.Problems = append(r.Problems, inspect.Problem{What: err.Error()})
			continue
		}
		report, err := inspect.Session(s, o)
		if err != nil {
			return err
		}
		agents = append(agents, report)
	}
	r.Attach(agents)
	return nil
}
