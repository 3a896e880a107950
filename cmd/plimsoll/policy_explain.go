package main

import (
	"errors"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// explainFlags are the flags of plimsoll policy explain.
type explainFlags struct {
	window, model  string
	buffer, output int
	json           bool

	bufferSet, outputSet, windowSet bool
}

func newPolicyExplain(s streams) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use: "explain NAME|FILE", Short: "Show each threshold of a policy in tokens of a window",
		Long: `Show each threshold of a policy in tokens of a window.

  rule         the policy's own name for it; rules are looked at in this order
  at           the moment: append (a message), tool (an output), prepare (before a
               call), usage (reported by the provider), rejected (a call), turn_end
  when         what is measured, and the figure that it is compared with
  threshold    that figure as the policy states it
  does         the action
  down to      how many tokens the action leaves
  by           the estimator that drives this rule; count is the one that decides
               whether a call fits

With --json a rule that the policy calls forced is marked so: where others wait until
breaking the provider's cache pays, it acts at once.`,
		Example: `  plimsoll policy explain balanced
  plimsoll policy explain my-policy.yaml --window 128k
  plimsoll policy explain guard --model gpt-5 --json`,
		Args: wantArgs(1, 1, "policy"), ValidArgsFunction: completePolicies,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.bufferSet, f.outputSet = cmd.Flags().Changed("buffer"), cmd.Flags().Changed("output")
			f.windowSet = cmd.Flags().Changed("window")
			return runExplain(s, f, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.window, "window", "w", "200k", "capacity of the window in `tokens` (200000, 200k)")
	fl.StringVarP(&f.model, "model", "m", "", "take the capacity of this `model`'s window")
	fl.IntVar(&f.buffer, "buffer", 0, "`tokens` kept free, in place of the policy's")
	fl.IntVar(&f.output, "output", 0, "`tokens` reserved for the reply, in place of the policy's")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	return cmd
}

func runExplain(s streams, f explainFlags, name string) error {
	p, err := loadHeldPolicy(name)
	if err != nil {
		return err
	}
	w, err := f.figures(p)
	if err != nil {
		return err
	}
	if f.json {
		return fail(console.PrintJSON(s.out, newExplained(p, w)), "")
	}
	_, err = lipgloss.Fprint(s.out, explainText(p, w.Window(), console.Width(s.out)))
	return fail(err, "")
}

// capacity returns the window that the flags name.
func (f explainFlags) capacity() (policy.Layer, error) {
	var none policy.Layer
	if f.model == "" {
		spec, err := replay.ParseWindow(f.window)
		if err != nil || spec.Tokens == 0 {
			return none, usage(fmt.Errorf("policy explain: --window %q, want tokens (200000 or 200k)", f.window), "")
		}
		return policy.Layer{Source: "--window", Capacity: policy.Some(spec.Tokens)}, nil
	}
	if f.windowSet {
		return none, usage(errors.New("policy explain: --window and --model, want one of them, got both"), "--model takes the window from the catalogue")
	}
	cat, err := loadCatalog("")
	if err != nil {
		return none, err
	}
	m, _ := cat.Lookup(f.model)
	known := policy.Known(m)
	if !known.Capacity.Set {
		return none, usage(fmt.Errorf("policy explain: the window of --model %q is not known", f.model), "state it with --window")
	}
	return known, nil
}

// figures returns the window that a policy has as the flags state it.
func (f explainFlags) figures(p policy.Policy) (policy.Figures, error) {
	var none policy.Figures
	capacity, err := f.capacity()
	if err != nil {
		return none, err
	}
	switch {
	case f.buffer < 0 || f.output < 0:
		return none, usage(fmt.Errorf("policy explain: --buffer %d, --output %d, want 0 or more", f.buffer, f.output), "")
	case f.bufferSet && p.Window.Buffer == 0:
		return none, usage(fmt.Errorf("policy explain: --buffer: %s keeps no buffer", p.Name), "")
	case f.outputSet && !p.Window.ReserveOutput:
		return none, usage(fmt.Errorf("policy explain: --output: %s reserves nothing for the reply", p.Name), "")
	}
	w, err := p.Resolve(
		policy.Layer{Source: "--buffer", Buffer: policy.Optional{Value: f.buffer, Set: f.bufferSet}},
		policy.Layer{Source: "--output", Output: policy.Optional{Value: f.output, Set: f.outputSet}},
		capacity,
	)
	if err == nil {
		err = w.Window().Validate()
	}
	return w, usage(err, "choose a larger --window, or a smaller --buffer or --output")
}

// explained is what plimsoll policy explain --json prints.
type explained struct {
	Policy string          `json:"policy"`
	About  string          `json:"about"`
	Window explainedWindow `json:"window"`
	Rules  []explainedRule `json:"rules"`

	Deferral *explainedDeferral `json:"deferral,omitempty"` // missing: no tool is left out
}

// explainedDeferral says above how much tools are left out.
type explainedDeferral struct {
	Threshold int    `json:"threshold"` // tokens of all tools
	Permille  int    `json:"permille"`  // of the limit
	Until     string `json:"until"`
}

type explainedWindow struct {
	Capacity int `json:"capacity"`
	Buffer   int `json:"buffer"`
	Output   int `json:"output"`
	Input    int `json:"most_input"` // of a prompt; 0: the capacity is the only limit
	Limit    int `json:"limit"`

	Sources explainedSources `json:"sources"`
}

// explainedSources say where each figure comes from, in the words of config show.
type explainedSources struct {
	Capacity string `json:"capacity"`
	Buffer   string `json:"buffer"`
	Output   string `json:"output"`
	Input    string `json:"most_input"` // empty if there is none
}

