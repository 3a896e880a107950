package config

import (
	"errors"
	"fmt"
	"strings"
)

// ParseOverrides reads limits of the command line, each as name=value with a name of
// OverrideFields; they go before all that files say. The error names every fault.
func ParseOverrides(list []string, known Known) (Limits, error) {
	var l Limits
	var faults []error
	seen := map[string]bool{}
	for _, entry := range list {
		name, value, ok := strings.Cut(entry, "=")
		r := settingsReader{known: known}
		n := &node{kind: kindOfText(value), text: value}
		switch path := "override " + name; {
		case !ok:
			r.fault(n, "override %q: want name=value", entry)
		case seen[name]:
			r.fault(n, "%s: want it once, got it again", path)
		case !r.limit(&l, inOverride, path, member{name, n}):
			r.fault(n, "%s", unknownField(path, name, OverrideFields()))
		}
		seen[name] = true
		for _, p := range r.problems {
			faults = append(faults, errors.New(p.what))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Limits{}, fmt.Errorf("config: %w", err)
	}
	return l, nil
}

// kindOfText returns the kind that a value of the command line has.
func kindOfText(value string) kind {
	if integer(value) != "" {
		return number
	}
	return text
}
