package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// sound returns a policy without faults that the cases below break.
func sound() policy.Policy {
	p := policy.Default()
	p.Name = "mine"
	p.LowWater = 400
	p.Window = policy.WindowRule{Buffer: 8192, ReserveOutput: true, OutputPermille: 250}
	p.Templates = map[string]string{
		"cap": "[cut; {ref}]", "trim": "[{ref}]", "drop": "[{n} gone: {ref}]", "summary": "[{n}: {ref}]", "final": "Stop.", "status": "{used}%",
	}
	p.Rules = []policy.Rule{
		{Name: "cut", At: policy.AtTool, Do: policy.DoCap, Args: policy.Args{Template: "cap", Bytes: 1000}},
		{Name: "batch", At: policy.AtPrepare, When: view(920), Do: policy.DoDemote},
		{Name: "must", At: policy.AtPrepare, When: view(1000), Do: policy.DoDemote, Forced: true},
	}
	return p
}

// view is a condition on the whole view as a share of the limit.
func view(permille int) policy.Condition {
	return policy.Condition{Measure: policy.MeasureView, Op: ">", Permille: permille, Of: policy.OfLimit}
}

// with returns the sound policy with another rule at its end.
func with(r policy.Rule) policy.Policy {
	p := sound()
	p.Rules = append(p.Rules, r)
	return p
}

// when returns the sound policy whose rule "batch" has another condition.
func when(c policy.Condition) policy.Policy {
	p := sound()
	p.Rules[1].When = c
	return p
}

func changed(change func(p *policy.Policy)) policy.Policy {
	p := sound()
	change(&p)
	return p
}

func TestValidateSound(t *testing.T) {
	if err := policy.Validate(sound()); err != nil {
		t.Error(err)
	}
}

