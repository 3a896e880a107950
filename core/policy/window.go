package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// An Optional is a number that may not be stated. The zero Optional is not; a 0 can be.
type Optional struct {
	Value int
	Set   bool
}

// Some returns a stated number.
func Some(n int) Optional { return Optional{n, true} }

// A Layer is one place that says something of a target's window: who asks, a file, the
// catalogue, a refusal. What it does not say is left to the next layer.
type Layer struct {
	Source                   string // such as "catalogue (vendor)"; shown to the user
	Capacity, Buffer, Output Optional
	// Input is the most of a prompt, whatever the capacity leaves. One of a layer whose own
	// capacity is below the one that counts is not of that window, and is left out.
	Input Optional
	// Most is a capacity above which nothing gets through, whoever states more.
	Most Optional
	// Least is what got through, whoever states less.
	Least Optional
}

// Stated returns the layer of a window as a target states it: 0 is not stated there,
// and budget.None is 0.
func Stated(source string, w budget.Window) Layer {
	stated := func(n int) Optional {
		if n == budget.None {
			return Some(0)
		}
		return Optional{n, n != 0}
	}
	return Layer{
		Source: source, Capacity: Optional{w.Capacity, w.Capacity != 0}, Input: stated(w.MaxInput),
		Buffer: stated(w.Buffer), Output: stated(w.OutputReserve),
	}
}

// Known returns the layer of what the catalogue knows of a model: its window and its
// most input.
func Known(m catalog.Model) Layer {
	return Layer{
		Source: "catalogue (" + m.Source + ")", Capacity: Optional{m.Window, m.Window > 0}, Input: Optional{m.MaxInput, m.MaxInput > 0},
	}
}

// A Figure is a number and where it came from: the source of a layer, the policy, or
// how it was derived.
type Figure struct {
	Value  int
	Source string
}

// take sets a figure that no layer before has set.
func (f *Figure) take(n Optional, source string) {
	if n.Set && f.Source == "" {
		*f = Figure{n.Value, cmp.Or(source, "stated")}
	}
}

// Figures are those of one target's window under a policy.
type Figures struct {
	Capacity, Buffer, Output Figure
	Input                    Figure // 0: the capacity is the only limit of a prompt
	Assumed                  bool   // no layer has the capacity: it is the policy's guess
}

// Window returns the window of f, without limits of bytes and images.
func (f Figures) Window() budget.Window {
	return budget.Window{Capacity: f.Capacity.Value, MaxInput: f.Input.Value, Buffer: f.Buffer.Value, OutputReserve: f.Output.Value}
}

// Scaled returns f with buffer and reserve as they are in a small window, which they
// were not stated for, and whether they changed (budget.Window.Scaled).
func (f Figures) Scaled() (Figures, bool) {
	w, yes := f.Window().Scaled()
	if yes {
		f.Buffer = Figure{w.Buffer, f.Buffer.Source + ", scaled"}
		f.Output = Figure{w.OutputReserve, f.Output.Source + ", scaled"}
	}
	return f, yes
}

// Resolve takes each figure of a target's window from the first layer that has it. Where
// none does, the capacity is what the policy assumes of an unknown window, and buffer and
// reserve are those of its window rule.
// A figure that the rule has no place for is 0, whatever a layer states. A capacity above one
// that a layer has as Most is that one, with buffer and reserve scaled if that is small:
// they were stated for another window. Capacity and input below a Least are that.
// The error is budget.ErrUnknownWindow. Whether anything is left for a prompt is not
// looked at.
func (p Policy) Resolve(layers ...Layer) (Figures, error) {
	var f Figures
	var most, least Figure
	for _, l := range slices.Concat([]Layer{p.refused()}, layers, []Layer{p.own()}) {
		f.Capacity.take(l.Capacity, l.Source)
		if !l.Capacity.Set || f.Capacity.Value <= l.Capacity.Value {
			f.Input.take(l.Input, l.Source)
		}
		f.Buffer.take(l.Buffer, l.Source)
		f.Output.take(l.Output, l.Source)
		most.take(l.Most, l.Source)
		least.take(l.Least, l.Source)
	}
	if f.Capacity.Source == "" {
		if f.Capacity, f.Assumed = p.assumed(f.Output); !f.Assumed {
			return Figures{}, budget.ErrUnknownWindow
		}
	}
	learnt := most.Source != "" && most.Value < f.Capacity.Value
	if learnt {
		f.Capacity, f.Assumed = most, false
	}
	if least.Source != "" && least.Value > f.Capacity.Value {
		f.Capacity, f.Assumed = least, false
	}
	if f.Input.Value > 0 && least.Value > f.Input.Value {
		f.Input = least
	}
	if f.Input.Value >= f.Capacity.Value && f.Input.Value > 0 {
		f.Input = Figure{} // it limits nothing
	}
	if f.Output.Source == "" {
		f.Output = p.reserve(f.Capacity.Value)
	}
	if f.Buffer.Source == "" {
		f.Buffer = p.buffer(f.Capacity.Value)
	}
	if learnt {
		f, _ = f.Scaled()
	}
	return f, nil
}

// Title names the policy and says whether it is a preset.
func (p Policy) Title() string {
	if slices.Contains(presetNames, p.Name) {
		return "preset " + p.Name
	}
	return "policy " + p.Name
}

// refused is the layer of what the window rule does not subtract.
func (p Policy) refused() Layer {
	l := Layer{Source: p.Title() + " (keeps none)"}
	l.Buffer.Set = p.Window.Buffer == 0
	l.Output.Set = !p.Window.ReserveOutput
	return l
}

// own is the layer of what the window rule states in tokens.
func (p Policy) own() Layer {
	return Layer{Source: p.Title(), Output: Optional{p.Window.Output, p.Window.Output > 0}}
}

// assumed returns what is taken for the capacity of an unknown window, if anything.
func (p Policy) assumed(output Figure) (Figure, bool) {
	switch on := p.OnUnknownWindow; on.Action {
	case WindowDefault:
		return Figure{on.Value, p.Title() + " (window not known)"}, true
	case WindowOutputMultiple:
		if output.Value > 0 && on.Value > 0 && output.Value <= mostTokens/on.Value {
			return Figure{output.Value * on.Value, fmt.Sprintf("output x %d", on.Value)}, true
		}
	}
	return Figure{}, false
}

// mostTokens is above every window that can exist.
const mostTokens = 1 << 40

// quarter is the share of a window that most documents reserve for the reply (R000-7).
const quarter = 250 // permille

// reserve returns the share of a capacity that the rule reserves for the reply.
func (p Policy) reserve(capacity int) Figure {
	permille := p.Window.OutputPermille
	f := Figure{budget.Share(capacity, permille), "window/4"}
	if permille != quarter {
		f.Source = fmt.Sprintf("%s (%d permille)", p.Title(), permille)
	}
	return f
}

// buffer returns what the rule keeps free of a capacity.
func (p Policy) buffer(capacity int) Figure {
	r := p.Window
	f := Figure{r.Buffer, p.Title()}
	if r.BufferPermille == 0 {
		return f
	}
	if most := budget.Share(capacity, r.BufferPermille); most < f.Value {
		return Figure{most, fmt.Sprintf("%s (%d permille of the window)", p.Title(), r.BufferPermille)}
	}
	return f
}
