// Package setting compares the settings of a request with those that its body says
// already, so that each codec changes in a body what differs, and nothing else. It does
// not know how a dialect reads or spells them: codecs hand it what they read.
package setting

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A Form names the members of a dialect for the settings whose values all dialects spell
// alike; empty for those that it does not have there.
type Form struct{ Stream, Temperature, TopP, Stop string }

// Changes returns the members that an object which says was needs to say is. What is set
// gets a value, what is not set goes. A number that is none stays as it was.
func (f Form) Changes(was, is llm.Settings) []raw.Field {
	var all []raw.Field
	if f.Stream != "" && was.Stream != is.Stream {
		value := "false"
		if is.Stream {
			value = "true"
		}
		all = append(all, raw.Field{Name: f.Stream, Value: []byte(value)})
	}
	all = number(all, f.Temperature, was.Temperature, is.Temperature)
	all = number(all, f.TopP, was.TopP, is.TopP)
	if f.Stop != "" && !slices.Equal(was.Stop, is.Stop) {
		var value []byte
		if len(is.Stop) > 0 {
			value = raw.QuoteAll(is.Stop)
		}
		all = append(all, raw.Field{Name: f.Stop, Value: value})
	}
	return all
}

func number(all []raw.Field, name, was, is string) []raw.Field {
	if name == "" || was == is || is != "" && raw.Number([]byte(is)) == "" {
		return all
	}
	return append(all, raw.Field{Name: name, Value: []byte(is)})
}

// Choice returns the member name that says is where it says was so far: none if that is
// the same, or if the dialect has no value for it.
func Choice(name string, was, is llm.Choice, value []byte) []raw.Field {
	switch {
	case was == is, is.Mode != llm.ChoiceUnset && len(value) == 0:
		return nil
	case is.Mode == llm.ChoiceUnset:
		return []raw.Field{{Name: name}}
	}
	return []raw.Field{{Name: name, Value: value}}
}