func TestValidateFaults(t *testing.T) {
	trim := policy.Args{Template: "trim"}
	drop := policy.Args{Template: "drop", Permille: 500}
	for _, c := range []struct {
		name string
		p    policy.Policy
		want string // the whole fault
	}{
		{"version", changed(func(p *policy.Policy) { p.Version = 2 }), `version: unknown version, want 1, got 2`},
		{"no name", changed(func(p *policy.Policy) { p.Name = "" }), `name: no name, want 1 to 40 of the characters a-z, 0-9 and -, got ""`},
		{"name in capitals", changed(func(p *policy.Policy) { p.Name = "Mine" }), `name: no name, want 1 to 40 of the characters a-z, 0-9 and -, got "Mine"`},
		{"no estimator", changed(func(p *policy.Policy) { p.Estimator = "" }), `estimator: no estimator, want an estimator such as chars/4 or max(model,chars/4), got ""`},
		{"half a max", changed(func(p *policy.Policy) { p.Estimator = "max(model,chars/4" }), `estimator: unbalanced max(a,b), want an estimator such as chars/4 or max(model,chars/4), got "max(model,chars/4"`},
		{"tools", changed(func(p *policy.Policy) { p.ToolsPermille = 0 }), `tools_permille: out of range, want 1 to 10000, got 0`},
		{"low water", changed(func(p *policy.Policy) { p.LowWater = -1 }), `low_water: out of range, want 0 to 999, got -1`},
		{"least summary", changed(func(p *policy.Policy) { p.MinimumSummary.Tokens = -1 }), `minimum_summary.tokens: out of range, want 0 to 1000000000, got -1`},
		{"least summary's share", changed(func(p *policy.Policy) { p.MinimumSummary.Permille = 1000 }), `minimum_summary.permille: out of range, want 0 to 999, got 1000`},
		{"least summary's bound", changed(func(p *policy.Policy) { p.MinimumSummary.Most = 19 }), `minimum_summary.most: below tokens, want 0, or 20 and more, got 19`},
		{"no question", changed(func(p *policy.Policy) { p.SummaryPrompt = " \n" }), `summary_prompt: empty text, want what the summariser is told, got " \n"`},
		{"endless question", changed(func(p *policy.Policy) { p.SummaryPrompt = strings.Repeat("x", 4097) }), `summary_prompt: text too long, want at most 4096 bytes, got 4097`},
		{"question in other bytes", changed(func(p *policy.Policy) { p.RetainPrompt = "\xff" }), `retain_prompt: no text, want UTF-8, got other bytes`},
		{"blank directive", changed(func(p *policy.Policy) { p.SummaryDirectives = []string{"a", ""} }), `summary_directives[1]: empty text, want what the summariser is told, got ""`},
		{"blank retain directive", changed(func(p *policy.Policy) { p.RetainDirectives = []string{""} }), `retain_directives[0]: empty text, want what the summariser is told, got ""`},
		{"directives for nobody", changed(func(p *policy.Policy) { p.RetainPrompt, p.RetainDirectives = "", []string{"a"} }), `retain_directives: read by nobody, want retain_prompt beside it, or nothing, got 1`},
		{"gain", changed(func(p *policy.Policy) { p.MinimumGain.Permille = 1000 }), `minimum_gain.permille: out of range, want 0 to 999, got 1000`},
		{"references without a batch that writes them", changed(func(p *policy.Policy) { p.References = policy.References{Permille: 200, Most: 1000} }), `references.permille: a note that no batch writes, want order use or reference, or 0, got "arrival"`},
		{"references without a heading", changed(func(p *policy.Policy) {
			p.Order, p.References = policy.OrderReference, policy.References{Permille: 200, Most: 1000}
		}), `templates.references: no text, want the heading of the note of references, got ""`},
		{"a batch that its note takes back", changed(func(p *policy.Policy) {
			p.Order, p.LowWater, p.References = policy.OrderReference, 500, policy.References{Permille: 450, Most: 1000}
			p.Templates["references"] = "Names:"
		}), `rules[1].when.permille (rule "batch"): trigger not above the low-water mark (law 7), want more than 950, got 920`},
		{"a pin above all", changed(func(p *policy.Policy) { p.PinPermille = 1001 }), `pin_permille: out of range, want 0 to 1000, got 1001`},
		{"order", changed(func(p *policy.Policy) { p.Order = "arrivl" }), `order: unknown order, want one of arrival, use, reference, got "arrivl" (did you mean "arrival"?)`},
		{"slot", changed(func(p *policy.Policy) { p.SummarySlot = "system" }), `summary_slot: unknown slot, want one of section, user_messages, note, got "system"`},
		{"floor", changed(func(p *policy.Policy) { p.OnFloor = "ignore" }), `on_floor: unknown answer, want one of error, send, got "ignore"`},
		{"summary error", changed(func(p *policy.Policy) { p.OnSummaryError = "" }), `on_summary_error: unknown answer, want one of keep, next, fallback, got ""`},
		{"pin", changed(func(p *policy.Policy) { p.Pins = []string{"rule"} }), `pins[0]: unknown pin, want one of first_human, last_human, rules, got "rule" (did you mean "rules"?)`},
		{"pin twice", changed(func(p *policy.Policy) { p.Pins = []string{"rules", "rules"} }), `pins[1]: repeated pin, want it once, got "rules"`},
		{"tool", changed(func(p *policy.Policy) { p.Tools = []string{"read_results"} }), `tools[0]: unknown builtin tool, want one of tool_output, tool_output_cache, tool_output_cache_grep, tool_output_cache_line, read_result, compact_context, tool_search, search_context, got "read_results" (did you mean "read_result"?)`},
		{"tail unit", changed(func(p *policy.Policy) { p.Tail = policy.Tail{Unit: "steps", N: 3} }), `tail.unit: unknown unit, want one of turns, rounds, messages, got "steps"`},
		{"tail of none", changed(func(p *policy.Policy) { p.Tail = policy.Tail{Unit: "rounds"} }), `tail.n: out of range, want 1 to 1000000000, got 0`},
		{"final tool", changed(func(p *policy.Policy) { p.FinalTool = "report" }), `final_tool: read by no rule, want a rule that does final, or nothing, got "report"`},
		{"backstop", changed(func(p *policy.Policy) { p.Backstop = false }), `backstop: rules without the last resort below them, want true, or no rules (law 1), got false`},

		{"negative buffer", changed(func(p *policy.Policy) { p.Window.Buffer = -1 }), `window.buffer: out of range, want 0 to 1000000000, got -1`},
		{"reserve not made", changed(func(p *policy.Policy) { p.Window.ReserveOutput = false }), `window.reserve_output: output stated but not reserved, want true, or no output and no output_permille, got false`},
		{"two reserves", changed(func(p *policy.Policy) { p.Window.Output = 4096 }), `window.output_permille: stated beside output, want one of the two, got 250`},
		{"reserve of everything", changed(func(p *policy.Policy) { p.Window.OutputPermille = 1000 }), `window.output_permille: out of range, want 0 to 999, got 1000`},
		{"subtract", changed(func(p *policy.Policy) { p.Window.Subtract = []string{"history"} }), `window.subtract[0]: unknown component, want one of system, summary, tools, got "history"`},
		{"unknown window", changed(func(p *policy.Policy) { p.OnUnknownWindow.Action = "guess" }), `on_unknown_window.action: unknown action, want one of default, error, output_multiple, got "guess"`},
		{"default of nothing", changed(func(p *policy.Policy) { p.OnUnknownWindow.Value = 0 }), `on_unknown_window.value: out of range, want 1 to 1000000000, got 0`},
		{"error with a value", changed(func(p *policy.Policy) { p.OnUnknownWindow.Action = "error" }), `on_unknown_window.value: not read by error, want 0, got 131072`},
		{
			"multiple of a share", changed(func(p *policy.Policy) { p.OnUnknownWindow = policy.UnknownWindow{Action: "output_multiple", Value: 4} }),
			`on_unknown_window.action: no output reserve in tokens to multiply, want window.reserve_output without output_permille, got "output_multiple"`,
		},

		{"unknown placeholder", changed(func(p *policy.Policy) { p.Templates["cap"] = "{ref} {byte}" }), `templates.cap: unknown placeholder, want one of ref, source, tool, bytes, bytes,, lines, tokens, text, preview, n, used, got "byte" (did you mean "bytes"?)`},
		{"empty text", changed(func(p *policy.Policy) { p.Templates["status"] = " \n" }), `templates.status: empty text, want what the model is told, got " \n"`},
		{"long text", changed(func(p *policy.Policy) { p.Templates["status"] = strings.Repeat("x", 4097) }), `templates.status: text too long, want at most 4096 bytes, got 4097`},
		{"unused text", changed(func(p *policy.Policy) { p.Templates["summry"] = "x" }), `templates.summry: text that no rule shows, want one of cap, offload, trim, clear, drop, summary, retain, status, final, fail, skipped, dedup, references, deferred, got "summry" (did you mean "summary"?)`},

		{"moment", changed(func(p *policy.Policy) { p.Rules[1].At = "prepared" }), `rules[1].at (rule "batch"): unknown moment, want one of append, tool, prepare, usage, rejected, turn_end, got "prepared" (did you mean "prepare"?)`},
		{"nothing from where on a provider acts", provided(policy.Args{}), `rules[0].args (rule "theirs"): provider says not what to do, want permille or tokens, got none`},
		{"two sizes for a provider", provided(policy.Args{Permille: 1, Tokens: 1}), `rules[0].args (rule "theirs"): two sizes from where on a provider acts, want permille or tokens, got 1 and 1 permille`},
		{"something that no provider does", provided(policy.Args{What: "compactt", Tokens: 1}), `rules[0].args.what (rule "theirs"): unknown thing to ask for, want one of outputs, thinking, compact, got "compactt" (did you mean "compact"?)`},
		{"thinking from where on", provided(policy.Args{What: policy.ProviderThinking, Tokens: 1}), `rules[0].args (rule "theirs"): thinking is left out whatever the size of the prompt, want keep alone, got permille or tokens`},
		{"a summary down to", provided(policy.Args{What: policy.ProviderCompact, Permille: 700, To: 500}), `rules[0].args.to (rule "theirs"): not read where what is compact, want 0, got 500`},
		{"a summary of what stays", provided(policy.Args{What: policy.ProviderCompact, Permille: 700, Keep: policy.Tail{Unit: policy.TailRounds, N: 1}}), `rules[0].args.keep (rule "theirs"): not read where what is compact, want none, got 1 rounds`},
		{"action", changed(func(p *policy.Policy) { p.Rules[1].Do = "demot" }), `rules[1].do (rule "batch"): unknown action, want one of dedup, cap, offload, trim, clear, preview, demote, summarise, truncate, drop, note, final, provider, fail, got "demot" (did you mean "demote"?)`},
		{"measure", when(policy.Condition{Measure: "views", Op: ">", Value: 1}), `rules[1].when.measure (rule "batch"): unknown measure, want one of view, history, messages, outputs, output, output_bytes, guard, usage, got "views" (did you mean "view"?)`},
		{"operator", when(policy.Condition{Measure: "view", Op: "=>", Value: 1}), `rules[1].when.op (rule "batch"): unknown operator, want one of >, >=, got "=>"`},
		{"base", when(policy.Condition{Measure: "view", Op: ">", Permille: 900, Of: "window"}), `rules[1].when.of (rule "batch"): unknown base, want one of capacity, limit, got "window"`},
		{"no base", when(policy.Condition{Measure: "view", Op: ">", Permille: 900}), `rules[1].when.of (rule "batch"): unknown base, want one of capacity, limit, got ""`},
		{"over the whole", when(view(1001)), `rules[1].when.permille (rule "batch"): out of range, want 1 to 1000, got 1001`},
		{"no threshold", when(policy.Condition{Measure: "view", Op: ">"}), `rules[1].when (rule "batch"): no threshold, want value or permille, got neither`},
		{"two thresholds", when(policy.Condition{Measure: "view", Op: ">", Value: 5, Permille: 900, Of: "limit"}), `rules[1].when (rule "batch"): two thresholds, want value or permille, got 5 and 900 permille`},
		{"min above max", when(policy.Condition{Measure: "view", Op: ">", Permille: 900, Of: "limit", Min: 2, Max: 1}), `rules[1].when.min (rule "batch"): above max, want at most 1, got 2`},
		{"share of messages", when(policy.Condition{Measure: "messages", Op: ">", Permille: 900, Of: "limit"}), `rules[1].when (rule "batch"): share of a window for messages, want a value, got 900 permille of "limit"`},
		{"value with a base", when(policy.Condition{Measure: "view", Op: ">", Value: 900, Of: "limit"}), `rules[1].when (rule "batch"): share of a window for view, want a value, got 0 permille of "limit"`},
		{"verdict", when(policy.Condition{Measure: "guard", Op: ">", Value: 2}), `rules[1].when (rule "batch"): no verdict, want >= 1 (skip) or >= 2 (final), got > 2`},
		{"output before a call", when(policy.Condition{Measure: "output", Op: ">", Value: 2}), `rules[1].when.measure (rule "batch"): output has no value at prepare, want one of view, history, messages, outputs, usage, guard, got "output"`},
		{"usage of an output", changed(func(p *policy.Policy) { p.Rules[0].When = policy.Condition{Measure: "usage", Op: ">", Value: 9} }), `rules[0].when.measure (rule "cut"): usage has no value at tool, want one of view, history, messages, outputs, output, output_bytes, guard, got "usage"`},

		{"no rule name", with(policy.Rule{At: "prepare", Do: "note", Args: policy.Args{Template: "status"}}), `rules[3].name: no name, want 1 to 40 of the characters a-z, 0-9 and -, got ""`},
		{"name twice", with(policy.Rule{Name: "cut", At: "prepare", Do: "note", Args: policy.Args{Template: "status"}}), `rules[3].name (rule "cut"): repeated name, want one that no other rule has, got the name of rules[0]`},
		{"action at the wrong moment", with(policy.Rule{Name: "x", At: "prepare", Do: "cap", Args: policy.Args{Template: "cap", Bytes: 9}}), `rules[3].do (rule "x"): cap does nothing at prepare, want it at tool, got "prepare"`},
		{"argument not read", with(policy.Rule{Name: "x", At: "tool", Do: "cap", Args: policy.Args{Template: "cap", Bytes: 9, Chars: 4}}), `rules[3].args.chars (rule "x"): not read by cap, want one of template, lines, line_length, bytes, permille, show, got "chars"`},
		{"nothing to do", with(policy.Rule{Name: "x", At: "tool", Do: "cap", Args: policy.Args{Template: "cap"}}), `rules[3].args (rule "x"): cap says not what to do, want one of lines, line_length, bytes, permille, got none`},
		{"unknown form", with(policy.Rule{Name: "x", At: "tool", Do: "cap", Args: policy.Args{Template: "cap", Bytes: 9, Show: "end"}}), `rules[3].args.show (rule "x"): unknown form, want one of view, ends, got "end" (did you mean "ends"?)`},
		{"ends without a bound", with(policy.Rule{Name: "x", At: "tool", Do: "cap", Args: policy.Args{Template: "cap", LineLength: 9, Show: "ends"}}), `rules[3].args.show (rule "x"): ends of no bounded length, want bytes or permille beside it, got neither`},
		{"ends by lines", with(policy.Rule{Name: "x", At: "tool", Do: "cap", Args: policy.Args{Template: "cap", Lines: 7, Bytes: 9, Show: "ends"}}), `rules[3].args.lines (rule "x"): not read by show ends, want bytes or permille, got 7`},
		{"form of another action", with(policy.Rule{Name: "x", At: "prepare", Do: "drop", Args: policy.Args{Template: "drop", Permille: 100, Show: "ends"}}), `rules[3].args.show (rule "x"): not read by drop, want one of template, permille, keep, got "show"`},
		{"argument out of range", with(policy.Rule{Name: "x", At: "prepare", Do: "drop", Args: policy.Args{Template: "drop", Permille: 1001}}), `rules[3].args.permille (rule "x"): out of range, want 0 to 1000, got 1001`},
		{"no template", with(policy.Rule{Name: "x", At: "prepare", Do: "note"}), `rules[3].args.template (rule "x"): no text, want the name of one of the policy's templates, got ""`},
		{"missing template", with(policy.Rule{Name: "x", At: "prepare", Do: "note", Args: policy.Args{Template: "statos"}}), `rules[3].args.template (rule "x"): no such text in templates, want one of cap, drop, final, status, summary, trim, got "statos" (did you mean "status"?)`},
		{"missing retain text", with(policy.Rule{Name: "x", At: "turn_end", Do: "summarise", Args: policy.Args{Template: "summary", Retain: true}}), `rules[3].args.retain (rule "x"): no such text in templates, want one of cap, drop, final, status, summary, trim, got "retain"`},
		{"missing batch text", changed(func(p *policy.Policy) { delete(p.Templates, "trim") }), `rules[1].do (rule "batch"): no such text in templates, want one of cap, drop, final, status, summary, got "trim"`},
		{"text without a ref", changed(func(p *policy.Policy) { p.Templates["cap"] = "[cut]" }), `rules[0].args.template (rule "cut"): templates.cap does not say where the content is stored, want {ref} in it, got "[cut]"`},
		{"placeholder that is not filled", changed(func(p *policy.Policy) { p.Templates["cap"] = "{ref} {preview}" }), `rules[0].args.template (rule "cut"): templates.cap has a placeholder that cap does not fill, want one of ref, tool, bytes, bytes,, lines, tokens, text, got "{preview}"`},
		{"batch text with a place for the part", changed(func(p *policy.Policy) { p.Templates["cap"] = "{text} {ref}" }), `rules[1].do (rule "batch"): templates.cap has a placeholder that demote does not fill, want one of ref, tool, bytes, bytes,, lines, tokens, got "{text}"`},
		{"line of several lines", changed(func(p *policy.Policy) { p.Templates["trim"] = "a\n{ref}" }), `rules[1].do (rule "batch"): templates.trim has several lines, want one line, got "a {ref}"`},
		{"trimmed to several lines", changed(func(p *policy.Policy) {
			p.Templates["two"] = "a\n{ref}"
			p.Rules[1].Do, p.Rules[1].Args.Template = policy.DoTrim, "two"
		}), `rules[1].args.template (rule "batch"): templates.two has several lines, want one line, got "a {ref}"`},
		{"forced note", with(policy.Rule{Name: "x", At: "prepare", Do: "note", Forced: true, Args: policy.Args{Template: "status"}}), `rules[3].forced (rule "x"): note never waits, want false, got true`},
		{"background when rejected", with(policy.Rule{Name: "x", At: "rejected", Do: "summarise", Args: policy.Args{Template: "summary", Background: true}}), `rules[3].args.background (rule "x"): a call waits for this summary, want false, or a rule that is neither forced nor at rejected, got true`},
		{"trim without an end", with(policy.Rule{Name: "x", At: "prepare", Do: "trim", Args: trim}), `rules[3].when.measure (rule "x"): trim does not know when to stop, want one of view, history, outputs, got ""`},
		{"trim until usage falls", with(policy.Rule{Name: "x", At: "usage", When: policy.Condition{Measure: "usage", Op: ">", Value: 9}, Do: "trim", Args: trim}), `rules[3].when.measure (rule "x"): trim does not know when to stop, want one of view, history, outputs, got "usage"`},

		{"law 7", changed(func(p *policy.Policy) { p.LowWater = 920 }), `rules[1].when.permille (rule "batch"): trigger not above the low-water mark (law 7), want more than 920, got 920`},
		{"law 7 without a mark", changed(func(p *policy.Policy) { p.LowWater = 0 }), `rules[1].do (rule "batch"): a batch without a low-water mark, want low_water above 0, got 0`},
		{"forced too early", changed(func(p *policy.Policy) { p.Rules[2].When = view(900) }), `rules[2].when (rule "must"): contradicting thresholds where a rule waits, want the forced rule "must" at or above rule "batch", got it below`},
		{"forced too early, listed first", changed(func(p *policy.Policy) { p.Rules[1].Forced, p.Rules[2].Forced = true, false }), `rules[2].when (rule "must"): contradicting thresholds where a rule waits, want the forced rule "batch" at or above rule "must", got it below`},
		{"equality comes first", changed(func(p *policy.Policy) { p.Rules[2].When = view(920); p.Rules[2].When.Op = ">=" }), `rules[2].when (rule "must"): contradicting thresholds where a rule waits, want the forced rule "must" at or above rule "batch", got it below`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := faults(t, policy.Validate(c.p)); !slices.Contains(got, c.want) {
				t.Errorf("faults:\n got %s\nwant %s", strings.Join(got, "\n     "), c.want)
			}
		})
	}
	t.Run("after the end", func(t *testing.T) {
		p := sound()
		end := policy.Rule{Name: "end", At: policy.AtPrepare, When: view(950), Do: policy.DoFinal, Args: policy.Args{Template: "final"}}
		less := policy.Rule{Name: "less", At: policy.AtPrepare, When: view(900), Do: policy.DoDropTurns, Args: drop}
		p.Rules = []policy.Rule{end, less}
		want := `rules[1].do (rule "less"): acts after the final Step is forced, want it before rule "end", got "drop"`
		if got := faults(t, policy.Validate(p)); !slices.Equal(got, []string{want}) {
			t.Errorf("faults %q, want %q", got, want)
		}
		p.Rules = []policy.Rule{less, end}
		if err := policy.Validate(p); err != nil {
			t.Errorf("the other way round: %v", err)
		}
	})
}

