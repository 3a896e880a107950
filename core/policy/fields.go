package policy

import (
	"encoding/json"
	"strings"
)

// A Unit says what the number in a field counts. A reader of another format
// needs it to know which numbers may be written as a fraction.
type Unit string

// The units.
const (
	UnitNone     Unit = ""         // the field holds no number
	UnitTokens   Unit = "tokens"   //
	UnitBytes    Unit = "bytes"    //
	UnitPermille Unit = "permille" // a share
	UnitCount    Unit = "count"    // messages, lines, Turns and other things
	UnitMeasured Unit = "measured" // the unit of the measure beside it; see Measure.Unit
)

// Unit returns what m counts: UnitTokens, UnitBytes or UnitCount.
func (m Measure) Unit() Unit {
	switch m {
	case MeasureBytes:
		return UnitBytes
	case MeasureMessages, MeasureGuard:
		return UnitCount
	}
	return UnitTokens
}

// UnitOf returns the unit of a field, written as in a Fault: low_water,
// rules[2].when.permille. Fields that hold no number, and unknown ones, have
// UnitNone.
func UnitOf(name string) Unit {
	var p Policy
	fields := policyFields(&p)
	for {
		head, rest, more := strings.Cut(name, ".")
		head, _, _ = strings.Cut(head, "[")
		f, ok := find(fields, head)
		switch {
		case !ok:
			return UnitNone
		case !more:
			return f.unit
		}
		name, fields = rest, f.children
	}
}

// A field is one member of an object of the JSON form.
type field struct {
	name     string
	unit     Unit
	children []field // of an object, or of each element of a list of objects
	read     func(d *decoder, at string, raw json.RawMessage)
}

func find(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func names(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
	}
	return out
}

func policyFields(p *Policy) []field {
	return []field{
		integer("version", UnitCount, &p.Version),
		text("name", &p.Name),
		text("about", &p.About),
		text("source", &p.Source),
		object("window", &p.Window, windowFields(&p.Window)),
		text("estimator", &p.Estimator),
		rules("rules", &p.Rules),
		integer("tools_permille", UnitPermille, &p.ToolsPermille),
		integer("low_water", UnitPermille, &p.LowWater),
		integer("first_batch", UnitPermille, &p.FirstBatch),
		object("minimum_gain", &p.MinimumGain, []field{
			integer("tokens", UnitTokens, &p.MinimumGain.Tokens),
			integer("permille", UnitPermille, &p.MinimumGain.Permille),
		}),
		object("minimum_summary", &p.MinimumSummary, []field{
			integer("tokens", UnitTokens, &p.MinimumSummary.Tokens),
			integer("permille", UnitPermille, &p.MinimumSummary.Permille),
			integer("most", UnitTokens, &p.MinimumSummary.Most),
		}),
		object("references", &p.References, []field{
			integer("permille", UnitPermille, &p.References.Permille),
			integer("most", UnitTokens, &p.References.Most),
		}),
		object("economy", &p.Economy, []field{
			integer("horizon", UnitCount, &p.Economy.Horizon),
			integer("write", UnitPermille, &p.Economy.Write),
			integer("read", UnitPermille, &p.Economy.Read),
		}),
		object("prompt", &p.Prompt, []field{
			text("changed", &p.Prompt.Changed),
			text("marks", &p.Prompt.Marks),
			flag("long", &p.Prompt.Long),
			flag("clients", &p.Prompt.Clients),
			flag("explicit", &p.Prompt.Explicit),
		}),
		text("order", &p.Order),
		flag("backstop", &p.Backstop),
		object("tail", &p.Tail, tailFields(&p.Tail)),
		texts("pins", &p.Pins),
		integer("pin_permille", UnitPermille, &p.PinPermille),
		object("deferral", &p.Deferral, deferralFields(&p.Deferral)),
		text("final_tool", &p.FinalTool),
		texts("tools", &p.Tools),
		templates("templates", &p.Templates),
		text("summary_prompt", &p.SummaryPrompt),
		texts("summary_directives", &p.SummaryDirectives),
		textOrNull("retain_prompt", &p.RetainPrompt),
		texts("retain_directives", &p.RetainDirectives),
		text("summary_slot", &p.SummarySlot),
		text("on_floor", &p.OnFloor),
		object("on_unknown_window", &p.OnUnknownWindow, []field{
			text("action", &p.OnUnknownWindow.Action),
			integer("value", UnitTokens, &p.OnUnknownWindow.Value),
			flag("warn", &p.OnUnknownWindow.Warn),
		}),
		text("on_summary_error", &p.OnSummaryError),
	}
}