type explainedRule struct {
	Rule      string         `json:"rule"`
	At        policy.Moment  `json:"at"`
	Measure   policy.Measure `json:"measure"` // empty: always
	Op        string         `json:"op"`
	Threshold int            `json:"threshold"`
	Unit      policy.Unit    `json:"unit"`
	Permille  int            `json:"permille"` // 0: a value, no share
	Of        policy.Base    `json:"of"`
	Min       int            `json:"min"`
	Max       int            `json:"max"`
	Do        policy.Action  `json:"do"`
	First     int            `json:"first,omitempty"` // the first time; 0: as later on
	Down      int            `json:"down"`            // 0: no such figure
	Estimator string         `json:"estimator"`
	Show      string         `json:"show,omitempty"` // what a cap keeps
	Forced    bool           `json:"forced"`
}

func newExplained(p policy.Policy, f policy.Figures) explained {
	w := f.Window()
	out := explained{p.Name, p.About, explainedWindow{
		w.Capacity, w.Buffer, w.OutputReserve, w.MaxInput, w.Limit(),
		explainedSources{f.Capacity.Source, f.Buffer.Source, f.Output.Source, f.Input.Source},
	}, []explainedRule{}, nil}
	if d := p.Deferral; d.Permille > 0 {
		out.Deferral = &explainedDeferral{d.Room(w), d.Permille, d.Until}
	}
	for _, l := range policy.Explain(p, w) {
		out.Rules = append(out.Rules, explainedRule{
			Rule: l.Rule, At: l.At, Measure: l.Measure, Op: l.Op, Threshold: l.Threshold, Unit: l.Unit, Permille: l.Permille,
			Of: l.Of, Min: l.Min, Max: l.Max, Do: l.Do, First: l.First, Down: l.Down, Estimator: l.Estimator, Show: l.Show, Forced: l.Forced,
		})
	}
	return out
}

// explainText writes the rules of a policy in the figures of a window.
func explainText(p policy.Policy, w budget.Window, width int) string {
	var b strings.Builder
	b.WriteString(console.Paint(console.NewStyles().Head, console.Safe(p.Name)) + "\n")
	for _, line := range console.Wrap(console.Safe(p.About), width) {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	sum := fmt.Sprintf("capacity %s − buffer %s − output reserve %s = limit %s",
		edit.Thousands(w.Capacity), edit.Thousands(w.Buffer), edit.Thousands(w.OutputReserve), edit.Thousands(w.Limit()))
	b.WriteString("\n" + strings.Join(console.Wrap(sum, width), "\n") + "\n")
	if w.MaxInput > 0 && w.Limit() == w.MaxInput-w.Buffer {
		fmt.Fprintf(&b, "(the provider takes prompts of at most %s, less the buffer)\n", edit.Thousands(w.MaxInput))
	}
	if parts := p.Window.Subtract; len(parts) > 0 {
		fmt.Fprintf(&b, "(%s count towards the limit)\n", strings.Join(parts, ", "))
	}
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "rule"}, {Name: "at", Spare: 3}, {Name: "when", Wrap: true}, {Name: "threshold", Wrap: true, Spare: 1}, {Name: "does"}, {Name: "down to", Right: true, Spare: 4}, {Name: "by", Spare: 2},
	}}
	for _, l := range policy.Explain(p, w) {
		t.Rows = append(t.Rows, console.Plain(console.Safe(l.Rule), string(l.At), when(l), threshold(l), does(l), down(l), console.Safe(l.Estimator)))
	}
	if len(t.Rows) == 0 {
		return b.String() + "\nno rules: nothing is ever changed\n"
	}
	return b.String() + "\n" + t.String() + deferralText(p.Deferral, w)
}

// deferralText writes above how much tools are left out.
func deferralText(d policy.Deferral, w budget.Window) string {
	if d.Permille == 0 {
		return ""
	}
	return fmt.Sprintf("\ntools above %s tokens (%s of limit):\nthose of MCP servers and of skills are left out, and\nwhat is found stays until the end of the %s\n",
		edit.Thousands(d.Room(w)), console.Percent(d.Permille), map[string]string{policy.UntilTurn: "turn", policy.UntilEnd: "session"}[d.Until])
}

// down says what an action goes down to, and what it does the first time.
func down(l policy.Line) string {
	if l.First == 0 {
		return console.Count(l.Down)
	}
	return console.Count(l.First) + ", then " + console.Count(l.Down)
}

// when writes a rule's condition.
func when(l policy.Line) string {
	if l.Measure == "" {
		return "always"
	}
	text := fmt.Sprintf("%s %s %s", l.Measure, l.Op, edit.Thousands(l.Threshold))
	if l.Unit == policy.UnitCount {
		return text
	}
	return text + " " + string(l.Unit)
}

// does writes a rule's action, with what a cap keeps where that is not the usual, or what a provider is
// asked for.
func does(l policy.Line) string {
	if l.Show == policy.ShowEnds || l.Do == policy.DoProvider && l.Show != "" {
		return string(l.Do) + ", " + l.Show
	}
	return string(l.Do)
}

// threshold writes a share and its bounds.
func threshold(l policy.Line) string {
	if l.Permille == 0 {
		return ""
	}
	text := console.Percent(l.Permille) + " of " + string(l.Of)
	switch {
	case l.Min > 0 && l.Max > 0:
		text += fmt.Sprintf(", %s to %s", edit.Thousands(l.Min), edit.Thousands(l.Max))
	case l.Min > 0:
		text += ", at least " + edit.Thousands(l.Min)
	case l.Max > 0:
		text += ", at most " + edit.Thousands(l.Max)
	}
	return text
}
