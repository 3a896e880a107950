package policy

import "slices"

// An actionSpec says where an action has a meaning and what it reads.
type actionSpec struct {
	action   Action
	at       []Moment
	args     []string // that it reads
	required []string // of these at least one is set
	texts    []string // placeholders that are filled in its text
	ref      refRule
	measures []Measure // it acts until one of these holds, so that it needs one; nil: it acts once
	waits    bool      // it breaks a prefix, so that forced has a meaning
}

// A refRule says whether a text must name the Ref of what it stands for.
type refRule uint8

const (
	refNone     refRule = iota // nothing is stored
	refAlways                  // the model reads the content back by it
	refOwnWords                // the same, but some documents print texts without it (R002-11, R003-9)
)

// Moments at which the whole view may be cut down, and measures that fall when it is.
var (
	reducing = []Moment{AtPrepare, AtUsage, AtRejected, AtTurnEnd}
	falling  = []Measure{MeasureView, MeasureHistory, MeasureOutputs}
	actions  = []actionSpec{
		{
			action: DoDedup, at: []Moment{AtAppend, AtTool}, args: []string{"template", "lines", "chars"},
			required: []string{"lines"}, texts: []string{"ref", "source", "lines"}, ref: refAlways,
		}, {
			action: DoCap, at: []Moment{AtTool}, args: []string{"template", "lines", "line_length", "bytes", "permille", "show"},
			required: []string{"lines", "line_length", "bytes", "permille"},
			texts:    []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens", "text"}, ref: refAlways,
		}, {
			action: DoOffload, at: []Moment{AtTool}, args: []string{"template", "chars", "bytes", "errors"},
			texts: []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens", "preview"}, ref: refAlways,
		}, {
			action: DoTrim, at: reducing, args: []string{"template", "to", "keep"},
			texts: []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens"}, ref: refAlways,
			measures: falling, waits: true,
		}, {
			action: DoClear, at: reducing, args: []string{"template", "bytes", "permille", "keep", "errors"},
			required: []string{"permille"}, texts: []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens"},
			ref: refOwnWords, waits: true,
		}, {
			action: DoPreview, at: reducing, args: []string{"template", "permille", "bytes", "min", "keep"},
			required: []string{"permille"}, texts: []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens"}, ref: refAlways, waits: true,
		}, {
			action: DoDemote, at: reducing, args: []string{"permille", "keep"}, waits: true,
		}, {
			action: DoSummarise, at: reducing,
			args:  []string{"template", "permille", "keep", "min", "max_tokens", "background", "model", "retain"},
			texts: []string{"ref", "n"}, ref: refOwnWords, waits: true,
		}, {
			action: DoTruncate, at: reducing, args: []string{"template", "to", "keep", "min"},
			texts: []string{"ref", "n"}, ref: refOwnWords, waits: true,
			measures: append(slices.Clone(falling), MeasureMessages),
		}, {
			action: DoDropTurns, at: reducing, args: []string{"template", "permille", "keep"},
			required: []string{"permille"}, texts: []string{"ref", "n"}, ref: refOwnWords, waits: true,
		}, {
			action: DoNote, at: []Moment{AtAppend, AtPrepare, AtUsage, AtTurnEnd}, args: []string{"template", "show"},
			texts: []string{"used"},
		}, {
			action: DoFinal, at: []Moment{AtTool, AtPrepare, AtRejected}, args: []string{"template"}, texts: []string{"used"},
		}, {
			action: DoProvider, at: []Moment{AtPrepare}, args: []string{"what", "permille", "tokens", "to", "keep"},
		}, {
			action: DoFail, at: []Moment{AtTool}, args: []string{"template"}, texts: []string{"tool", "bytes", "bytes,", "lines", "tokens", "ref"},
			ref: refOwnWords,
		},
	}
)

// demoteTexts are the policy's texts that a batch shows: the form that keeps a
// part of an output (put behind that part, so that it cannot say where {text}
// goes), the form of one line, and the note of an archive.
var demoteTexts = []struct {
	name  string
	texts []string
}{
	{TemplateCap, []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens"}},
	{TemplateTrim, []string{"ref", "tool", "bytes", "bytes,", "lines", "tokens"}},
	{TemplateDrop, []string{"ref", "n"}},
}

// measuredAt says which measures have a value at a moment. The verdict of the
// guard is asked for before a call and while an output is taken in (R000-11,
// R000-13); usage stands from a call's end until the next one.
func measuredAt(at Moment) []Measure {
	common := []Measure{MeasureView, MeasureHistory, MeasureMessages, MeasureOutputs}
	switch at {
	case AtTool:
		return append(common, MeasureOutput, MeasureBytes, MeasureGuard)
	case AtPrepare:
		return append(common, MeasureUsage, MeasureGuard)
	case AtUsage, AtTurnEnd:
		return append(common, MeasureUsage)
	}
	return common
}

// isMeasure reports whether m is a measure at any moment.
func isMeasure(m Measure) bool {
	return slices.Contains(measuredAt(AtTool), m) || slices.Contains(measuredAt(AtPrepare), m)
}

// specOf returns what is known about an action.
func specOf(a Action) (actionSpec, bool) {
	for _, s := range actions {
		if s.action == a {
			return s, true
		}
	}
	return actionSpec{}, false
}

// actionNames returns all actions in their order.
func actionNames() []string {
	out := make([]string, len(actions))
	for i, s := range actions {
		out[i] = string(s.action)
	}
	return out
}

// set returns the names of the arguments that are not zero, in the order of the
// type.
func (a Args) set() []string {
	var out []string
	for _, arg := range []struct {
		name string
		set  bool
	}{
		{"template", a.Template != ""},
		{"lines", a.Lines != 0},
		{"chars", a.Chars != 0},
		{"line_length", a.LineLength != 0},
		{"bytes", a.Bytes != 0},
		{"permille", a.Permille != 0},
		{"to", a.To != 0},
		{"keep", a.Keep != Tail{}},
		{"min", a.Min != 0},
		{"max_tokens", a.MaxTokens != 0},
		{"background", a.Background},
		{"model", a.Model},
		{"errors", a.Errors},
		{"retain", a.Retain},
		{"what", a.What != ""},
		{"tokens", a.Tokens != 0},
		{"show", a.Show != ""},
	} {
		if arg.set {
			out = append(out, arg.name)
		}
	}
	return out
}

// words turns names of any string type into strings.
func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