func deferralFields(d *Deferral) []field {
	return []field{integer("permille", UnitPermille, &d.Permille), text("until", &d.Until), text("means", &d.Means)}
}

func windowFields(w *WindowRule) []field {
	return []field{
		integer("buffer", UnitTokens, &w.Buffer),
		integer("buffer_permille", UnitPermille, &w.BufferPermille),
		integer("output", UnitTokens, &w.Output),
		integer("output_permille", UnitPermille, &w.OutputPermille),
		flag("reserve_output", &w.ReserveOutput),
		texts("subtract", &w.Subtract),
	}
}

func ruleFields(r *Rule) []field {
	return []field{
		text("name", &r.Name),
		text("at", &r.At),
		object("when", &r.When, conditionFields(&r.When)),
		text("do", &r.Do),
		object("args", &r.Args, argFields(&r.Args)),
		flag("forced", &r.Forced),
	}
}

func conditionFields(c *Condition) []field {
	return []field{
		text("measure", &c.Measure),
		text("op", &c.Op),
		integer("value", UnitMeasured, &c.Value),
		integer("permille", UnitPermille, &c.Permille),
		text("of", &c.Of),
		integer("min", UnitTokens, &c.Min),
		integer("max", UnitTokens, &c.Max),
	}
}

func argFields(a *Args) []field {
	return []field{
		text("template", &a.Template),
		integer("lines", UnitCount, &a.Lines),
		integer("chars", UnitCount, &a.Chars),
		integer("line_length", UnitBytes, &a.LineLength),
		integer("bytes", UnitBytes, &a.Bytes),
		integer("permille", UnitPermille, &a.Permille),
		integer("to", UnitPermille, &a.To),
		object("keep", &a.Keep, tailFields(&a.Keep)),
		integer("min", UnitCount, &a.Min),
		integer("max_tokens", UnitTokens, &a.MaxTokens),
		flag("background", &a.Background),
		flag("model", &a.Model),
		flag("errors", &a.Errors),
		flag("retain", &a.Retain),
		text("what", &a.What),
		integer("tokens", UnitTokens, &a.Tokens),
		text("show", &a.Show),
	}
}

func tailFields(t *Tail) []field {
	return []field{text("unit", &t.Unit), integer("n", UnitCount, &t.N)}
}

func text[T ~string](name string, dst *T) field {
	return field{name: name, read: func(d *decoder, at string, raw json.RawMessage) { *dst = T(d.text(at, raw)) }}
}

// textOrNull is a text that null makes empty, whatever its default is.
func textOrNull(name string, dst *string) field {
	return field{name: name, read: func(d *decoder, at string, raw json.RawMessage) {
		if *dst = ""; kind(raw) != 'n' {
			*dst = d.text(at, raw)
		}
	}}
}

func integer(name string, unit Unit, dst *int) field {
	return field{name: name, unit: unit, read: func(d *decoder, at string, raw json.RawMessage) { *dst = d.integer(at, raw) }}
}

func flag(name string, dst *bool) field {
	return field{name: name, read: func(d *decoder, at string, raw json.RawMessage) { *dst = d.flag(at, raw) }}
}

func texts(name string, dst *[]string) field {
	return field{name: name, read: func(d *decoder, at string, raw json.RawMessage) {
		d.elements(at, raw, func(at string, raw json.RawMessage) { *dst = append(*dst, d.text(at, raw)) })
	}}
}

// object reads into dst, of which children are the members. Absent members are
// zero, whatever stood in dst.
func object[T any](name string, dst *T, children []field) field {
	return field{name: name, children: children, read: func(d *decoder, at string, raw json.RawMessage) {
		var zero T
		*dst = zero
		d.object(at, raw, children)
	}}
}

func rules(name string, dst *[]Rule) field {
	var shape Rule
	return field{name: name, children: ruleFields(&shape), read: func(d *decoder, at string, raw json.RawMessage) {
		d.elements(at, raw, func(at string, raw json.RawMessage) {
			var r Rule
			d.object(at, raw, ruleFields(&r))
			*dst = append(*dst, r)
		})
	}}
}

func templates(name string, dst *map[string]string) field {
	return field{name: name, read: func(d *decoder, at string, raw json.RawMessage) {
		d.members(at, raw, func(key string, raw json.RawMessage) {
			if *dst == nil {
				*dst = map[string]string{}
			}
			(*dst)[key] = d.text(at+"."+key, raw)
		})
	}}
}