// faults returns the lines of a *FaultsError.
func faults(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *policy.FaultsError
	if !errors.As(err, &e) {
		t.Fatalf("err = %v, want a *FaultsError", err)
	}
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return lines
}

func TestValidateReportsAllFaults(t *testing.T) {
	p := sound()
	p.Version = 3
	p.Order = "none"
	p.Window.Buffer = -5
	p.Rules[0].Do = "cut"
	p.Rules[1].When.Op = "<"
	p.Rules[2].At = "never"
	err := policy.Validate(p)
	var fields []string
	var e *policy.FaultsError
	if !errors.As(err, &e) {
		t.Fatalf("err = %v, want a *FaultsError", err)
	}
	for _, f := range e.Faults {
		fields = append(fields, f.Field)
		if !strings.Contains(err.Error(), f.String()) {
			t.Errorf("Error() leaves out %q", f)
		}
	}
	want := []string{"version", "window.buffer", "order", "rules[0].do", "rules[1].when.op", "rules[2].at"}
	if !slices.Equal(fields, want) {
		t.Errorf("fields %q, want %q", fields, want)
	}
}

// A policy that follows a document prints the document's text, even where that
// has no Ref; content that the model must be able to read back always names it.
func TestRefsInDocumentsTexts(t *testing.T) {
	p := sound()
	p.Templates["drop"] = "[{n} gone]"
	p.Rules = p.Rules[:1]
	p.Rules = append(p.Rules, policy.Rule{Name: "x", At: "rejected", Do: "drop", Args: policy.Args{Template: "drop", Permille: 500}})
	if policy.Validate(p) == nil {
		t.Error("R003-9: own text without {ref}, want a fault")
	}
	p.Source = "003"
	if err := policy.Validate(p); err != nil {
		t.Errorf("R003-9: text of a document: %v", err)
	}
	p.Templates["cap"] = "[cut]"
	if policy.Validate(p) == nil {
		t.Error("R001-5: cap without {ref}, want a fault")
	}
}

func TestEstimatorForms(t *testing.T) {
	for _, ok := range []string{"count", "model", "bytes/4+10", "runes*2/5", "tiktoken:gpt-4o", "hf:models/my tokenizer.json", "max(model,chars/4)", "max(a, max(b,c))", "max(max(a,b),c)"} {
		if err := policy.Validate(changed(func(p *policy.Policy) { p.Estimator = ok })); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "max(", "max(a)", "max(a,)", "max(,b)", "max(a,b", "max(a,b))", "a,b", "a(b", "x\ny", " ", strings.Repeat("max(", 60)} {
		if err := policy.Validate(changed(func(p *policy.Policy) { p.Estimator = bad })); err == nil {
			t.Errorf("%q: no fault", bad)
		}
	}
}

// provided returns a policy whose first rule asks a provider for something.
func provided(a policy.Args) policy.Policy {
	return changed(func(p *policy.Policy) {
		r := policy.Rule{Name: "theirs", At: policy.AtPrepare, Do: policy.DoProvider, Args: a}
		p.Rules = append([]policy.Rule{r}, p.Rules...)
	})
}

// A rule asks a provider for each thing, and for no thing two do.
func TestValidateProvider(t *testing.T) {
	p := provided(policy.Args{Permille: 500, To: 900, Keep: policy.Tail{Unit: policy.TailRounds, N: 3}})
	for name, a := range map[string]policy.Args{
		"thinking": {What: policy.ProviderThinking, Keep: policy.Tail{Unit: policy.TailTurns, N: 2}},
		"compact":  {What: policy.ProviderCompact, Tokens: 120_000},
	} {
		p.Rules = append(p.Rules, policy.Rule{Name: name, At: policy.AtPrepare, Do: policy.DoProvider, Args: a})
	}
	if err := policy.Validate(p); err != nil {
		t.Errorf("want all three, got %v", err)
	}
	p.Rules = append(p.Rules, policy.Rule{Name: "again", At: policy.AtPrepare, Do: policy.DoProvider, Args: policy.Args{What: policy.ProviderOutputs, Tokens: 9}})
	if err := policy.Validate(p); err == nil || !strings.Contains(err.Error(), `rule again asks for it, too, want one rule for each, got "outputs"`) {
		t.Errorf("want a second one refused, got %v", err)
	}
}
